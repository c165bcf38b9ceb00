package minilm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/embed"
	"conclave/internal/embed/embedtest"
	"conclave/internal/embed/minilm/weights"
)

// shared is unpacked once for all tests.
var shared = sync.OnceValue(func() *Model { return &Model{} })

// slow skips what is arithmetic alone, in which the race detector would look at
// every number and find nothing.
func slow(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("without the race detector")
	}
}

func TestConformance(t *testing.T) {
	slow(t)
	var e embed.Embedder = shared()
	embedtest.Run(t, e)
	if !embed.English(e) {
		t.Error("it does not say that it knows English alone")
	}
}

// A reference is what ONNX Runtime and the original tokenizer give for a text,
// with the original parameters and with those that ship.
type reference struct {
	Text     string    `json:"text"`
	Pieces   []int32   `json:"pieces"`
	Original []float32 `json:"original"`
	Shipped  []float32 `json:"shipped"`
}

func references(t *testing.T) []reference {
	t.Helper()
	f, err := os.Open("testdata/reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []reference
	for s := bufio.NewScanner(f); s.Scan(); {
		var r reference
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) < 9 {
		t.Fatalf("only %d references", len(out))
	}
	return out
}

// The net computes what ONNX Runtime computes, and packing the parameters has
// changed little.
func TestVectorsAreThoseOfTheReference(t *testing.T) {
	slow(t)
	m := shared()
	for _, r := range references(t) {
		got, err := m.Embed(t.Context(), []string{r.Text})
		if err != nil {
			t.Fatal(err)
		}
		if c := embedtest.Dot(got[0], r.Shipped); c < 0.9999 {
			t.Errorf("%.40q: cosine to the same parameters elsewhere %.5f", r.Text, c)
		}
		if c := embedtest.Dot(got[0], r.Original); c < 0.985 {
			t.Errorf("%.40q: cosine to the original parameters %.5f", r.Text, c)
		}
	}
}

func TestPiecesAreThoseOfTheReference(t *testing.T) {
	slow(t)
	f, err := weights.Read(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	v := newVocab(f.Vocab)
	for _, r := range references(t) {
		if d := cmp.Diff(r.Pieces, v.pieces(r.Text)); d != "" {
			t.Errorf("%.40q (-want +got):\n%s", r.Text, d)
		}
	}
}

// Several may ask at once, also for the first time.
func TestAtOnce(t *testing.T) {
	m := &Model{}
	got := make([][][]float32, 3)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = m.Embed(t.Context(), []string{"a few words"}) })
	}
	wg.Wait()
	if d := cmp.Diff(got[0], got[1]); len(got[0]) != 1 || d != "" {
		t.Errorf("different vectors: %s", d)
	}
}

// Unpacking waits for the first text.
func TestNothingIsUnpackedBeforeItIsNeeded(t *testing.T) {
	m := &Model{}
	if m.ID() == "" || m.Dims() != 384 || !m.English() {
		t.Error("it does not know itself")
	}
	if _, err := m.Embed(t.Context(), nil); err != nil || m.net != nil {
		t.Errorf("unpacked for nothing, %v", err)
	}
	if n := testing.AllocsPerRun(10, func() { _ = (&Model{}).ID() }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestSimilarMeaningIsNear(t *testing.T) {
	slow(t)
	got, err := shared().Embed(t.Context(), []string{"The vendor may go bankrupt.", "The supplier might become insolvent.", "The cake needs more sugar."})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := embedtest.Dot(got[0], got[1]), embedtest.Dot(got[0], got[2]); near < 0.6 || far > 0.3 {
		t.Errorf("a paraphrase has %.2f, something else %.2f", near, far)
	}
}

func FuzzPieces(f *testing.F) {
	v := newVocab([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##a", "b", "##b", ".", "é"})
	for _, s := range []string{"", "ab a.b", "\xff\xc3", strings.Repeat("a", 300), strings.Repeat("\u0301", 3000), "日本\u0000語"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := v.pieces(text)
		if len(ids) < 2 || len(ids) > weights.Positions || ids[0] != v.begin || ids[len(ids)-1] != v.end {
			t.Errorf("%q: pieces %v", text, ids)
		}
	})
}
