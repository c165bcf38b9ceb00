package weights

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

func sample() *File {
	f := &File{Vocab: []string{"[UNK]", "a", "##b"}}
	n := 0
	next := func() float32 { n++; return float32(n%97) - 48 }
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = next()
		}
		return v
	}
	f.parts(func(m *Matrix, rows, cols int) { *m = Quantize(fill(rows*cols), cols, LayerSteps) },
		func(v *[]float32, n int) { *v = fill(n) })
	return f
}

func TestRoundTrip(t *testing.T) {
	if raceEnabled {
		t.Skip("without the race detector: ten million numbers and one goroutine")
	}
	f := sample()
	var a, b bytes.Buffer
	if err := Write(&a, f); err != nil {
		t.Fatal(err)
	}
	if err := Write(&b, f); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("writing twice gives different files, %v", err)
	}
	got, err := Read(bytes.NewReader(a.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f, got) {
		t.Error("came back changed")
	}
}

func TestDamageIsFound(t *testing.T) {
	if raceEnabled {
		t.Skip("without the race detector: ten million numbers and one goroutine")
	}
	var b bytes.Buffer
	if err := Write(&b, sample()); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, raw := range map[string][]byte{"nothing": nil, "half": whole[:len(whole)/2], "text": []byte("hello"), "a flipped bit": flipped, "a cut end": whole[:len(whole)-1]} {
		if _, err := Read(bytes.NewReader(raw)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	f := sample()
	f.Layers[3].UpB = f.Layers[3].UpB[:5]
	if err := Write(&bytes.Buffer{}, f); err == nil {
		t.Error("a vector that is too short was written")
	}
}

func TestQuantize(t *testing.T) {
	in := []float32{0, 1, -2, 0.5, 0, 0, 0, 0}
	m := Quantize(in, 4, 127)
	got := make([]float32, 4)
	for r := range 2 {
		m.Row(r, got)
		for i, x := range got {
			if math.Abs(float64(x-in[r*4+i])) > 2.0/127 {
				t.Errorf("row %d: %v became %v", r, in[r*4:r*4+4], got)
				break
			}
		}
	}
}
