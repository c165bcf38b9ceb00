package input

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A walk is the history while the arrows go through it. What was changed on the
// way is there again on the way back, the unsent text first of all.
type walk struct {
	entries []string
	at      int // 0 is the unsent text, n is entries[n-1]
	kept    map[int]state
	fresh   bool // arrived and nothing done since: the arrows go on walking
}

// past is the history without what is there twice.
func (m *Model) past() []string {
	if m.opt.History == nil {
		return nil
	}
	seen := map[string]bool{"": true}
	var out []string
	for _, s := range m.opt.History() {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// older goes back in the history.
func (m *Model) older() Outcome {
	w := m.walk
	if w == nil {
		w = &walk{entries: m.past(), kept: map[int]state{}}
	}
	if w.at == len(w.entries) {
		if m.Empty() {
			return Unhandled{}
		}
		return nil
	}
	m.walk = w
	m.visit(w.at + 1)
	return nil
}

// newer goes forward, up to the unsent text.
func (m *Model) newer() Outcome {
	if m.walk == nil || m.walk.at == 0 {
		if m.Empty() {
			return Unhandled{}
		}
		return nil
	}
	m.visit(m.walk.at - 1)
	return nil
}

func (m *Model) visit(at int) {
	w := m.walk
	w.kept[w.at] = m.buf.state
	s, ok := w.kept[at]
	if !ok {
		s = ending(m.atoms(w.entries[at-1]))
	}
	m.buf.load(s)
	w.at, w.fresh = at, true
	m.quiet()
}

// A find is a search in the history: a line of its own to type into, and what
// matches it.
type find struct {
	query   buffer
	entries []string
	popup
}

// search begins one.
func (m *Model) search() {
	m.quiet()
	m.find = &find{entries: m.past()}
	m.find.filter()
}

// filter shows what contains every word of the query, newest first.
func (f *find) filter() {
	words := strings.Fields(strings.ToLower(plain(f.query.atoms)))
	var items []item
	for _, e := range f.entries {
		low := strings.ToLower(e)
		all := true
		for _, w := range words {
			all = all && strings.Contains(low, w)
		}
		if all {
			items = append(items, item{Candidate: Candidate{Text: e}})
		}
	}
	f.popup = popup{items: items}
}

// findKey is a key while the history is searched.
func (m *Model) findKey(name, typed string) (Outcome, tea.Cmd) {
	f := m.find
	switch name {
	case "enter", "tab":
		m.chosen()
	case "esc", "ctrl+g":
		m.find = nil
	case "ctrl+r", "down":
		f.move(1)
	case "ctrl+s", "up", "shift+tab":
		f.move(-1)
	default:
		edit, ok := edits[name]
		switch {
		case typed != "":
			f.query.insert(oneLineTyped(typed))
		case ok:
			edit(&f.query)
		case name == "ctrl+d":
			edits["delete"](&f.query)
		default:
			return Unhandled{}, nil
		}
		f.filter()
	}
	return nil, nil
}

// oneLineTyped keeps the spaces somebody types.
func oneLineTyped(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(s)
}

// chosen ends a search with what is selected in it.
func (m *Model) chosen() {
	f := m.find
	m.leave()
	if f.at < len(f.items) {
		m.buf.load(ending(m.atoms(f.items[f.at].Text)))
	}
	m.quiet()
}
