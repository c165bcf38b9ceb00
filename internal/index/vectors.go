package index

import (
	"context"
	"fmt"
	"math"

	"conclave/internal/embed"
)

// Embed gives vectors to at most batch windows of a space that have none of the
// model yet, and returns how far it is. It is called until the coverage is Done;
// what it has done is kept, whatever happens to the process, and nothing is done
// twice. With embed.None there is nothing to do.
func (x *Index) Embed(ctx context.Context, space string, e embed.Embedder, batch int) (Coverage, error) {
	if e == embed.None {
		return x.Coverage(ctx, space, e)
	}
	hashes, texts, err := x.missing(ctx, space, e, max(batch, 1))
	if err != nil || len(texts) == 0 {
		return x.coverageAfter(ctx, space, e, err)
	}
	vectors, err := e.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("index: %s gave %d vectors for %d texts", e.ID(), len(vectors), len(texts))
	}
	if err != nil {
		return x.coverageAfter(ctx, space, e, err)
	}
	err = x.change(ctx, space, func(p *putter) {
		var model int64
		if !p.get("SELECT id FROM models WHERE name = ?", []any{e.ID()}, &model) {
			model = p.exec("INSERT INTO models (name) VALUES (?)", e.ID())
		}
		p.exec("UPDATE models SET gen = gen + 1 WHERE id = ?", model)
		for i, v := range vectors {
			q, scale := pack(v)
			p.exec("INSERT OR REPLACE INTO vectors (model, hash, scale, v) VALUES (?, ?, ?, ?)", model, hashes[i], scale, q)
		}
	})
	return x.coverageAfter(ctx, space, e, err)
}

func (x *Index) coverageAfter(ctx context.Context, space string, e embed.Embedder, err error) (Coverage, error) {
	c, err2 := x.Coverage(context.WithoutCancel(ctx), space, e)
	if err == nil {
		err = err2
	}
	return c, err
}

// from joins the windows of a space with their vectors of a model, if they have
// any.
const from = ` FROM docs d JOIN chunks c ON c.doc = d.id JOIN windows w ON w.chunk = c.id
	LEFT JOIN vectors v ON v.model = (SELECT id FROM models WHERE name = ?) AND v.hash = w.hash
	WHERE d.space = (SELECT id FROM spaces WHERE name = ?)`

func (x *Index) missing(ctx context.Context, space string, e embed.Embedder, batch int) (hashes [][]byte, texts []string, err error) {
	err = x.read(ctx, func(db querier) error {
		hashes, texts = nil, nil
		return each(ctx, db, func(scan func(...any) error) error {
			var hash []byte
			var text string
			if err := scan(&hash, &text); err != nil {
				return err
			}
			hashes, texts = append(hashes, hash), append(texts, text)
			return nil
		}, "SELECT DISTINCT w.hash, w.text"+from+" AND v.hash IS NULL AND d.other <= ? LIMIT ?", e.ID(), space, !embed.English(e), batch)
	})
	return hashes, texts, err
}

// Coverage says how much of a space can be found by meaning with a model.
func (x *Index) Coverage(ctx context.Context, space string, e embed.Embedder) (Coverage, error) {
	var c Coverage
	err := x.read(ctx, func(db querier) error {
		var err error
		c, err = coverage(ctx, db, space, e)
		return err
	})
	return c, err
}

func coverage(ctx context.Context, db querier, space string, e embed.Embedder) (c Coverage, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*), count(v.hash), coalesce(sum(d.other > ? AND v.hash IS NULL), 0)"+from,
		!embed.English(e), e.ID(), space).Scan(&c.Windows, &c.Embedded, &c.Skipped)
	if e == embed.None {
		c.Skipped = c.Windows
	}
	return c, err
}

// pack rounds a vector to bytes and a scale.
func pack(v []float32) ([]byte, float64) {
	top := float32(0)
	for _, f := range v {
		top = max(top, f, -f)
	}
	q := make([]byte, len(v))
	if top == 0 {
		return q, 0
	}
	for i, f := range v {
		q[i] = byte(int8(math.Round(float64(f / top * 127))))
	}
	return q, float64(top) / 127
}
