package input

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"conclave/internal/tui/text"
)

// maxItems is how many candidates a menu holds.
const maxItems = 100

// An item is a candidate, and which of its bytes match what was typed.
type item struct {
	Candidate
	hits  []int
	agent bool
}

// A menu offers what can stand in place of a token.
type menu struct {
	popup
	token
	agents  []item
	paths   []item
	pending bool // paths are being looked for
	write   bool // what is taken is to be written as well
}

// A found is the paths for a token.
type found struct {
	by     *Model
	ticket int
	items  []item
}

func (m *menu) shown() bool { return m.kind != nothing && (len(m.items) > 0 || m.kind == mentions) }

// complete opens, fills or closes the menu for what stands at the cursor. Only
// what is typed opens one.
func (m *Model) complete(typed bool) tea.Cmd {
	t := m.token()
	switch {
	case t.kind == nothing:
		m.close()
		m.shut = token{}
		return nil
	case m.shut.kind == t.kind && m.shut.from == t.from, !typed && m.menu.kind == nothing:
		m.close()
		return nil
	case m.menu.token == t:
		return nil
	}
	before := m.menu
	if before.kind != t.kind || before.from != t.from {
		m.close()
		before = menu{}
	}
	before.token = t
	m.menu = before
	if t.kind == commands {
		m.menu.fill(rank(t.query, call(m.opt.Commands), false))
		return nil
	}
	m.menu.agents = rank(t.query, call(m.opt.Agents), true)
	m.menu.offer(rankItems(t.query, m.menu.paths))
	return m.look(t.query)
}

func call(f func() []Candidate) []Candidate {
	if f == nil {
		return nil
	}
	return f()
}

// rank orders candidates by likeness to what was typed and leaves out the rest.
func rank(typed string, all []Candidate, agents bool) []item {
	items := make([]item, len(all))
	for i, c := range all {
		items[i] = item{Candidate: c, agent: agents}
	}
	return rankItems(typed, items)
}

type texts []item

func (t texts) String(i int) string { return t[i].Text }
func (t texts) Len() int            { return len(t) }

func rankItems(typed string, items []item) []item {
	var out []item
	if typed == "" {
		for _, it := range items[:min(len(items), maxItems)] {
			it.hits = nil
			out = append(out, it)
		}
		return out
	}
	named := func(it item) bool { return it.Text == typed || slices.Contains(it.Also, typed) }
	for _, it := range items {
		if named(it) {
			it.hits = nil
			out = append(out, it)
		}
	}
	for _, hit := range fuzzy.FindFrom(typed, texts(items)) {
		if it := items[hit.Index]; len(out) < maxItems && !named(it) {
			it.hits = hit.MatchedIndexes
			out = append(out, it)
		}
	}
	return out
}

// look has paths looked for; whoever looked before need not go on.
func (m *Model) look(typed string) tea.Cmd {
	m.stop()
	if m.opt.Paths == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel, m.menu.pending = cancel, true
	by, ticket, paths := m, m.ticket, m.opt.Paths
	return func() tea.Msg {
		all := paths(ctx, typed)
		if ctx.Err() != nil {
			return nil
		}
		items := rank(typed, all, false)
		if len(items) == 0 { // found in a way of its own: ~ and ./ are not in the names
			items = rank("", all, false)
		}
		return found{by, ticket, items}
	}
}

// stop makes what is still being looked for too late.
func (m *Model) stop() {
	m.ticket++
	m.menu.pending = false
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

// arrived takes paths in, unless something else was typed since.
func (m *Model) arrived(f found) {
	if f.ticket == m.ticket && m.menu.kind == mentions {
		m.stop()
		m.menu.offer(f.items)
	}
}

// offer shows agents above paths.
func (m *menu) offer(paths []item) {
	m.paths = paths
	m.fill(slices.Concat(m.agents, paths))
}

// fill shows items. What a person has moved to stays selected.
func (m *menu) fill(items []item) {
	at := 0
	if m.moved && m.at < len(m.items) {
		old := m.items[m.at]
		at = max(0, slices.IndexFunc(items, func(i item) bool { return i.Text == old.Text && i.agent == old.agent }))
	}
	m.popup = popup{items: items, at: at, moved: m.moved}
}

// close closes the menu.
func (m *Model) close() {
	m.stop()
	m.menu = menu{}
}

// quiet closes the menu and keeps it closed for what stands at the cursor.
func (m *Model) quiet() {
	m.close()
	m.shut = m.token()
}

// menuKey is a key while a menu is open; others are keys as always.
func (m *Model) menuKey(name string) (Outcome, tea.Cmd, bool) {
	e := &m.menu
	if name == "esc" {
		m.quiet()
		return nil, nil, true
	}
	if len(e.items) == 0 {
		return nil, nil, false
	}
	path := e.kind == mentions
	switch name {
	case "down":
		e.move(1)
	case "up", "shift+tab":
		e.move(-1)
	case "tab":
		if !path && len(e.items) > 1 {
			e.move(1)
			break
		}
		out, cmd := m.choose()
		return out, cmd, true
	case "right":
		switch it := e.items[e.at]; {
		case m.buf.at < e.to:
			return nil, nil, false
		case !path:
			out, cmd := m.choose()
			return out, cmd, true
		case !it.agent:
			e.write = !e.write
		}
	case "enter":
		if path {
			out, cmd := m.choose()
			return out, cmd, true
		}
		return m.run()
	default:
		return nil, nil, false
	}
	return nil, nil, true
}

// run takes a command with Enter: one that needs nothing more is sent.
func (m *Model) run() (Outcome, tea.Cmd, bool) {
	it := m.menu.items[m.menu.at]
	typed := plain(m.buf.atoms[1:m.menu.to])
	switch {
	case it.Why != "":
		out, cmd := m.choose()
		return out, cmd, true
	case it.Args == "" || it.Text == typed || slices.Contains(it.Also, typed):
		cmd := m.take()
		return m.submit(), cmd, true
	}
	return nil, m.take(), true
}

// choose takes what is selected, or says why that cannot be. A command that cannot
// be given stands there in full then, apart from what is typed next.
func (m *Model) choose() (Outcome, tea.Cmd) {
	it := m.menu.items[m.menu.at]
	if it.Why == "" {
		return nil, m.take()
	}
	if m.menu.kind == commands {
		m.take()
	}
	m.quiet()
	return Unable{Why: it.Why}, nil
}

// take puts what is selected in place of what was typed.
func (m *Model) take() tea.Cmd {
	e := m.menu
	if e.at >= len(e.items) {
		return nil
	}
	it := e.items[e.at]
	s, goesOn := "/"+oneLine(it.Text), false
	if e.kind == mentions {
		path := text.Clean(it.Text)
		if it.Dir {
			path = strings.TrimSuffix(path, "/") + "/"
			goesOn = !e.write
		}
		s = mention(path, e.write || e.token.write, goesOn)
	}
	m.buf.keep(moving, false)
	to := e.to
	if !goesOn {
		if to == len(m.buf.atoms) || !m.buf.atoms[to].space() {
			s += " "
		} else {
			to++
			s += plain(m.buf.atoms[to-1 : to])
		}
	}
	m.buf.replace(e.from, to, cut(s))
	m.edited()
	m.close()
	return m.complete(goesOn)
}

// ClickPopup takes the candidate in a row of the popup as it was drawn last.
func (m *Model) ClickPopup(row int) (Outcome, tea.Cmd) {
	p := &m.menu.popup
	if m.find != nil {
		p = &m.find.popup
	}
	if !m.Open() || row < 0 || row >= p.rows(m.maxPopup) {
		return nil, nil
	}
	p.at, p.moved = p.top+row, true
	switch {
	case m.find != nil:
		m.chosen()
	case m.menu.kind == commands:
		out, cmd, _ := m.run()
		return out, cmd
	default:
		return m.choose()
	}
	return nil, nil
}
