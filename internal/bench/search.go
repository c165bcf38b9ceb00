package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/viterin/vek/vek32"

	"conclave/internal/embed"
	"conclave/internal/embed/minilm"
	"conclave/internal/index"
)

// manyPassages is how many passages are searched.
const manyPassages = 10_000

// prose makes up documents of one passage each, with words as frequent as they are
// in language: a few often, most seldom.
func prose(n int) []index.Doc {
	z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.2, 4, 20_000)
	docs := make([]index.Doc, n)
	for i := range docs {
		words := make([]string, 105)
		for j := range words {
			words[j] = fmt.Sprintf("w%dx", z.Uint64())
		}
		docs[i] = index.Doc{Path: fmt.Sprintf("d%d.txt", i), Text: strings.Join(words, " ")}
	}
	return docs
}

// looked are the words that are searched for.
const looked = "w3x w70x w900x w4001x"

// A hasty model makes up the vectors of documents, which would take minutes
// otherwise, and reads queries as the model that ships does.
type hasty struct {
	minilm.Model
	r       *rand.Rand
	made    []float32 // every vector made up, one after the other
	careful bool
}

func (*hasty) ID() string    { return "hasty" }
func (*hasty) English() bool { return false } // the words are of no language

func (h *hasty) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if h.careful {
		return h.Model.Embed(ctx, texts)
	}
	out := make([][]float32, len(texts))
	for i := range out {
		v := make([]float32, h.Dims())
		for j := range v {
			v[j] = float32(h.r.NormFloat64())
		}
		embed.Unit(v)
		out[i], h.made = v, append(h.made, v...)
	}
	return out, nil
}

// searches measures finding passages of documents: how fast they can be put in,
// and how long a search among 10,000 of them takes.
func searches(ctx context.Context, dir string) ([]row, error) {
	docs := prose(manyPassages)
	file := filepath.Join(dir, "index.db")
	x, err := index.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { x.Close() }()
	bare, err := sql.Open("sqlite", filepath.Join(dir, "bare.db"))
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	put, err := indexing(ctx, x, bare, docs)
	if err != nil {
		return nil, err
	}
	h := &hasty{r: rand.New(rand.NewPCG(3, 4))}
	if err := embedAll(ctx, x, h); err != nil {
		return nil, err
	}
	h.careful = true
	if _, err := h.Embed(ctx, []string{"unpack"}); err != nil {
		return nil, err
	}
	found, err := finding(ctx, x, bare, h)
	if err != nil {
		return nil, err
	}
	// A process that has not searched yet has to read the vectors.
	if err := x.Close(); err != nil {
		return nil, err
	}
	cold, err := median(5, func() error {
		fresh, err := index.Open(file)
		if err != nil {
			return err
		}
		return errors.Join(find(ctx, fresh, h, index.Hybrid), fresh.Close())
	})
	if err != nil {
		return nil, err
	}
	first := row{what: "the first search of a process, both", ours: short(cold), budget: "≤ 500 ms", ok: cold <= 500*time.Millisecond}
	if x, err = index.Open(filepath.Join(dir, "text.db")); err != nil {
		return nil, err
	}
	rate, err := embedding(ctx, x)
	if err != nil {
		return nil, err
	}
	return slices.Concat(put, found, []row{first}, rate), nil
}

// indexing puts all documents in, and the same texts into one bare table of words.
func indexing(ctx context.Context, x *index.Index, bare *sql.DB, docs []index.Doc) ([]row, error) {
	begin := time.Now()
	for part := range slices.Chunk(docs, 500) {
		if _, err := x.Put(ctx, "job", part...); err != nil {
			return nil, err
		}
	}
	ours := time.Since(begin)
	begin = time.Now()
	if _, err := bare.ExecContext(ctx, "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter unicode61 remove_diacritics 2')"); err != nil {
		return nil, err
	}
	for part := range slices.Chunk(docs, 500) {
		if err := insert(ctx, bare, part); err != nil {
			return nil, err
		}
	}
	floor := time.Since(begin)
	return []row{rates("passages indexed", "a bare FTS5 table", len(docs), floor, ours, 4)}, nil
}

func insert(ctx context.Context, db *sql.DB, docs []index.Doc) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, d := range docs {
		if _, err := tx.ExecContext(ctx, "INSERT INTO words (body) VALUES (?)", d.Text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// rates is a row about how many of something are done in a second.
func rates(what, floorName string, n int, floor, ours time.Duration, atMost float64) row {
	r := against(what, floorName, floor, ours, atMost)
	r.floor = fmt.Sprintf("%.0f/s (%s)", float64(n)/floor.Seconds(), floorName)
	r.ours = fmt.Sprintf("%.0f/s", float64(n)/ours.Seconds())
	return r
}

// finding compares searches with a bare query for the same words, with embedding
// the query and scanning the same vectors, and with both.
func finding(ctx context.Context, x *index.Index, bare *sql.DB, h *hasty) ([]row, error) {
	words := func() error {
		n := 0
		rows, err := bare.QueryContext(ctx, "SELECT rowid, body FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10", strings.Join(strings.Fields(looked), " OR "))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		if n == 0 {
			return errors.New("the bare query found nothing")
		}
		return rows.Err()
	}
	meaning := func() error {
		q, err := h.Embed(ctx, []string{looked})
		if err != nil {
			return err
		}
		best := float32(-1)
		for v := range slices.Chunk(h.made, h.Dims()) {
			best = max(best, vek32.Dot(v, q[0]))
		}
		if best <= 0 {
			return errors.New("the scan found nothing")
		}
		return nil
	}
	scan := fmt.Sprintf("the query embedded, %d vectors scanned", len(h.made)/h.Dims())
	var out []row
	for _, m := range []struct {
		mode    index.Mode
		name    string
		floor   func() error
		floored string
	}{
		{index.Lexical, "words", words, "a bare FTS5 query"},
		{index.Semantic, "meaning", meaning, scan},
		{index.Hybrid, "both", func() error { return errors.Join(words(), meaning()) }, "both of these"},
	} {
		if err := find(ctx, x, h, m.mode); err != nil { // it reads the vectors
			return nil, err
		}
		f, o, err := byTurns(31, m.floor, func() error { return find(ctx, x, h, m.mode) })
		if err != nil {
			return nil, err
		}
		out = append(out, against("a search of 10,000 passages by "+m.name, m.floored, f, o, 3))
	}
	return out, nil
}

func find(ctx context.Context, x *index.Index, e embed.Embedder, mode index.Mode) error {
	r, err := x.Search(ctx, "job", e, index.Query{Queries: []string{looked}, Mode: mode})
	if err == nil && (len(r.Hits) == 0 || r.Mode != mode) {
		err = fmt.Errorf("a search by %s found %d passages by %s", mode, len(r.Hits), r.Mode)
	}
	return err
}

// A listener keeps what a model is given.
type listener struct {
	minilm.Model
	heard [][]string
}

func (l *listener) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	l.heard = append(l.heard, texts)
	return l.Model.Embed(ctx, texts)
}

// embedding gives vectors to real text by the model that ships. The floor is the
// model alone with the same windows.
func embedding(ctx context.Context, x *index.Index) ([]row, error) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		return nil, fmt.Errorf("run this in the folder of the module: %w", err)
	}
	if _, err := x.Put(ctx, "job", index.Doc{Path: "design.md", Text: string(text[:min(len(text), 8_000)])}); err != nil {
		return nil, err
	}
	l := &listener{}
	if _, err := l.Model.Embed(ctx, []string{"unpack"}); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := embedAll(ctx, x, l); err != nil {
		return nil, err
	}
	ours := time.Since(begin)
	n := 0
	begin = time.Now()
	for _, texts := range l.heard {
		if _, err := l.Model.Embed(ctx, texts); err != nil {
			return nil, err
		}
		n += len(texts)
	}
	return []row{rates("windows of forty words embedded", "the model alone", n, time.Since(begin), ours, 1.5)}, nil
}

func embedAll(ctx context.Context, x *index.Index, e embed.Embedder) error {
	batch := 1000
	if _, ok := e.(*listener); ok {
		batch = 64
	}
	for {
		c, err := x.Embed(ctx, "job", e, batch)
		if err != nil || c.Done() {
			return err
		}
	}
}
