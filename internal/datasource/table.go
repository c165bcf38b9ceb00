package datasource

import (
	"fmt"
	"strings"
)

const (
	// MaxCell is how much of a cell is kept, in bytes.
	MaxCell = 1000
	// maxKept is how much of a table is kept, in bytes: more than is ever shown.
	maxKept = 256 << 10
	// maxCounted is how many rows are counted behind those that are kept.
	maxCounted = 10_000
)

// A Table is the beginning of what a statement returned.
type Table struct {
	Columns []string
	Rows    [][]Cell
	// More is how many rows were left out. They were not all counted if Endless.
	More    int
	Endless bool
	// None: the statement is not one that returns rows.
	None bool

	limit, size int
}

// A Cell is a value as text.
type Cell struct {
	Text string
	Null bool
	Cut  int // bytes that were left out at the end
}

func newTable(columns []string, limit int) Table {
	return Table{Columns: columns, limit: max(limit, 0)}
}

// full reports whether the next row is not to be kept.
func (t *Table) full() bool { return len(t.Rows) >= t.limit || t.size > maxKept }

// add keeps a row if there is room for it, and counts it otherwise. It is false
// when the rest should not be read.
func (t *Table) add(row func() []Cell) bool {
	if !t.full() {
		cells := row()
		for _, c := range cells {
			t.size += len(c.Text) + 1
		}
		t.Rows = append(t.Rows, cells)
		return true
	}
	t.More++
	t.Endless = t.More >= maxCounted
	return !t.Endless
}

// cell is a text as a cell.
func cell(text string) Cell {
	if len(text) <= MaxCell {
		return Cell{Text: strings.ToValidUTF8(text, "\uFFFD")}
	}
	return Cell{Text: strings.ToValidUTF8(text[:MaxCell], ""), Cut: len(text) - MaxCell}
}

// A lines is a description that stops growing when it is long enough.
type lines struct {
	b    strings.Builder
	left int // that were left out
}

// add adds a line, and reports whether there was room for it.
func (l *lines) add(line string) bool {
	if line = OneLine(line); l.left > 0 || l.b.Len()+len(line) > MaxDescribed-200 {
		l.left++
		return false
	}
	l.b.WriteString(line)
	l.b.WriteByte('\n')
	return true
}

// text is all of it, and how many lines of what more there would be.
func (l *lines) text(what string) string {
	if l.left > 0 {
		fmt.Fprintf(&l.b, "[%d more %s are left out here]\n", l.left, what)
	}
	return l.b.String()
}

// OneLine is a text without what would break a line or hide in it.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
