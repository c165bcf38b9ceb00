package text

import (
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// A pen is the style in effect at a place of a text: the sequences that led to
// it, since the last one that took all styles away.
type pen string

// maxPen is how long the sequences may grow before they are boiled down to what
// they come to.
const maxPen = 96

// see takes note of a piece of text. Only a style sequence changes the pen.
func (p *pen) see(piece string) {
	if len(piece) < 3 || piece[0] != '\x1b' || sgr(piece) != len(piece) {
		return
	}
	switch params := piece[2 : len(piece)-1]; {
	case params == "" || params == "0":
		*p = ""
	case strings.HasPrefix(params, "0;"):
		*p = pen(piece)
	default:
		*p += pen(piece)
		if len(*p) > maxPen {
			*p = p.short()
		}
	}
}

// short is the pen said in one sequence.
func (p pen) short() pen {
	var style uv.Style
	parser := ansi.NewParser()
	for s := string(p); s != ""; {
		_, _, n, _ := ansi.DecodeSequence(s, ansi.NormalState, parser)
		uv.ReadStyle(parser.Params(), &style)
		s = s[n:]
	}
	if style.IsZero() {
		return ""
	}
	return pen(style.String())
}

func (p pen) open() string { return string(p) }

func (p pen) close() string {
	if p == "" {
		return ""
	}
	return reset
}
