package index

import (
	"context"
	"database/sql"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"

	"conclave/internal/embed"
)

// A cache holds what searches need of the spaces that were last searched in.
type cache struct {
	mu   sync.Mutex
	last []*view // newest first
}

// keepViews is how many spaces stay in memory: the vectors of ten thousand
// passages are some ten megabytes.
const keepViews = 4

// A view is a space as one model sees it, at one moment.
type view struct {
	state    state
	coverage Coverage
	vectors  *matrix // nil until a search needs them
}

// A state is a moment of a space and of a model: when either was last written.
type state struct {
	space, gen, models int64
	model              string
}

// load gives the view of a space as it is now, and no view of a space that is
// not there.
func (c *cache) load(ctx context.Context, db querier, space string, e embed.Embedder) (*view, error) {
	now := state{model: e.ID()}
	err := db.QueryRowContext(ctx, "SELECT id, gen, coalesce((SELECT gen FROM models WHERE name = ?), -1) FROM spaces WHERE name = ?", now.model, space).Scan(&now.space, &now.gen, &now.models)
	if err == sql.ErrNoRows {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.last, func(v *view) bool { return v.state == now }); i >= 0 {
		return c.last[i], nil
	}
	v := &view{state: now}
	if v.coverage, err = coverage(ctx, db, space, e); err != nil {
		return nil, err
	}
	old := slices.DeleteFunc(c.last, func(o *view) bool { return o.state.space == now.space && o.state.model == now.model })
	c.last = append([]*view{v}, old[:min(len(old), keepViews-1)]...)
	return v, nil
}

// matrix gives the vectors of a view.
func (c *cache) matrix(ctx context.Context, db querier, v *view) (*matrix, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.vectors != nil {
		return v.vectors, nil
	}
	m, err := readMatrix(ctx, db, v.state)
	if err == nil {
		v.vectors = m
	}
	return m, err
}

// A matrix is the vectors of a space, those of one passage beside each other.
type matrix struct {
	dims  int
	chunk []int64 // whose vector it is
	scale []float32
	q     []byte
}

func readMatrix(ctx context.Context, db querier, s state) (*matrix, error) {
	x := &matrix{}
	err := each(ctx, db, func(scan func(...any) error) error {
		var chunk int64
		var scale float64
		var q sql.RawBytes
		if err := scan(&chunk, &scale, &q); err != nil {
			return err
		}
		if x.dims == 0 {
			x.dims = len(q)
		}
		if len(q) == x.dims {
			x.chunk, x.scale, x.q = append(x.chunk, chunk), append(x.scale, float32(scale)), append(x.q, q...)
		}
		return nil
	}, "SELECT w.chunk, v.scale, v.v FROM docs d JOIN chunks c ON c.doc = d.id JOIN windows w ON w.chunk = c.id"+
		" JOIN vectors v ON v.model = (SELECT id FROM models WHERE name = ?) AND v.hash = w.hash WHERE d.space = ? ORDER BY w.chunk", s.model, s.space)
	return x, err
}

// cosines calls back with every passage that has vectors and its best cosine to
// each query among its windows.
func (x *matrix) cosines(queries [][]float32, f func(chunk int64, cos []float32)) {
	if x.dims == 0 || len(queries[0]) != x.dims {
		return
	}
	wide := make([]float32, x.dims)
	best := make([]float32, len(queries))
	for i, chunk := range x.chunk {
		if i == 0 || chunk != x.chunk[i-1] {
			for k := range best {
				best[k] = -1
			}
		}
		for j, b := range x.q[i*x.dims : (i+1)*x.dims] {
			wide[j] = float32(int8(b))
		}
		for k, q := range queries {
			best[k] = max(best[k], vek32.Dot(wide, q)*x.scale[i])
		}
		if i == len(x.chunk)-1 || chunk != x.chunk[i+1] {
			f(chunk, best)
		}
	}
}
