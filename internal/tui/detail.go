package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// rowActions are for the entry that is selected in the timeline.
func rowActions() []Action {
	row := func(name string, keys []string, title, about string, hint int, do func(m *Model, x *lane, e entry) tea.Cmd) Action {
		return Action{Name: name, Keys: keys, Where: InList, Title: title, About: about, Hint: hint, Why: withSelected,
			Do: func(m *Model, _ string) tea.Cmd {
				x := m.laneOf(m.active())
				e, _ := x.selected()
				return do(m, x, e)
			}}
	}
	return []Action{
		row("open", []string{"enter"}, "open", "Open the entry; open already, read all of it", 2, (*Model).enter),
		row("fold", []string{"space"}, "open, fold", "Open or fold the entry", 3, (*Model).foldEntry),
		row("read", []string{"o"}, "read", "Read all there is of the entry", 4,
			func(m *Model, x *lane, e entry) tea.Cmd { return m.read(e) }),
		row("copy_entry", []string{"y"}, "copy", "Copy the text of the entry", 5,
			func(m *Model, x *lane, e entry) tea.Cmd { return m.copy(e.plain(m)) }),
		{Name: "fold_all", Keys: []string{"z"}, Where: InList, Title: "open, fold all", About: "Open everything, fold everything, or each as it is by itself", Why: withEntries,
			Do: func(m *Model, _ string) tea.Cmd { m.foldAll(); return nil }},
	}
}

func withEntries(m *Model) string {
	if m.laneOf(m.active()).Len() == 0 {
		return "There is nothing in the timeline yet."
	}
	return ""
}

func withSelected(m *Model) string {
	if why := withEntries(m); why != "" {
		return why
	}
	if _, ok := m.laneOf(m.active()).selected(); !ok {
		return "Nothing is selected: the arrow keys select."
	}
	return ""
}

// enter opens a run that is over, an entry that is folded, or the reader.
func (m *Model) enter(x *lane, e entry) tea.Cmd {
	if p, ok := e.(*pastRun); ok && p.run.Status != "" {
		return m.lookBack(p.run.ID)
	}
	if c, ok := e.(*runCard); ok && c.opens(m) {
		return c.open(m)
	}
	if m.isOpen(e) || !x.folds(e) {
		return m.read(e)
	}
	m.toggle(x, e)
	return nil
}

func (m *Model) foldEntry(x *lane, e entry) tea.Cmd {
	if !x.folds(e) {
		m.notify("There is no more to it than is shown.")
		return nil
	}
	m.toggle(x, e)
	return nil
}

// folds reports whether an entry looks different open and folded.
func (x *lane) folds(e entry) bool {
	w := max(x.m.width-1, 1)
	if x.m.splits(x.m.width) {
		w = max(splitColumn(x.m.width, x.m.splitCount(x.m.width))-1, 1)
	}
	open, shut := x.brush(w, true), x.brush(w, false)
	open.row, _ = e.(*row)
	shut.row = open.row
	a, b := e.draw(open), e.draw(shut)
	return strings.Join(a, "\n") != strings.Join(b, "\n")
}

func (m *Model) toggle(x *lane, e entry) {
	if m.lanes.toggled == nil {
		m.lanes.toggled = map[string]bool{}
	}
	m.lanes.toggled[e.key()] = !m.isOpen(e)
	m.lanes.changed()
	x.sync()
	if m.inList {
		x.list.Reveal(x.list.Selected())
	}
}

// foldAll goes from how entries are by themselves to all open, all folded, and
// back.
func (m *Model) foldAll() {
	m.lanes.folding = (m.lanes.folding + 1) % 3
	m.lanes.toggled = nil
	m.lanes.changed()
	m.notify([...]string{"Each entry as it is by itself.", "Everything is open.", "Everything is folded."}[m.lanes.folding])
}

// clickLane folds or opens the entry whose first line was clicked, and selects
// one that was clicked elsewhere.
func (m *Model) clickLane(x, y int) tea.Cmd {
	l := m.laneOf(m.active())
	if cmd, done := m.clickCard(l, x, y); done {
		return cmd
	}
	return m.clickEntry(l, y)
}

func (m *Model) clickEntry(x *lane, y int) tea.Cmd {
	i, line, ok := x.list.At(y)
	if !ok {
		return nil
	}
	if m.inList {
		x.list.Select(i)
	}
	if e := x.entry(i); line == 0 && x.folds(e) {
		m.toggle(x, e)
		return nil
	}
	x.list.Select(i)
	m.inList = true
	return nil
}

// read opens the reader on everything there is of an entry.
func (m *Model) read(e entry) tea.Cmd {
	title := "Timeline"
	if r, ok := e.(*row); ok {
		it := r.item()
		title = strings.TrimSpace(agentName(it.Label, it.Agent) + " " + view.Shorten(it.Title, 80))
	}
	body := e.plain(m)
	p := newPager(title, body)
	if prose(e) {
		p.lines = func(m *Model, width int) []string { return brush{m: m, w: width + 2}.markdown(body) }
	}
	m.open(p)
	return nil
}

// prose reports whether an entry is read as Markdown.
func prose(e entry) bool {
	switch e := e.(type) {
	case *pastRun, *planRow, *chatText, *runCard:
		return true
	case *row:
		return e.kind == view.ItemAnswer || e.kind == view.ItemFinal || e.kind == view.ItemText
	}
	return false
}

// plain implements entry: everything there is, arguments and results included.
func (r *row) plain(m *Model) string {
	var s strings.Builder
	for n, i := range r.indices() {
		if n > 0 {
			s.WriteString("\n\n")
		}
		it := r.x.story.timeline.At(i)
		detail := text.Clean(m.texts.of(it.Detail))
		switch {
		case it.Tool != nil:
			fmt.Fprintf(&s, "%s (%s)\n\n%s\n%s", text.Clean(toolName(it.Tool.Name)), it.Tool.State, text.Clean(prettyArguments(m.texts.input(it.Tool))), detail)
		case it.Kind == view.ItemFinal:
			s.WriteString(r.finalPlain(m, detail))
		case it.Kind == view.ItemText, it.Kind == view.ItemAnswer, it.Kind == view.ItemThinking:
			s.WriteString(detail)
		default:
			s.WriteString(strings.TrimSpace(agentName(it.Label, it.Agent) + " " + text.Clean(it.Title) + "\n" + detail))
		}
	}
	return strings.TrimSpace(s.String())
}

// finalPlain is the final answer, with the files it wrote.
func (r *row) finalPlain(m *Model, answer string) string {
	if answer == "" {
		answer = endWords(r.x.story.result.RunResult())
	}
	if foot := r.x.story.result.RunResult().Footer(); foot != "" {
		answer += "\n\n" + foot
	}
	return answer
}
