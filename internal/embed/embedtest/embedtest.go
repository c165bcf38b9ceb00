// Package embedtest is what every [embed.Embedder] has to pass.
package embedtest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"conclave/internal/embed"
)

// texts are of every kind that is found in documents.
var texts = []string{
	"The invoice was paid twice.",
	"A cat sleeps on the warm windowsill.",
	"",
	"   \n\t ",
	"x",
	"naïve café — “quoted” … 42 % \U0001F600 日本語",
	"\x00\xff broken \xc3\x28",
	strings.Repeat("a long text about nothing in particular ", 200),
	strings.Repeat("x", 5000),
	"The invoice was paid twice.",
}

// Run runs the suite against an embedder.
func Run(t *testing.T, e embed.Embedder) {
	t.Run("every text has a vector of length one", func(t *testing.T) { vectors(t, e) })
	t.Run("company does not matter", func(t *testing.T) { company(t, e) })
	t.Run("nothing gives nothing", func(t *testing.T) {
		if got, err := e.Embed(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("got %d vectors, %v", len(got), err)
		}
	})
	t.Run("a cancelled context is heeded", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Embed(ctx, texts); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("several may ask at once", func(t *testing.T) { atOnce(t, e) })
	t.Run("it has a name", func(t *testing.T) {
		if e.ID() == "" {
			t.Errorf("its name is %q", e.ID())
		}
	})
}

func embedAll(t *testing.T, e embed.Embedder, texts ...string) [][]float32 {
	t.Helper()
	got, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	return got
}

func vectors(t *testing.T, e embed.Embedder) {
	got := embedAll(t, e, texts...)
	for i, v := range got {
		if len(v) != e.Dims() || len(v) == 0 {
			t.Fatalf("vector %d has %d numbers, Dims says %d", i, len(v), e.Dims())
		}
		if l := Dot(v, v); math.Abs(l-1) > 1e-3 {
			t.Errorf("vector %d has length %v", i, math.Sqrt(l))
		}
	}
	if c := Dot(got[0], got[len(got)-1]); c < 0.9999 {
		t.Errorf("the same text twice has a cosine of %v", c)
	}
}

func company(t *testing.T, e embed.Embedder) {
	together := embedAll(t, e, texts[:6]...)
	for i, text := range texts[:6] {
		if c := Dot(embedAll(t, e, text)[0], together[i]); c < 0.9999 {
			t.Errorf("text %d alone and among others has a cosine of %v", i, c)
		}
	}
}

func atOnce(t *testing.T, e embed.Embedder) {
	want := embedAll(t, e, texts[:2]...)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			got, err := e.Embed(t.Context(), texts[i%2:i%2+1])
			if err != nil || len(got) != 1 || Dot(got[0], want[i%2]) < 0.9999 {
				t.Errorf("asked at once with others: %v", err)
			}
		})
	}
	wg.Wait()
}

// Dot is the dot product of two vectors of the same length.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Fake is an embedder without a model: words that are listed together count as
// the same word, every other word is one of its own. It tells what it was asked.
type Fake struct {
	Name     string
	Synonyms [][]string // lower case
	Err      error      // what Embed answers, if anything

	mu    sync.Mutex
	asked []string
}

// ID is Name, or "fake".
func (f *Fake) ID() string {
	if f.Name == "" {
		return "fake"
	}
	return f.Name
}

// Dims is 64.
func (f *Fake) Dims() int { return 64 }

// Asked is every text that was ever given to it.
func (f *Fake) Asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

// Embed counts words in 64 drawers.
func (f *Fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	f.asked = append(f.asked, texts...)
	f.mu.Unlock()
	if f.Err != nil {
		return nil, f.Err
	}
	out := make([][]float32, 0, len(texts))
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := make([]float32, f.Dims())
		v[0] = 1e-3
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \n\t.,;:!?#", r) }) {
			v[f.drawer(w)]++
		}
		embed.Unit(v)
		out = append(out, v)
	}
	return out, nil
}

func (f *Fake) drawer(word string) int {
	for i, same := range f.Synonyms {
		for _, s := range same {
			if s == word {
				return 1 + i
			}
		}
	}
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	first := 1 + len(f.Synonyms)
	return first + int(h%uint32(f.Dims()-first))
}
