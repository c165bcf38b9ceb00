package index

import (
	"context"
	"database/sql"
	"strings"
)

// A Row is one of a numbered history.
type Row struct {
	Seq   uint64
	Title string
	Text  string
}

// maxRow is how much of the text of a row is looked at.
const maxRow = 256 << 10

// A RowHit is a row that was found.
type RowHit struct {
	Seq   uint64
	Title string
	// Preview is the text around the match, a line. Match are the places in it, as
	// pairs of bytes, that matched; none if the match is in the title.
	Preview string
	Match   [][2]int
}

// PutRows makes rows findable. One with a number that is there replaces it.
func (x *Index) PutRows(ctx context.Context, space string, rows ...Row) error {
	if len(rows) == 0 {
		return nil
	}
	return x.write(ctx, func(tx *sql.Tx) error {
		p := &putter{ctx: ctx, tx: tx}
		defer p.close()
		// The vectors of a space do not change by its rows: gen stays.
		p.enter(space)
		for _, r := range rows {
			var id int64
			if p.get("SELECT id FROM rows WHERE space = ? AND seq = ?", []any{p.space, int64(r.Seq)}, &id) {
				p.exec("DELETE FROM row_words WHERE rowid = ?", id)
			} else {
				id = p.exec("INSERT INTO rows (space, seq) VALUES (?, ?)", p.space, int64(r.Seq))
			}
			p.exec("INSERT INTO row_words (rowid, space, title, body) VALUES (?, ?, ?, ?)", id, spaceWord(p.space), plain(r.Title), plain(shorten(r.Text, maxRow)))
		}
		return p.err
	})
}

// plain is text without what the file cannot hold and without our marks.
func plain(text string) string {
	return strings.NewReplacer("\x00", " ", markOpen, " ", markClose, " ").Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

// LastRow is the highest number of a row of a space, 0 without any.
func (x *Index) LastRow(ctx context.Context, space string) (uint64, error) {
	var seq int64
	err := x.read(ctx, func(db querier) error {
		return db.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM rows WHERE space = (SELECT id FROM spaces WHERE name = ?)", space).Scan(&seq)
	})
	return uint64(seq), err
}

// SearchRows finds rows of a space by words, those that match best first. A limit
// of 0 is 10, 50 are the most.
func (x *Index) SearchRows(ctx context.Context, space, query string, limit int) ([]RowHit, error) {
	words := terms(query)
	if len(words) == 0 {
		return nil, ErrNoQuery
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	var out []RowHit
	err := x.read(ctx, func(db querier) error {
		out = nil
		var id int64
		switch err := db.QueryRowContext(ctx, "SELECT id FROM spaces WHERE name = ?", space).Scan(&id); err {
		case nil:
		case sql.ErrNoRows:
			return nil
		default:
			return err
		}
		return each(ctx, db, func(scan func(...any) error) error {
			var h RowHit
			var seq int64
			var preview string
			if err := scan(&seq, &h.Title, &preview); err != nil {
				return err
			}
			h.Seq = uint64(seq)
			h.Preview, h.Match = unmark(strings.Join(strings.Fields(preview), " "))
			out = append(out, h)
			return nil
		}, "SELECT r.seq, w.title, snippet(row_words, 2, '"+markOpen+"', '"+markClose+"', '…', 32) FROM row_words w JOIN rows r ON r.id = w.rowid"+
			" WHERE row_words MATCH ? ORDER BY bm25(row_words, 0, 2, 1), r.seq DESC LIMIT ?", match(id, "title body", words), min(limit, maxLimit))
	})
	return out, err
}

// maxPreview is how long a preview may be: a word can be as long as a row.
const maxPreview = 400

// unmark takes the marks out of text and says where they were. What is long is
// cut around the first of them.
func unmark(text string) (string, [][2]int) {
	if at := strings.Index(text, markOpen); len(text) > maxPreview && at > maxPreview/2 {
		text = "…" + strings.ToValidUTF8(text[at-maxPreview/2:], "")
	}
	var b strings.Builder
	var places [][2]int
	for text != "" && b.Len() < maxPreview {
		before, rest, ok := strings.Cut(text, markOpen)
		b.WriteString(before)
		if !ok {
			break
		}
		word, rest, _ := strings.Cut(rest, markClose)
		places = append(places, [2]int{b.Len(), b.Len() + len(word)})
		b.WriteString(word)
		text = rest
	}
	out := shorten(b.String(), maxPreview)
	for len(places) > 0 && places[len(places)-1][1] > min(len(out), maxPreview) {
		places = places[:len(places)-1]
	}
	return out, places
}
