package index

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/embed"
)

// corpus puts the documents of testdata/corpus in.
func corpus(t testing.TB, x *Index) {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.md")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		put(t, x, "job", Doc{Path: filepath.Base(f), Commit: "c0ffee", Text: string(text)})
	}
}

// slow skips what goes through the model: the race detector would look at every
// number of it.
func slow(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("without the race detector")
	}
}

// IP-14
// The model that ships finds a paraphrase that has no word in common with the
// passage and that a search by words misses, without a network.
func TestVectorSearchFindsAParaphraseThatLexicalSearchMissesOffline(t *testing.T) {
	slow(t)
	old := http.DefaultTransport
	http.DefaultTransport = nil // whoever asks a server panics
	defer func() { http.DefaultTransport = old }()

	x := open(t)
	corpus(t, x)
	if c := embedAll(t, x, "job", model()); c.Skipped != 0 {
		t.Fatalf("taken for another language: %+v", c)
	}
	for query, want := range map[string]string{
		"residents are annoyed by the sound": "People in Gartenweg have complained",
		"spoiled goods":                      "forty pallets of fish had to be thrown away",
		"alerts on a mobile device":          "to see the temperatures on her phone",
	} {
		byWords := find(t, x, "job", embed.None, Lexical, query)
		for _, h := range byWords.Hits {
			if strings.Contains(h.Text, want) {
				t.Errorf("%q is found by words: %+v", query, h)
			}
		}
		r := find(t, x, "job", model(), Hybrid, query)
		if r.Mode != Hybrid || len(r.Hits) == 0 {
			t.Fatalf("%q: %+v", query, r)
		}
		h := r.Hits[0]
		if !strings.Contains(h.Text, want) || !strings.Contains(h.Why, "meaning 0.") || h.Commit != "c0ffee" || h.Path != "interview.md" || h.FirstLine == 0 {
			t.Errorf("%q: first is %+v", query, h)
		}
	}
}

// A measure says how often the right passage was first, among the first three,
// and the mean of 1 over its rank.
type measure struct{ first, three, mrr float64 }

func measured(t *testing.T, x *Index, e embed.Embedder, mode Mode, queries [][]string) measure {
	t.Helper()
	var m measure
	for _, q := range queries {
		rank := 0
		r, err := x.Search(t.Context(), "job", e, Query{Queries: q[:1], Mode: mode, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range r.Hits {
			if h.Path == q[1] && strings.Contains(h.Text, q[2]) {
				rank = i + 1
				break
			}
		}
		n := float64(len(queries))
		if rank == 1 {
			m.first += 1 / n
		}
		if rank > 0 && rank <= 3 {
			m.three += 1 / n
		}
		if rank > 0 {
			m.mrr += 1 / (float64(rank) * n)
		}
	}
	return m
}

// Words and meaning together are better than words, and no worse than meaning
// where most queries have no word in common with their passage.
func TestQuality(t *testing.T) {
	slow(t)
	raw, err := os.ReadFile("testdata/corpus/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var queries [][]string
	for line := range strings.Lines(string(raw)) {
		queries = append(queries, strings.Split(strings.TrimSpace(line), "\t"))
	}
	x := open(t)
	corpus(t, x)
	embedAll(t, x, "job", model())
	lexical := measured(t, x, model(), Lexical, queries)
	semantic := measured(t, x, model(), Semantic, queries)
	hybrid := measured(t, x, model(), Hybrid, queries)
	t.Logf("lexical %.2f, semantic %.2f, hybrid %.2f", lexical, semantic, hybrid)
	const noise = 0.02 // less than one query
	if hybrid.first < lexical.first || hybrid.three < lexical.three || hybrid.mrr < lexical.mrr || hybrid.mrr < semantic.mrr-noise {
		t.Errorf("hybrid %.2f is worse than lexical %.2f or semantic %.2f", hybrid, lexical, semantic)
	}
	if hybrid.three < 0.7 || hybrid.mrr < 0.65 {
		t.Errorf("hybrid is as bad as %.2f", hybrid)
	}
	if m := measured(t, x, model(), Hybrid, queries[:8]); m.three < 1 {
		t.Errorf("queries that share words with their passage: %.2f", m)
	}
}
