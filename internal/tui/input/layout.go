package input

import (
	"sort"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// A row is atoms[from:to] on one row of the screen. The line break behind a row
// belongs to none.
type row struct{ from, to int }

// layout is the rows of a text, kept until text or width change.
type layout struct {
	ver, width int
	rows       []row
}

// cells is how wide an atom is shown in rows of a width.
func (a atom) cells(width int) int { return min(a.w, width) }

// shown is an atom in at most width cells.
func (a atom) shown(width int) string {
	switch {
	case a.w == 0: // a mark with nothing to stand on would join what is before it
		return ""
	case a.chip != nil:
		return text.Cut(a.label(), width)
	case a.s == "\t":
		return text.Spaces(a.cells(width))
	case a.w > width:
		return text.Cut("……", width)
	}
	return a.s
}

// lay breaks a text into rows of a width, after spaces where there are some. One
// space may stand behind a full row, and is not drawn.
func lay(atoms []atom, width int) []row {
	var out []row
	from, used, gap := 0, 0, 0 // gap: where the row can be broken, if behind from
	for i, a := range atoms {
		if a.s == "\n" {
			out = append(out, row{from, i})
			from, used = i+1, 0
			continue
		}
		w := a.cells(width)
		if used == width && a.s == " " { // it stands where the cursor has its cell
			out = append(out, row{from, i + 1})
			from, used = i+1, 0
			continue
		}
		for used > 0 && used+w > width {
			to := i
			if gap > from {
				to = gap
			}
			out = append(out, row{from, to})
			from, used = to, 0
			for _, b := range atoms[to:i] {
				used += b.cells(width)
			}
		}
		used += w
		if a.space() {
			gap = i + 1
		}
	}
	return append(out, row{from, len(atoms)})
}

// promptWidth is how many cells the prompt takes. A very narrow window has none.
func promptWidth(width int) int {
	if width < 8 {
		return 0
	}
	return 2
}

// room is how many cells of a window are for text: there is always one left for
// the cursor behind it.
func room(width int) int { return max(1, width-promptWidth(width)-1) }

// rows are the rows of what is written, in a window of a width.
func (m *Model) rows(width int) []row {
	if m.laid.rows == nil || m.laid.ver != m.buf.ver || m.laid.width != width {
		m.laid = layout{m.buf.ver, width, lay(m.buf.atoms, room(width))}
	}
	return m.laid.rows
}

// rowOf is the row that a place in the text is on.
func rowOf(rows []row, at int) int {
	return max(0, sort.Search(len(rows), func(i int) bool { return rows[i].from > at })-1)
}

// column is how many cells lie before a place in its row.
func column(atoms []atom, r row, at, width int) int {
	x := 0
	for _, a := range atoms[r.from:min(at, r.to)] {
		x += a.cells(width)
	}
	return x
}

// place is the atom of a row at a column, or the nearest one before it. On a row
// that goes on, what comes behind it is on the next.
func place(atoms []atom, rows []row, n, x, width int) int {
	r := rows[n]
	at, used := r.from, 0
	for at < r.to {
		w := atoms[at].cells(width)
		if used+w > x && (atoms[at].chip == nil || used+w/2 >= x) {
			break
		}
		at, used = at+1, used+w
	}
	if n+1 < len(rows) && rows[n+1].from == at && at > r.from {
		at--
	}
	return at
}

// vertical moves the cursor by rows, as near to its column as it goes.
func (m *Model) vertical(by int) bool {
	rows, width := m.rows(m.width), room(m.width)
	n := rowOf(rows, m.buf.at)
	if n+by < 0 || n+by >= len(rows) {
		return false
	}
	x := m.buf.goal - 1
	if x < 0 {
		x = column(m.buf.atoms, rows[n], m.buf.at, width)
	}
	m.buf.move(place(m.buf.atoms, rows, n+by, x, width))
	m.buf.goal = x + 1
	return true
}

// Height is how many lines View will give for a window of a width.
func (m *Model) Height(width, most int) int {
	if m.find != nil || width < 1 {
		return 1
	}
	return min(len(m.rows(width)), max(1, most))
}

// Click puts the cursor where the lines of the last View were clicked. The
// command, which may be nil, looks for completions.
func (m *Model) Click(x, y int) tea.Cmd {
	if m.find != nil {
		return nil
	}
	rows := m.rows(m.width)
	n := min(max(0, m.top+y), len(rows)-1)
	m.buf.move(place(m.buf.atoms, rows, n, max(0, x-promptWidth(m.width)), room(m.width)))
	m.edited()
	return m.complete(false)
}
