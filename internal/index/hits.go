package index

import (
	"fmt"
	"slices"
	"strings"
)

// Marks are around words that matched. They are of no use in text.
const (
	markOpen  = "\x02"
	markClose = "\x03"
)

// hits reads what is shown of the best. One that another process has taken out
// meanwhile is left out.
func (s *search) hits(db querier, best []*candidate) error {
	if len(best) == 0 {
		return nil
	}
	ids := make([]string, len(best))
	for i, c := range best {
		ids[i] = fmt.Sprint(c.chunk)
	}
	in := "(" + strings.Join(ids, ", ") + ")"
	matched, err := s.matched(db, in)
	if err != nil {
		return err
	}
	hits := map[int64]Hit{}
	err = each(s.ctx, db, func(scan func(...any) error) error {
		var id int64
		var h Hit
		if err := scan(&id, &h.FirstLine, &h.LastLine, &h.Path, &h.Commit, &h.Kind, &h.Heading, &h.Text); err != nil {
			return err
		}
		h.Text = strings.Trim(h.Text, "\n")
		hits[id] = h
		return nil
	}, "SELECT c.id, c.first, c.last, d.path, d.version, d.kind, w.head, w.body FROM chunks c JOIN docs d ON d.id = c.doc JOIN words w ON w.rowid = c.id WHERE c.id IN "+in)
	if err != nil {
		return err
	}
	for _, c := range best {
		h, ok := hits[c.chunk]
		if !ok {
			continue
		}
		h.Score, h.Why = c.score, why(matched[c.chunk], c)
		s.out.Hits = append(s.out.Hits, h)
	}
	return nil
}

// why says what of a passage fits.
func why(words []string, c *candidate) string {
	var parts []string
	if len(words) > 0 {
		parts = append(parts, "words: "+strings.Join(words, ", "))
	}
	if c.nearest >= unrelated {
		parts = append(parts, fmt.Sprintf("meaning %.2f", c.nearest))
	}
	return strings.Join(parts, "; ")
}

// matched gives the words of passages that match any query, as they are written
// there.
func (s *search) matched(db querier, in string) (map[int64][]string, error) {
	if s.out.Mode == Semantic {
		return nil, nil
	}
	var all []string
	for _, t := range s.terms {
		all = append(all, t...)
	}
	out := map[int64][]string{}
	err := each(s.ctx, db, func(scan func(...any) error) error {
		var id int64
		var head, body string
		if err := scan(&id, &head, &body); err != nil {
			return err
		}
		out[id] = marked(head + " " + body)
		return nil
	}, fmt.Sprintf("SELECT rowid, highlight(words, 1, '%s', '%s'), highlight(words, 2, '%[1]s', '%[2]s') FROM words WHERE words MATCH ? AND rowid IN %[3]s", markOpen, markClose, in),
		match(s.view.state.space, "head body", all))
	return out, err
}

// maxWhy is how many words are named.
const maxWhy = 6

// marked are the words between marks, in lower case and each once.
func marked(text string) []string {
	var out []string
	for len(out) < maxWhy {
		_, rest, ok := strings.Cut(text, markOpen)
		if !ok {
			break
		}
		word, rest, _ := strings.Cut(rest, markClose)
		if word = strings.ToLower(word); !slices.Contains(out, word) {
			out = append(out, word)
		}
		text = rest
	}
	return out
}
