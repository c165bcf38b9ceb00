package input

import (
	"strings"

	"charm.land/lipgloss/v2"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

// View draws the composer for a window of a width: at most maxHeight lines, none
// wider; where in them the cursor is, -1 and -1 without the focus; and the popup
// to be put above them, if one is open.
func (m *Model) View(width, maxHeight int, t theme.Theme) (lines []string, cursorX, cursorY int, popup []string) {
	if width < 1 {
		return nil, -1, -1, nil
	}
	m.width = width
	if m.find != nil {
		line, x := m.find.line(width, t)
		lines, cursorX, popup = []string{line}, x, m.find.draw(width, t, m.maxPopup)
	} else {
		lines, cursorX, cursorY = m.text(width, max(1, maxHeight), t)
		if m.menu.shown() {
			popup = m.menu.draw(width, t, m.maxPopup)
		}
	}
	if m.blurred {
		cursorX, cursorY = -1, -1
	}
	return lines, cursorX, cursorY, popup
}

// text draws the rows around the cursor.
func (m *Model) text(width, height int, t theme.Theme) (lines []string, x, y int) {
	rows, avail, prompt := m.rows(width), room(width), promptWidth(width)
	at := rowOf(rows, m.buf.at)
	m.top = min(max(m.top, at-height+1), at, max(0, len(rows)-height))
	end := min(len(rows), m.top+height)
	styles := m.styles(rows[m.top].from, rows[end-1].to, t)
	for i := m.top; i < end; i++ {
		above, below := i == m.top && i > 0, i == end-1 && end < len(rows)
		var b strings.Builder
		if prompt > 0 {
			b.WriteString(m.prompt(i, above, below, t))
		}
		m.row(&b, rows[i], avail, rows[m.top].from, styles)
		lines = append(lines, b.String())
	}
	if m.Empty() && m.placeholder != "" {
		lines[0] += t.Dim.Render(text.Cut(m.placeholder, avail))
	}
	x = prompt + column(m.buf.atoms, rows[at], m.buf.at, avail)
	return lines, min(x, width-1), at - m.top
}

// prompt is what stands before a row: what kind of line it is, or that there is
// more than is shown.
func (m *Model) prompt(row int, above, below bool, t theme.Theme) string {
	switch {
	case above:
		return t.Dim.Render("↑") + " "
	case below:
		return t.Dim.Render("↓") + " "
	case row > 0:
		return "  "
	case m.shell():
		return t.Warn.Render("$") + " "
	case m.blurred:
		return t.Dim.Render("❯") + " "
	}
	return t.Accent.Render("❯") + " "
}

// row draws one row; neighbours that look the same are drawn together.
func (m *Model) row(b *strings.Builder, r row, avail, first int, styles []*lipgloss.Style) {
	if r.to > r.from && m.buf.atoms[r.to-1].s == " " && column(m.buf.atoms, r, r.to, avail) > avail {
		r.to--
	}
	for i := r.from; i < r.to; {
		style := styles[i-first]
		var run strings.Builder
		for ; i < r.to && styles[i-first] == style; i++ {
			run.WriteString(m.buf.atoms[i].shown(avail))
		}
		b.WriteString(style.Render(run.String()))
	}
}

// styles are the looks of atoms[from:to]: chips, mentions and the name of a
// command stand out.
func (m *Model) styles(from, to int, t theme.Theme) []*lipgloss.Style {
	out := make([]*lipgloss.Style, to-from)
	for i := range out {
		out[i] = &t.Text
		if m.buf.atoms[from+i].chip != nil {
			out[i] = &t.Chip
		}
	}
	mark := func(a, b int) {
		for i := max(a, from); i < min(b, to); i++ {
			out[i-from] = &t.Accent
		}
	}
	switch end := m.commandEnd(); {
	case m.shell():
		mark(0, 1)
		return out
	case end > 0:
		mark(0, end)
	}
	for at := from; at < to && m.mentioning(); {
		line := buffer{state: state{m.buf.atoms, at}}
		begin, end := line.lineStart(), line.lineEnd()
		for _, tok := range line.mentions(begin, end) {
			mark(tok.from, tok.to)
		}
		at = end + 1
	}
	return out
}
