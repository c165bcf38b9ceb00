package index

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/embed"
	"conclave/internal/embed/embedtest"
	"conclave/internal/embed/minilm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is the one that ships, unpacked once. What it has said it says again
// without thinking.
var model = sync.OnceValue(func() embed.Embedder { return &remembering{said: map[string][]float32{}} })

type remembering struct {
	minilm.Model
	mu   sync.Mutex
	said map[string][]float32
}

func (r *remembering) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if r.said[text] == nil {
			v, err := r.Model.Embed(ctx, []string{text})
			if err != nil {
				return nil, err
			}
			r.said[text] = v[0]
		}
		out[i] = r.said[text]
	}
	return out, nil
}

func open(t testing.TB) *Index {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "index.db"))
}

func openFile(t testing.TB, path string) *Index {
	t.Helper()
	x, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func put(t testing.TB, x *Index, space string, docs ...Doc) int {
	t.Helper()
	n, err := x.Put(t.Context(), space, docs...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func embedAll(t testing.TB, x *Index, space string, e embed.Embedder) Coverage {
	t.Helper()
	for {
		c, err := x.Embed(t.Context(), space, e, 64)
		if err != nil {
			t.Fatal(err)
		}
		if c.Done() {
			return c
		}
	}
}

func find(t testing.TB, x *Index, space string, e embed.Embedder, mode Mode, queries ...string) Result {
	t.Helper()
	r, err := x.Search(t.Context(), space, e, Query{Queries: queries, Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// places are hits as path:first-last.
func places(r Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, fmt.Sprintf("%s:%d-%d", h.Path, h.FirstLine, h.LastLine))
	}
	return strings.Join(out, " ")
}

func fake() *embedtest.Fake {
	return &embedtest.Fake{Synonyms: [][]string{{"cost", "costs", "price", "expenses"}, {"car", "vehicle", "automobile"}}}
}
