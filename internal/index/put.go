package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
)

// Put makes documents findable by their words, and by their meaning once Embed
// has been there. A document replaces the one of the same path; one that has not
// changed costs a look. It returns how many have changed.
func (x *Index) Put(ctx context.Context, space string, docs ...Doc) (changed int, err error) {
	var todo []Doc
	err = x.read(ctx, func(db querier) error {
		todo = todo[:0]
		for _, d := range docs {
			if d.Hash == "" {
				sum := sha256.Sum256([]byte(d.Text))
				d.Hash = hex.EncodeToString(sum[:])
			}
			d.Kind = kindOf(d)
			var hash, commit, kind string
			err := db.QueryRowContext(ctx, "SELECT hash, version, kind FROM docs WHERE space = (SELECT id FROM spaces WHERE name = ?) AND path = ?", space, d.Path).Scan(&hash, &commit, &kind)
			if err != nil && err != sql.ErrNoRows {
				return err
			}
			if err != nil || hash != d.Hash || commit != d.Commit || kind != string(d.Kind) {
				todo = append(todo, d)
			}
		}
		return nil
	})
	if err != nil || len(todo) == 0 {
		return 0, err
	}
	err = x.write(ctx, func(tx *sql.Tx) error {
		changed = 0
		p := &putter{ctx: ctx, tx: tx}
		defer p.close()
		p.enter(space)
		p.exec("UPDATE spaces SET gen = gen + 1 WHERE id = ?", p.space)
		for _, d := range todo {
			if p.put(d) {
				changed++
			}
		}
		return p.err
	})
	return changed, err
}

// A putter writes documents in one transaction. After an error it does nothing.
type putter struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
	space int64
	err   error
}

func (p *putter) close() {
	for _, s := range p.stmts {
		s.Close()
	}
}

func (p *putter) stmt(query string) *sql.Stmt {
	s, ok := p.stmts[query]
	if !ok && p.err == nil {
		if s, p.err = p.tx.PrepareContext(p.ctx, query); p.err == nil {
			if p.stmts == nil {
				p.stmts = map[string]*sql.Stmt{}
			}
			p.stmts[query] = s
		}
	}
	return s
}

// exec runs a statement and gives the number of the row that it has inserted.
// Statements that return it themselves, or change several rows, make the tables
// of words write what they have gathered so far: they are not for every passage.
func (p *putter) exec(query string, args ...any) (id int64) {
	s := p.stmt(query)
	if p.err != nil {
		return 0
	}
	r, err := s.ExecContext(p.ctx, args...)
	if err == nil {
		id, err = r.LastInsertId()
	}
	p.err = err
	return id
}

// get reads one row and reports whether there is one.
func (p *putter) get(query string, args []any, into ...any) bool {
	s := p.stmt(query)
	if p.err != nil {
		return false
	}
	err := s.QueryRowContext(p.ctx, args...).Scan(into...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		p.err = err
	}
	return err == nil
}

// enter makes p write into a space, which is made if it is not there.
func (p *putter) enter(space string) {
	if !p.get("SELECT id FROM spaces WHERE name = ?", []any{space}, &p.space) {
		p.space = p.exec("INSERT INTO spaces (name) VALUES (?)", space)
	}
}

// put writes a document and reports whether its content was another before.
func (p *putter) put(d Doc) bool {
	var hash, kind string
	there := p.get("SELECT hash, kind FROM docs WHERE space = ? AND path = ?", []any{p.space, d.Path}, &hash, &kind)
	if there && hash == d.Hash && kind == string(d.Kind) {
		p.exec("UPDATE docs SET version = ? WHERE space = ? AND path = ?", d.Commit, p.space, d.Path)
		return false
	}
	if there {
		p.delete(d.Path)
	}
	text := plain(d.Text)
	doc := p.exec("INSERT INTO docs (space, path, version, hash, kind, other) VALUES (?, ?, ?, ?, ?, ?)",
		p.space, d.Path, d.Commit, d.Hash, string(d.Kind), otherLanguage(text))
	for _, c := range split(d.Kind, text) {
		id := p.exec("INSERT INTO chunks (doc, first, last) VALUES (?, ?, ?)", doc, c.first, c.last)
		p.exec("INSERT INTO words (rowid, space, head, body) VALUES (?, ?, ?, ?)", id, spaceWord(p.space), c.head, c.text)
		for i, w := range c.windows {
			p.exec("INSERT INTO windows (chunk, ord, hash, text) VALUES (?, ?, ?, ?)", id, i, windowHash(w), w)
		}
	}
	return p.err == nil
}

// delete takes a document out. Vectors stay: they belong to the text, wherever it
// may turn up again.
func (p *putter) delete(path string) {
	const chunks = "(SELECT id FROM chunks WHERE doc = (SELECT id FROM docs WHERE space = ? AND path = ?))"
	p.exec("DELETE FROM windows WHERE chunk IN "+chunks, p.space, path)
	p.exec("DELETE FROM words WHERE rowid IN "+chunks, p.space, path)
	p.exec("DELETE FROM chunks WHERE doc = (SELECT id FROM docs WHERE space = ? AND path = ?)", p.space, path)
	p.exec("DELETE FROM docs WHERE space = ? AND path = ?", p.space, path)
}

// Delete takes documents out. Those that are not there are no error.
func (x *Index) Delete(ctx context.Context, space string, paths ...string) error {
	return x.change(ctx, space, func(p *putter) {
		for _, path := range paths {
			p.delete(path)
		}
	})
}

// Drop takes a space out, its documents and its rows, and the vectors that nobody
// else needs.
func (x *Index) Drop(ctx context.Context, space string) error {
	return x.change(ctx, space, func(p *putter) {
		const chunks = "(SELECT c.id FROM chunks c JOIN docs d ON d.id = c.doc WHERE d.space = ?)"
		p.exec("DELETE FROM windows WHERE chunk IN "+chunks, p.space)
		p.exec("DELETE FROM words WHERE rowid IN "+chunks, p.space)
		p.exec("DELETE FROM chunks WHERE doc IN (SELECT id FROM docs WHERE space = ?)", p.space)
		p.exec("DELETE FROM docs WHERE space = ?", p.space)
		p.exec("DELETE FROM row_words WHERE rowid IN (SELECT id FROM rows WHERE space = ?)", p.space)
		p.exec("DELETE FROM rows WHERE space = ?", p.space)
		p.exec("DELETE FROM spaces WHERE id = ?", p.space)
		p.exec("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM windows)")
	})
}

// change calls f for a space, if there is one of that name.
func (x *Index) change(ctx context.Context, space string, f func(*putter)) error {
	return x.write(ctx, func(tx *sql.Tx) error {
		p := &putter{ctx: ctx, tx: tx}
		defer p.close()
		if !p.get("SELECT id FROM spaces WHERE name = ?", []any{space}, &p.space) {
			return p.err
		}
		p.exec("UPDATE spaces SET gen = gen + 1 WHERE id = ?", p.space)
		f(p)
		return p.err
	})
}
