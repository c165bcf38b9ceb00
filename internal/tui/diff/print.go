package diff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	udiff "github.com/aymanbagabas/go-udiff"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

// narrow is the width below which line numbers are left out.
const narrow = 30

// A printer writes hunks.
type printer struct {
	out    []string
	width  int
	digits int // of line numbers; 0 if there is no room for them
	shift  int // lines that came less those that went, so far

	added, removed, changedIn, changedOut, dim, hunkPen pen
}

// pen is what a style writes before and after a text.
type pen struct{ open, shut string }

func (p pen) in(s string) string {
	if s == "" {
		return ""
	}
	return p.open + s + p.shut
}

func newPrinter(width, most int, t theme.Theme) *printer {
	p := &printer{width: width}
	if width >= narrow {
		p.digits = len(strconv.Itoa(most))
	}
	p.added.open, p.added.shut = theme.Pen(t.Added)
	p.removed.open, p.removed.shut = theme.Pen(t.Removed)
	p.changedIn.open, p.changedIn.shut = theme.Pen(t.Added.Reverse(true))
	p.changedOut.open, p.changedOut.shut = theme.Pen(t.Removed.Reverse(true))
	p.dim.open, p.dim.shut = theme.Pen(t.Dim)
	p.hunkPen.open, p.hunkPen.shut = theme.Pen(t.Hunk)
	return p
}

func (p *printer) hunk(h *udiff.Hunk) {
	before, after := 0, 0
	for _, l := range h.Lines {
		if l.Kind != udiff.Insert {
			before++
		}
		if l.Kind != udiff.Delete {
			after++
		}
	}
	from, to := h.FromLine, h.FromLine+p.shift
	p.shift += after - before
	head := fmt.Sprintf("@@ -%s +%s @@", span(from, before), span(to, after))
	p.out = append(p.out, p.hunkPen.in(text.Cut(head, p.width)))
	for i := 0; i < len(h.Lines); {
		if h.Lines[i].Kind == udiff.Equal {
			p.line(from, to, "  ", h.Lines[i].Content, pen{}, pen{}, 0, 0)
			from, to, i = from+1, to+1, i+1
			continue
		}
		gone, come := i, i
		for come < len(h.Lines) && h.Lines[come].Kind == udiff.Delete {
			come++
		}
		end := come
		for end < len(h.Lines) && h.Lines[end].Kind == udiff.Insert {
			end++
		}
		p.change(h.Lines[gone:come], h.Lines[come:end], from, to)
		from, to, i = from+come-gone, to+end-come, end
	}
}

// span is where lines are. None are after the line before.
func span(first, n int) string {
	if n == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// change writes lines that went and those that came in their place. If they are
// as many, what differs within each pair stands out.
func (p *printer) change(gone, come []udiff.Line, from, to int) {
	pairs := len(gone) == len(come)
	for i, l := range gone {
		a, z := 0, 0
		if pairs {
			a, z, _ = differ(l.Content, come[i].Content)
		}
		p.line(from+i, 0, "- ", l.Content, p.removed, p.changedOut, a, z)
	}
	for i, l := range come {
		a, z := 0, 0
		if pairs {
			a, _, z = differ(gone[i].Content, l.Content)
		}
		p.line(0, to+i, "+ ", l.Content, p.added, p.changedIn, a, z)
	}
}

// line writes a line of either text with its numbers. The bytes from a to z
// stand out.
func (p *printer) line(from, to int, sign, s string, plain, strong pen, a, z int) {
	whole := strings.HasSuffix(s, "\n")
	s = strings.TrimSuffix(s, "\n")
	if z > len(s) {
		a, z = 0, 0
	}
	s = text.Expand(plain.in(visible(s[:a])) + strong.in(visible(s[a:z])) + plain.in(visible(s[z:])))
	sign = sign[:min(len(sign), p.width-1)]
	gutter := sign
	if n := 2*p.digits + 2; p.digits > 0 && n+len(sign)+8 <= p.width {
		gutter = p.number(from) + " " + p.number(to) + " " + sign
	}
	room := max(1, p.width-len(gutter))
	for i, l := range text.Wrap(s, room) {
		if i > 0 {
			gutter = text.Spaces(len(gutter))
		}
		p.out = append(p.out, p.gutter(gutter, sign, plain)+l)
	}
	if !whole {
		p.out = append(p.out, p.dim.in(text.Cut(`\ no line break at the end`, p.width)))
	}
}

// gutter is the numbers dim and the sign in the colour of its line.
func (p *printer) gutter(s, sign string, plain pen) string {
	numbers, ok := strings.CutSuffix(s, sign)
	if !ok || strings.Trim(sign, " ") == "" {
		return p.dim.in(s)
	}
	return p.dim.in(numbers) + plain.in(sign)
}

func (p *printer) number(n int) string {
	if n == 0 {
		return text.Spaces(p.digits)
	}
	return fmt.Sprintf("%*d", p.digits, n)
}

// differ finds what is between the common beginning and the common end of two
// lines: from byte a to byte y of x, and to byte z of the other. Lines that have
// little in common differ as wholes, and nothing stands out.
func differ(x, other string) (a, y, z int) {
	x, other = strings.TrimSuffix(x, "\n"), strings.TrimSuffix(other, "\n")
	rx, ro := strings.Split(x, ""), strings.Split(other, "")
	most := min(len(rx), len(ro))
	n := 0
	for n < most && rx[n] == ro[n] {
		a += len(rx[n])
		n++
	}
	y, z = len(x), len(other)
	for m := 1; m <= most-n && rx[len(rx)-m] == ro[len(ro)-m]; m++ {
		y -= len(rx[len(rx)-m])
		z -= len(ro[len(ro)-m])
	}
	if common := a + len(x) - y; 3*common < max(len(x), len(other)) {
		return 0, 0, 0
	}
	return a, y, z
}

// visible is s with a sign in the place of every character that could not be
// seen or would be obeyed.
func visible(s string) string {
	if text.Clean(s) == s {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case unicode.IsControl(r), text.Clean(string(r)) != string(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
