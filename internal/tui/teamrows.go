package tui

import (
	"fmt"
	"hash/fnv"

	"conclave/internal/event"
	"conclave/internal/tui/list"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A teamRow is something on a page of a team: lines that belong together.
type teamRow struct {
	key string
	// of is what the lines depend on besides the theme, the mark and the fold.
	of    string
	lines func(width int, open bool) []string
	// ref is what it is about: a file. folds: there is more of it than is seen.
	ref   string
	folds bool
	// wide: it is unfolded unless somebody folds it.
	wide bool
	// read is all there is of it, to be read; nil if that is nothing more.
	read func() (title, body string)
}

// marks reports whether something can be done with the row.
func (r teamRow) marks() bool { return r.folds || r.ref != "" || r.read != nil }

// teamSource is a page as a list.
type teamSource struct {
	s *teamScreen
	p teamPage
}

// Len implements list.Source.
func (x teamSource) Len() int {
	switch x.p {
	case teamFeed:
		return len(x.s.shown) + len(x.s.speakers())
	case teamMail:
		return len(x.s.team.Mail)
	case teamLog:
		return len(x.s.log)
	}
	return len(x.s.rows[x.p])
}

// At implements list.Source.
func (x teamSource) At(i int) list.Item {
	return placedRow{x.s, x.s.row(x.p, i), x.s.lists[x.p].Selected() == i}
}

// row is what is at an index of a page.
func (s *teamScreen) row(p teamPage, i int) teamRow {
	switch p {
	case teamFeed:
		if n := len(s.shown); i >= n {
			return s.speechRow(s.speakers()[i-n])
		}
		return s.feedRow(s.shown[i])
	case teamMail:
		return s.mailRow(s.team.Mail[i])
	case teamLog:
		return s.logRow(s.log[i])
	}
	return s.rows[p][i]
}

// current is the row that is marked.
func (s *teamScreen) current() (teamRow, bool) {
	s.renew()
	i := s.list().Selected()
	if i < 0 || i >= (teamSource{s, s.page}).Len() {
		return teamRow{}, false
	}
	return s.row(s.page, i), true
}

// unfolded reports whether a row shows all it has.
func (s *teamScreen) unfolded(r teamRow) bool {
	if open, said := s.open[r.key]; said {
		return open
	}
	return r.wide
}

// fold unfolds the row that is marked, or folds it again.
func (s *teamScreen) fold() {
	if r, ok := s.current(); ok && r.folds {
		s.open[r.key] = !s.unfolded(r)
		s.list().Changed()
	}
}

// placedRow is a row as the list draws it: with a mark at its left if it is
// selected.
type placedRow struct {
	s *teamScreen
	teamRow
	marked bool
}

// Key implements list.Item.
func (p placedRow) Key() string { return p.key }

// Version implements list.Item.
func (p placedRow) Version() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, p.of, p.marked, p.s.unfolded(p.teamRow), p.s.m.theme.Name, p.s.m.theme.Dark)
	return h.Sum64()
}

// Lines implements list.Item.
func (p placedRow) Lines(width int) []string {
	gutter := " "
	if p.marked {
		gutter = p.s.m.theme.Accent.Render("▌")
	}
	out := p.lines(max(width-1, 1), p.s.unfolded(p.teamRow))
	lines := make([]string, len(out))
	for i, l := range out {
		lines[i] = text.Cut(gutter+l, width)
	}
	return lines
}

// renew brings the pages up to what is known now: keys may come faster than
// frames.
func (s *teamScreen) renew() {
	s.list().SetSize(s.width, s.room)
	for i, x := range s.feed.All(s.next) {
		if s.next = i + 1; s.wants(x) {
			s.shown = append(s.shown, i)
		}
	}
	said := uint64(0)
	for _, x := range s.saying {
		said += x.version
	}
	of := fmt.Sprint(s.team.Seq, s.feed.Len(), len(s.log), s.files.version, s.who, said, s.page, s.list().Selected(), s.m.theme.Name, s.m.theme.Dark, s.m.o.Now().Unix())
	if s.seen == of {
		return
	}
	s.seen = of
	s.rows[teamBoard], s.rows[teamFiles] = s.boardRows(), s.fileRows()
	for p, l := range s.lists {
		if l.Changed(); !s.moved[p] && teamPage(p) != teamFeed && teamPage(p) != teamMail && teamPage(p) != teamLog {
			l.Top() // it is read from its beginning, the others from their end
		}
	}
}

// wants reports whether an item is about the member that is looked at.
func (s *teamScreen) wants(i view.FeedItem) bool {
	if s.who == "" || i.Agent == s.who || i.Kind == view.FeedTeam || i.Ref == string(s.who) {
		return true
	}
	for _, a := range i.To {
		if a == s.who {
			return true
		}
	}
	return false
}

// speakers are those whose words are coming.
func (s *teamScreen) speakers() []event.AgentID {
	var out []event.AgentID
	for _, x := range s.team.Members {
		if x.Turn != nil && s.team.Ended == nil && (s.who == "" || s.who == x.Agent) {
			out = append(out, x.Agent)
		}
	}
	return out
}
