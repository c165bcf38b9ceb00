package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"conclave/internal/embed"
	"conclave/internal/embed/embedtest"
	"conclave/internal/embed/minilm"
)

// prose makes up documents of one passage each, with words as frequent as they
// are in language: a few often, most seldom.
func prose(n int) []Doc {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.2, 4, 20_000)
	docs := make([]Doc, n)
	for i := range docs {
		words := make([]string, 105)
		for j := range words {
			words[j] = fmt.Sprintf("w%dx", z.Uint64())
		}
		docs[i] = Doc{Path: fmt.Sprintf("d%d.txt", i), Text: strings.Join(words, " ")}
	}
	return docs
}

const many = 10_000

// A wide fake has vectors as long as those of the model that ships.
type wide struct{ embedtest.Fake }

func (*wide) Dims() int { return 384 }

func filled(b *testing.B) (*Index, embed.Embedder) {
	b.Helper()
	x := open(b)
	put(b, x, "job", prose(many)...)
	e := &wide{}
	for {
		c, err := x.Embed(b.Context(), "job", e, 4096)
		if err != nil {
			b.Fatal(err)
		}
		if c.Done() {
			return x, e
		}
	}
}

// A search over ten thousand passages, thirty thousand windows.
func BenchmarkSearch10k(b *testing.B) {
	x, e := filled(b)
	for _, bb := range []struct {
		name string
		mode Mode
		n    int
	}{{"lexical", Lexical, 1}, {"semantic", Semantic, 1}, {"hybrid", Hybrid, 1}, {"hybrid4", Hybrid, 4}} {
		queries := []string{"w3x w70x w900x w4001x", "w11x w450x w2000x", "w5x w9x w1500x", "w100x w101x w7000x"}[:bb.n]
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if r := find(b, x, "job", e, bb.mode, queries...); len(r.Hits) == 0 || r.Mode != bb.mode {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
	// What the first search after a change pays.
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			x.cache.last = nil
			find(b, x, "job", e, Semantic, "w3x w70x w900x w4001x")
		}
	})
}

func BenchmarkPut(b *testing.B) {
	docs := prose(1000)
	for b.Loop() {
		x := open(b)
		put(b, x, "job", docs...)
		x.Close()
	}
	b.ReportMetric(float64(b.N*len(docs))/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkPutUnchanged(b *testing.B) {
	x, docs := open(b), prose(1000)
	put(b, x, "job", docs...)
	for b.Loop() {
		put(b, x, "job", docs...)
	}
	b.ReportMetric(float64(b.N*len(docs))/b.Elapsed().Seconds(), "passages/s")
}

// Windows of real text through the model that ships.
func BenchmarkEmbed(b *testing.B) {
	e := &minilm.Model{}
	if _, err := e.Embed(b.Context(), []string{"x"}); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		x := open(b)
		corpus(b, x)
		n += embedAll(b, x, "job", e).Embedded
		x.Close()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "windows/s")
}

func BenchmarkRows10k(b *testing.B) {
	x := open(b)
	docs := prose(many)
	rows := make([]Row, many)
	for i, d := range docs {
		rows[i] = Row{Seq: uint64(i + 1), Title: d.Path, Text: d.Text}
	}
	if err := x.PutRows(b.Context(), "job", rows...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if hits, err := x.SearchRows(b.Context(), "job", "w70x w900x w4001x", 20); err != nil || len(hits) == 0 {
			b.Fatal(hits, err)
		}
	}
}
