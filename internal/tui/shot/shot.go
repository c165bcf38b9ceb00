// Package shot draws a frame of a terminal as a picture, for documents: styled
// text in, SVG out. Only colours and styles are understood, which is all that a
// frame of ours has.
package shot

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// How large a cell is, in the picture's own units.
const (
	cellWidth  = 8.4
	cellHeight = 17
	margin     = 14
)

// pen is how text is drawn from here on.
type pen struct {
	fore, back                             string // empty is the terminal's own
	bold, faint, italic, underline, invert bool
}

// Colours are those of the terminal that the picture shows.
type Colours struct{ Fore, Back string }

// Dark and Light are ordinary terminals.
var (
	Dark  = Colours{"#d8dee9", "#15181e"}
	Light = Colours{"#24292f", "#ffffff"}
)

// SVG draws a frame whose lines are width cells wide.
func SVG(frame string, width int, c Colours) string {
	lines := strings.Split(frame, "\n")
	w, h := float64(width)*cellWidth+2*margin, float64(len(lines)*cellHeight+2*margin)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", w, h, w)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", c.Back)
	for y, l := range lines {
		drawLine(&b, l, y, c)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawLine draws the stretches of one line that look the same.
func drawLine(b *strings.Builder, line string, y int, c Colours) {
	var p pen
	var run strings.Builder
	from, x := 0, 0
	flush := func() {
		drawRun(b, run.String(), from, x-from, y, p, c)
		run.Reset()
		from = x
	}
	state := byte(ansi.NormalState)
	for len(line) > 0 {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		if width == 0 && strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") {
			flush()
			p = p.style(seq[2 : len(seq)-1])
		} else if width > 0 {
			run.WriteString(seq)
			x += width
		}
		line, state = line[n:], next
	}
	flush()
}

func drawRun(b *strings.Builder, s string, x, width, y int, p pen, c Colours) {
	if width == 0 {
		return
	}
	fore, back := p.fore, p.back
	if fore == "" {
		fore = c.Fore
	}
	if p.invert {
		if back == "" {
			back = c.Back
		}
		fore, back = back, fore
	}
	left, top := margin+float64(x)*cellWidth, float64(margin+y*cellHeight)
	if back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`, left, top, float64(width)*cellWidth, cellHeight, back)
	}
	if strings.TrimSpace(s) == "" && !p.underline {
		return
	}
	attrs := ""
	if p.bold {
		attrs += ` font-weight="bold"`
	}
	if p.italic {
		attrs += ` font-style="italic"`
	}
	if p.faint {
		attrs += ` opacity="0.6"`
	}
	if p.underline {
		attrs += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve"%s>%s</text>`+"\n",
		left, top+cellHeight*0.77, fore, float64(width)*cellWidth, attrs, html.EscapeString(s))
}

// style is the pen after a sequence of parameters.
func (p pen) style(params string) pen {
	f := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(f) == 0 {
		return pen{}
	}
	for i := 0; i < len(f); i++ {
		n, _ := strconv.Atoi(f[i])
		switch {
		case n == 0:
			p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.faint = true
		case n == 3:
			p.italic = true
		case n == 4:
			p.underline = true
		case n == 7:
			p.invert = true
		case n == 22:
			p.bold, p.faint = false, false
		case n == 23:
			p.italic = false
		case n == 24:
			p.underline = false
		case n == 27:
			p.invert = false
		case n == 39:
			p.fore = ""
		case n == 49:
			p.back = ""
		case n == 38 || n == 48:
			colour, used := extended(f[i+1:])
			i += used
			if n == 38 {
				p.fore = colour
			} else {
				p.back = colour
			}
		case n >= 30 && n <= 37:
			p.fore = basic(n - 30)
		case n >= 90 && n <= 97:
			p.fore = basic(n - 90 + 8)
		case n >= 40 && n <= 47:
			p.back = basic(n - 40)
		case n >= 100 && n <= 107:
			p.back = basic(n - 100 + 8)
		}
	}
	return p
}

// extended reads the colour that follows 38 or 48.
func extended(f []string) (colour string, used int) {
	at := func(i int) int {
		if i >= len(f) {
			return 0
		}
		n, _ := strconv.Atoi(f[i])
		return n
	}
	switch at(0) {
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", at(1), at(2), at(3)), 4
	case 5:
		return palette(at(1)), 2
	}
	return "", len(f)
}

func basic(n int) string {
	return [...]string{"#3b4048", "#e06c75", "#98c379", "#d19a66", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
		"#5c6370", "#ff7b86", "#b5e890", "#e5c07b", "#82c7ff", "#de98f0", "#76d6e2", "#ffffff"}[n%16]
}

// palette is a colour of the 256.
func palette(n int) string {
	switch {
	case n < 16:
		return basic(n)
	case n >= 232:
		g := 8 + (n-232)*10
		return fmt.Sprintf("#%02x%02x%02x", g, g, g)
	}
	level := func(k int) int {
		if k == 0 {
			return 0
		}
		return 55 + 40*k
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
