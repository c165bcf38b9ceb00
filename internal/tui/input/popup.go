package input

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

// A popup is candidates, one selected, of which a window is shown.
type popup struct {
	items   []item
	at, top int
	moved   bool // by a person
}

// move goes through the candidates, round and round.
func (p *popup) move(by int) {
	if n := len(p.items); n > 0 {
		p.at, p.moved = ((p.at+by)%n+n)%n, true
	}
}

// rows is how many candidates are shown.
func (p *popup) rows(most int) int { return min(len(p.items), most) }

// window is the candidates that are shown, the selected one among them.
func (p *popup) window(most int) []item {
	n := p.rows(most)
	p.top = min(max(p.top, p.at-n+1), p.at, max(0, len(p.items)-n))
	return p.items[p.top : p.top+n]
}

// draw draws the candidates for a command or a mention.
func (m *menu) draw(width int, t theme.Theme, most int) []string {
	shown := m.window(most)
	names := make([]string, len(shown))
	column := 0
	for i, it := range shown {
		names[i] = m.name(it, m.top+i == m.at)
		column = max(column, text.Width(names[i]))
	}
	if most := width * 3 / 5; !m.abouts(shown) {
		column = max(1, width-2)
	} else {
		column = max(1, min(column, most-2))
	}
	var out []string
	for i, it := range shown {
		out = append(out, it.draw(names[i], column, width, m.top+i == m.at, t))
	}
	return append(out, m.hint(width, t))
}

// abouts reports whether anything is said about any of the candidates.
func (m *menu) abouts(items []item) bool {
	for _, it := range items {
		if it.About != "" || it.Why != "" {
			return true
		}
	}
	return false
}

// name is a candidate as it would stand in the text.
func (m *menu) name(it item, selected bool) string {
	s := oneLine(it.Text)
	switch {
	case m.kind == commands && it.Args != "":
		return "/" + s + " " + oneLine(it.Args)
	case m.kind == commands:
		return "/" + s
	}
	if it.Dir {
		s = strings.TrimSuffix(s, "/") + "/"
	}
	if selected && !it.agent && (m.write || m.token.write) {
		s += ":w"
	}
	return "@" + s
}

// draw draws a candidate: its name in a column, and what is said about it.
func (it item) draw(name string, column, width int, selected bool, t theme.Theme) string {
	about, look := it.About, t.Text
	if it.Why != "" {
		about, look = it.Why, t.Faint
	}
	mark := "  "
	if selected {
		mark = "› "
	}
	if column += 2; column > width {
		column = width
	}
	cut := text.Cut
	if it.Dir || strings.Contains(it.Text, "/") {
		cut = text.CutLeft // the end of a path says more
	}
	left := text.Pad(mark+cut(name, column-2), column)
	right := text.Cut("  "+oneLine(about), width-column)
	if selected {
		return t.Selected.Render(text.Pad(left+right, width))
	}
	if it.agent {
		look = t.Accent
	}
	return look.Render(left) + t.Dim.Render(right)
}

// hint says what keys do, and how many candidates there are.
func (m *menu) hint(width int, t theme.Theme) string {
	switch {
	case len(m.items) == 0 && m.pending:
		return m.footer(width, t.Dim, "looking for files…")
	case len(m.items) == 0:
		return m.footer(width, t.Dim, "nothing of that name")
	case m.kind == commands && m.items[m.at].Args == "":
		return m.footer(width, t.Dim, "enter run", "esc close", "↑↓ choose", "→ fill in")
	case m.kind == commands:
		return m.footer(width, t.Dim, "enter fill in", "esc close", "↑↓ choose")
	}
	return m.footer(width, t.Dim, "tab take", "→ write", "esc close", "↑↓ choose")
}

// footer is the last line of a popup: where one is, and as many hints as fit.
func (p *popup) footer(width int, style lipgloss.Style, hints ...string) string {
	line := "  " + hints[0]
	if len(p.items) > 0 {
		line = fmt.Sprintf("  %d/%d  %s", p.at+1, len(p.items), hints[0])
	}
	for _, h := range hints[1:] {
		if longer := line + " · " + h; text.Width(longer) <= width {
			line = longer
		}
	}
	return style.Render(text.Cut(line, width))
}

// draw draws what a search in the history has found.
func (f *find) draw(width int, t theme.Theme, most int) []string {
	var out []string
	for i, it := range f.window(most) {
		mark, look := "  ", t.Text
		if f.top+i == f.at {
			mark, look = "› ", t.Selected
		}
		out = append(out, look.Render(text.Pad(mark+oneLine(cutBytes(it.Text, 4*width)), width)))
	}
	first := "enter take"
	switch {
	case len(f.entries) == 0:
		first = "nothing was sent yet"
	case len(f.items) == 0:
		first = "nothing contains that"
	}
	return append(out, f.footer(width, t.Dim, first, "esc back", "ctrl+r older"))
}

// line is the line a search is typed into, and the column of the cursor. Of a
// long one the end before the cursor is shown.
func (f *find) line(width int, t theme.Theme) (string, int) {
	avail, prompt := room(width), promptWidth(width)
	head := ""
	if prompt > 0 {
		head = t.Accent.Render("?") + " "
	}
	atoms, at := f.query.atoms, f.query.at
	if len(atoms) == 0 {
		return head + t.Dim.Render(text.Cut("search what was sent", avail)), min(prompt, width-1)
	}
	from, x := at, 0
	for from > 0 && x+atoms[from-1].cells(avail) <= avail {
		from--
		x += atoms[from].cells(avail)
	}
	var b strings.Builder
	for used := 0; from < len(atoms) && used+atoms[from].cells(avail) <= avail; from++ {
		b.WriteString(atoms[from].shown(avail))
		used += atoms[from].cells(avail)
	}
	return head + t.Text.Render(b.String()), min(prompt+x, width-1)
}
