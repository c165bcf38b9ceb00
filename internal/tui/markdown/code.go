package markdown

import (
	"strings"

	gtext "github.com/yuin/goldmark/text"

	"conclave/internal/tui/text"
)

// panel is a block of code with a bar on the left, and its language above. A
// line that is too long goes on in the next: nothing of code is hidden.
func (r *renderer) panel(language string, lines *gtext.Segments, width int) []string {
	bar, top := styled(r.border, "│")+" ", styled(r.border, "┌")+" "
	inner := width - 2
	if inner < narrow {
		bar, top, inner = "", "", width
	}
	var out []string
	if label := text.Clean(language); label != "" {
		out = append(out, top+styled(r.dim, text.Cut(label, inner)))
	}
	paint := painter{lang: languageOf(language), pens: &r.pens}
	for i := range lines.Len() {
		seg := lines.At(i)
		line := strings.TrimRight(text.Clean(string(seg.Value(r.src))), "\n")
		for _, l := range text.Chop(paint.line(text.Expand(line)), inner) {
			out = append(out, bar+l)
		}
	}
	return out
}
