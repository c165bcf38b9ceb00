// Package weights is the file in which the parameters of all-MiniLM-L6-v2 ship
// with the program.
//
// Matrices are kept as small integers with one scale per row, everything else as
// numbers of 32 bits; the whole is compressed. Fewer steps than a byte has make
// the compressed file smaller: [WordSteps] and [LayerSteps] are the fewest with
// which passages are found as with the original parameters. Command generate
// writes the file, package minilm reads it.
package weights

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// The shape of the model.
const (
	Layers    = 6
	Hidden    = 384
	Heads     = 12
	Inner     = 1536
	Positions = 128 // the original has 512, of which texts of our length use 128
)

// WordSteps and LayerSteps are the largest integers of the vectors of words and
// of the matrices of layers.
const (
	WordSteps  = 15
	LayerSteps = 63
)

const magic = "MINILM1\n"

// A Matrix is Rows x Cols integers, each row with its scale.
type Matrix struct {
	Rows, Cols int
	Scale      []float32
	Q          []int8
}

// A Layer is one layer of the transformer. Matrices have one row per output.
type Layer struct {
	Query, Key, Value, Out     Matrix
	QueryB, KeyB, ValueB, OutB []float32
	NormScale, NormBias        []float32 // after attention
	Up, Down                   Matrix
	UpB, DownB                 []float32
	LastScale, LastBias        []float32
}

// A File is the model.
type File struct {
	Vocab               []string
	Words               Matrix // one row per entry of Vocab
	Places              []float32
	NormScale, NormBias []float32
	Layers              [Layers]Layer
}

// Quantize makes a matrix of rows of cols numbers.
func Quantize(v []float32, cols int, steps float32) Matrix {
	m := Matrix{Rows: len(v) / cols, Cols: cols, Scale: make([]float32, len(v)/cols), Q: make([]int8, len(v))}
	for r := range m.Rows {
		row := v[r*cols : (r+1)*cols]
		top := float32(0)
		for _, x := range row {
			top = max(top, x, -x)
		}
		if top == 0 {
			continue
		}
		m.Scale[r] = top / steps
		for i, x := range row {
			m.Q[r*cols+i] = int8(math.RoundToEven(float64(x / m.Scale[r])))
		}
	}
	return m
}

// Row writes the numbers of a row into dst.
func (m *Matrix) Row(r int, dst []float32) {
	s := m.Scale[r]
	for i, q := range m.Q[r*m.Cols : (r+1)*m.Cols] {
		dst[i] = s * float32(q)
	}
}

// parts calls back with every part of f in the order of the file. The sizes
// they must have are given, since a reader does not know them yet.
func (f *File) parts(matrix func(m *Matrix, rows, cols int), vector func(v *[]float32, n int)) {
	matrix(&f.Words, len(f.Vocab), Hidden)
	vector(&f.Places, Positions*Hidden)
	vector(&f.NormScale, Hidden)
	vector(&f.NormBias, Hidden)
	for i := range f.Layers {
		l := &f.Layers[i]
		for _, m := range []*Matrix{&l.Query, &l.Key, &l.Value, &l.Out} {
			matrix(m, Hidden, Hidden)
		}
		matrix(&l.Up, Inner, Hidden)
		matrix(&l.Down, Hidden, Inner)
		for _, v := range []*[]float32{&l.QueryB, &l.KeyB, &l.ValueB, &l.OutB, &l.NormScale, &l.NormBias, &l.DownB, &l.LastScale, &l.LastBias} {
			vector(v, Hidden)
		}
		vector(&l.UpB, Inner)
	}
}

// Write writes f. The same f gives the same bytes.
func Write(w io.Writer, f *File) error {
	// Integers of a matrix do not repeat in any order: only how often each occurs
	// can be made use of.
	z, err := gzip.NewWriterLevel(w, gzip.HuffmanOnly)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(z, 1<<16)
	put := func(v any) {
		if err == nil {
			err = binary.Write(b, binary.LittleEndian, v)
		}
	}
	vocab := strings.Join(f.Vocab, "\n")
	put([]byte(magic))
	put(uint32(len(vocab)))
	put([]byte(vocab))
	f.parts(func(m *Matrix, rows, cols int) {
		if err == nil && (m.Rows != rows || m.Cols != cols || len(m.Q) != rows*cols || len(m.Scale) != rows) {
			err = fmt.Errorf("weights: a matrix is %d x %d, not %d x %d", m.Rows, m.Cols, rows, cols)
		}
		put(m.Scale)
		put(m.Q)
	}, func(v *[]float32, n int) {
		if err == nil && len(*v) != n {
			err = fmt.Errorf("weights: a vector has %d numbers, not %d", len(*v), n)
		}
		put(*v)
	})
	if err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// Read reads what Write wrote. What is left out or too much is an error.
func Read(r io.Reader) (*File, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	b := bufio.NewReaderSize(z, 1<<16)
	head := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(b, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, fmt.Errorf("weights: not a file of this kind (%v)", err)
	}
	n := binary.LittleEndian.Uint32(head[len(magic):])
	if n > 1<<20 {
		return nil, fmt.Errorf("weights: a vocabulary of %d bytes", n)
	}
	vocab := make([]byte, n)
	if _, err := io.ReadFull(b, vocab); err != nil {
		return nil, fmt.Errorf("weights: vocabulary: %w", err)
	}
	f := &File{Vocab: strings.Split(string(vocab), "\n")}
	get := func(buf []byte) {
		if err == nil {
			_, err = io.ReadFull(b, buf)
		}
	}
	floats := func(n int) []float32 {
		raw, out := make([]byte, 4*n), make([]float32, n)
		get(raw)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return out
	}
	f.parts(func(m *Matrix, rows, cols int) {
		m.Rows, m.Cols, m.Scale, m.Q = rows, cols, floats(rows), make([]int8, rows*cols)
		raw := make([]byte, rows*cols)
		get(raw)
		for i, x := range raw {
			m.Q[i] = int8(x)
		}
	}, func(v *[]float32, n int) { *v = floats(n) })
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	// The end also checks the sum of the whole.
	if n, err := io.Copy(io.Discard, b); err != nil || n != 0 {
		return nil, fmt.Errorf("weights: %d bytes too many (%v)", n, err)
	}
	return f, nil
}
