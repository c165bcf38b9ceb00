package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"conclave/internal/embed"
)

// How much words and meaning count. Words are measured by BM25, as the square of
// the share of what a full match would get: where a passage has every word of the
// query, words decide, and one word in five that happens to be in it is no reason
// to put it before one that means the same. Meaning is measured by the cosine of
// the nearest window. Where documents use the words of the query this is about as
// good as words alone, and where they do not about as good as meaning alone.
const (
	lexicalWeight  = 0.35
	semanticWeight = 0.65
	// A passage that has no vector is taken to be as near as its words make
	// likely: one with the best words would be about this near.
	likely = 0.5
	// Below this cosine two texts have nothing to do with each other.
	unrelated = 0.15
)

// Search finds passages of a space. A model that cannot be asked is no error:
// the result is by words alone then, and says so.
func (x *Index) Search(ctx context.Context, space string, e embed.Embedder, q Query) (Result, error) {
	s := &search{ctx: ctx, x: x, e: e, limit: min(max(q.Limit, 0), maxLimit), paths: q.Paths}
	s.limit = cmp.Or(s.limit, defaultLimit)
	for _, text := range q.Queries {
		if words := terms(text); len(words) > 0 {
			s.queries, s.terms = append(s.queries, text), append(s.terms, words)
		}
	}
	if len(s.queries) == 0 {
		return Result{}, ErrNoQuery
	}
	if n := len(s.queries); n > MaxQueries {
		s.queries, s.terms = s.queries[:MaxQueries], s.terms[:MaxQueries]
		s.note("only the first %d of %d queries were used", MaxQueries, n)
	}
	err := x.read(ctx, func(db querier) error {
		s.out.Hits, s.out.Coverage = nil, Coverage{}
		var err error
		if s.view, err = x.cache.load(ctx, db, space, e); s.view != nil {
			s.out.Coverage = s.view.coverage
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	s.mode(cmp.Or(q.Mode, Hybrid)) // without holding the file: a server may take its time
	err = x.read(ctx, func(db querier) error {
		s.out.Hits = nil
		if s.view == nil {
			return nil
		}
		return s.run(db)
	})
	return s.out, err
}

// A search is one call of Search.
type search struct {
	ctx     context.Context
	x       *Index
	e       embed.Embedder
	view    *view // nil if there is no such space
	queries []string
	terms   [][]string  // of each query
	vectors [][]float32 // of each query; nil if meaning plays no part
	limit   int
	paths   []string
	allowed map[int64]bool // passages, if there are paths
	found   map[int64]*candidate
	out     Result
}

// A candidate is a passage that may be a hit.
type candidate struct {
	chunk   int64
	words   []float64 // for each query, from 0 to 1
	cos     []float32 // for each query; nil without a vector
	score   float64
	nearest float32
}

func (s *search) note(format string, args ...any) {
	s.out.Notes = append(s.out.Notes, fmt.Sprintf(format, args...))
}

// mode settles what is possible of what was asked for, and has the queries
// embedded.
func (s *search) mode(want Mode) {
	s.out.Mode = Lexical
	if want == Lexical || s.e == embed.None {
		if want == Semantic {
			s.note("there is no model for meaning; this was searched by words")
		}
		return
	}
	c := s.out.Coverage
	if embed.English(s.e) {
		if c.Skipped > 0 {
			s.note("the model knows English alone; documents in other languages were searched by words")
		}
		if otherLanguage(strings.Join(s.queries, "\n")) {
			s.note("the model knows English alone and the query is in another language; this was searched by words")
			return
		}
	}
	if c.Embedded == 0 {
		if c.Windows > c.Skipped {
			s.note("nothing can be found by meaning yet; this was searched by words")
		}
		return
	}
	if !c.Done() {
		s.note("%d percent can be found by meaning so far", int(100*c.Share()))
	}
	v, err := s.e.Embed(s.ctx, s.queries)
	if err != nil || len(v) != len(s.queries) {
		s.note("the model could not be asked; this was searched by words: %v", err)
		return
	}
	s.out.Mode, s.vectors = want, v
}

func (s *search) run(db querier) error {
	s.found, s.allowed = map[int64]*candidate{}, nil
	if len(s.paths) > 0 {
		if err := s.allow(db); err != nil {
			return err
		}
	}
	if s.out.Mode != Semantic {
		for i := range s.queries {
			if err := s.byWords(db, i); err != nil {
				return err
			}
		}
	}
	if s.vectors != nil {
		m, err := s.x.cache.matrix(s.ctx, db, s.view)
		if err != nil {
			return err
		}
		m.cosines(s.vectors, s.byMeaning)
	}
	return s.hits(db, s.best())
}

// allow notes the passages of documents under the paths.
func (s *search) allow(db querier) error {
	s.allowed = map[int64]bool{}
	return each(s.ctx, db, func(scan func(...any) error) error {
		var id int64
		var path string
		if err := scan(&id, &path); err != nil {
			return err
		}
		if slices.ContainsFunc(s.paths, func(p string) bool { return strings.HasPrefix(path, p) }) {
			s.allowed[id] = true
		}
		return nil
	}, "SELECT c.id, d.path FROM docs d JOIN chunks c ON c.doc = d.id WHERE d.space = ?", s.view.state.space)
}

func (s *search) candidate(chunk int64) *candidate {
	c, ok := s.found[chunk]
	if !ok {
		c = &candidate{chunk: chunk, words: make([]float64, len(s.queries))}
		s.found[chunk] = c
	}
	return c
}

// most is how many passages one query may bring in by its words. What comes
// later matches in the most common words alone.
const most = 500

// byWords scores passages by the words of a query. A score is a share of what a
// passage would get that has every word of the query once: one that has a single
// word of five in common with it gets little, even if no other has more.
func (s *search) byWords(db querier, i int) error {
	full, err := s.full(db, s.terms[i])
	if err != nil || full == 0 {
		return err
	}
	n := 0
	errEnough := errors.New("enough")
	err = each(s.ctx, db, func(scan func(...any) error) error {
		var id int64
		var rank float64
		if err := scan(&id, &rank); err != nil {
			return err
		}
		if s.allowed != nil && !s.allowed[id] {
			return nil
		}
		s.candidate(id).words[i] = min(1, max(0, -rank/full))
		if n++; n == most {
			return errEnough
		}
		return nil
	}, "SELECT rowid, bm25(words, 0, 1, 1) AS rank FROM words WHERE words MATCH ? ORDER BY rank, rowid", match(s.view.state.space, "head body", s.terms[i]))
	if err == errEnough {
		err = nil
	}
	return err
}

// full is what BM25 gives a passage of average length that has every word once:
// the sum of how telling each word is, by how few passages have it.
func (s *search) full(db querier, words []string) (float64, error) {
	var all float64
	if err := db.QueryRowContext(s.ctx, "SELECT count(*) FROM chunks").Scan(&all); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, w := range words {
		var having float64
		if err := db.QueryRowContext(s.ctx, "SELECT count(*) FROM words WHERE words MATCH ?", "{head body} : "+quote(w)).Scan(&having); err != nil {
			return 0, err
		}
		sum += max(1e-6, math.Log((all-having+0.5)/(having+0.5)))
	}
	return sum, nil
}

func (s *search) byMeaning(chunk int64, cos []float32) {
	if s.allowed != nil && !s.allowed[chunk] {
		return
	}
	c, ok := s.found[chunk]
	if !ok {
		if slices.Max(cos) < unrelated {
			return
		}
		c = s.candidate(chunk)
	}
	c.cos = slices.Clone(cos)
}

// best ranks the candidates by the mean over all queries.
func (s *search) best() []*candidate {
	all := make([]*candidate, 0, len(s.found))
	for _, c := range s.found {
		for i, words := range c.words {
			c.score += s.score(words, c.cos, i) / float64(len(c.words))
		}
		if c.cos != nil {
			c.nearest = slices.Max(c.cos)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.chunk, b.chunk))
	})
	return all[:min(len(all), s.limit)]
}

func (s *search) score(words float64, cos []float32, i int) float64 {
	switch {
	case s.vectors == nil:
		return words
	case cos == nil:
		return lexicalWeight*words*words + semanticWeight*likely*words
	case s.out.Mode == Semantic:
		return float64(max(cos[i], 0))
	}
	return lexicalWeight*words*words + semanticWeight*float64(max(cos[i], 0))
}
