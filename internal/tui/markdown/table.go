package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"conclave/internal/tui/text"
)

const (
	between   = 3 // cells between columns
	minColumn = 5 // a narrower column is not worth reading
)

// grid is a table whose cells are styled text.
type grid struct {
	head  []string
	rows  [][]string
	align []east.Alignment
}

// table is a table that fits the width: columns are made narrower and cells
// wrapped, and if that does not do, every row is a list of its cells.
func (r *renderer) table(n *east.Table, width int) []string {
	g := grid{align: n.Alignments}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, head := row.(*east.TableHeader)
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			pen := ""
			if head {
				pen = r.strong
			}
			cells = append(cells, r.cell(c, pen))
		}
		if head {
			g.head = cells
		} else {
			g.rows = append(g.rows, cells)
		}
	}
	widths, ok := g.fit(width)
	if !ok {
		return r.records(g, width)
	}
	return r.columns(g, widths)
}

func (r *renderer) cell(n ast.Node, pen string) string { return flat(r.inline(n, pen)) }

// fit finds how wide columns are, if there is room for all.
func (g *grid) fit(width int) ([]int, bool) {
	n := len(g.head)
	if n == 0 {
		return nil, false
	}
	natural := make([]int, n)
	measure := func(row []string) {
		for i, c := range row {
			if i < n {
				natural[i] = max(natural[i], text.Width(c), 1)
			}
		}
	}
	measure(g.head)
	for _, row := range g.rows {
		measure(row)
	}
	room := width - between*(n-1)
	sum := func(most int) (total int) {
		for _, w := range natural {
			total += min(w, most)
		}
		return total
	}
	most := 0
	for _, w := range natural {
		most = max(most, w)
	}
	if sum(most) <= room {
		return natural, true
	}
	if sum(minColumn) > room {
		return nil, false
	}
	low, high := minColumn, most // low fits, high does not
	for high-low > 1 {
		if mid := (low + high) / 2; sum(mid) <= room {
			low = mid
		} else {
			high = mid
		}
	}
	spare := room - sum(low)
	for i, w := range natural {
		natural[i] = min(w, low)
		if w > low && spare > 0 {
			natural[i]++
			spare--
		}
	}
	return natural, true
}

// columns are the rows of a table one below the other.
func (r *renderer) columns(g grid, widths []int) []string {
	bar := " " + styled(r.border, "│") + " "
	out := r.row(g.head, widths, g.align, bar, nil)
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	out = append(out, styled(r.border, strings.Join(parts, "─┼─")))
	for _, row := range g.rows {
		out = r.row(row, widths, g.align, bar, out)
	}
	return out
}

// row adds the lines of one row to out.
func (r *renderer) row(cells []string, widths []int, align []east.Alignment, bar string, out []string) []string {
	wrapped := make([][]string, len(widths))
	height := 1
	for i, w := range widths {
		if i < len(cells) {
			wrapped[i] = text.Wrap(cells[i], w)
		}
		height = max(height, len(wrapped[i]))
	}
	for y := range height {
		var b strings.Builder
		for i, w := range widths {
			if i > 0 {
				b.WriteString(bar)
			}
			s := ""
			if y < len(wrapped[i]) {
				s = wrapped[i][y]
			}
			aligned(&b, s, w, align[i], i == len(widths)-1)
		}
		out = append(out, b.String())
	}
	return out
}

// aligned writes a cell of w cells. Nothing follows the last one.
func aligned(b *strings.Builder, s string, w int, a east.Alignment, last bool) {
	left, right := 0, w-text.Width(s)
	switch a {
	case east.AlignRight:
		left, right = right, 0
	case east.AlignCenter:
		left, right = right/2, right-right/2
	}
	b.WriteString(text.Spaces(left))
	b.WriteString(s)
	if !last {
		b.WriteString(text.Spaces(right))
	}
}

// records are the rows of a table that is too wide: the cells of each below one
// another, with their names.
func (r *renderer) records(g grid, width int) []string {
	var out []string
	for i, row := range g.rows {
		if i > 0 {
			out = append(out, "")
		}
		for j, c := range row {
			if j < len(g.head) && g.head[j] != "" {
				c = g.head[j] + ": " + c
			}
			out = append(out, text.Wrap(c, width)...)
		}
	}
	if len(g.rows) == 0 {
		out = text.Wrap(strings.Join(g.head, ", "), width)
	}
	return out
}
