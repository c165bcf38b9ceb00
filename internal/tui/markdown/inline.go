package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"conclave/internal/tui/text"
)

// maxStyles is how many styles may be in effect at once.
const maxStyles = 12

// spans writes text in styles that are inside one another.
type spans struct {
	b     strings.Builder
	stack []string
}

// in writes what f writes in a pen.
func (s *spans) in(pen string, f func()) {
	if pen == "" || len(s.stack) >= maxStyles {
		f()
		return
	}
	s.b.WriteString(pen)
	s.stack = append(s.stack, pen)
	f()
	s.stack = s.stack[:len(s.stack)-1]
	s.b.WriteString(reset)
	for _, p := range s.stack {
		s.b.WriteString(p)
	}
}

// say writes text of others. References to characters can bring in anything, so
// it is cleaned again.
func (s *spans) say(v string) { s.b.WriteString(flat(text.Clean(v))) }

func flat(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// inline is what is in a block, as one styled text with the pen around it.
func (r *renderer) inline(n ast.Node, pen string) string {
	var s spans
	s.in(pen, func() { r.children(&s, n) })
	return s.b.String()
}

func (r *renderer) children(s *spans, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.span(s, c)
	}
}

// span writes one node.
func (r *renderer) span(s *spans, n ast.Node) {
	inside := func() { r.children(s, n) }
	switch n := n.(type) {
	case *ast.Text:
		r.words(s, n)
	case *ast.String:
		s.say(string(n.Value))
	case *ast.CodeSpan:
		r.marked(s, r.code, "`", func() { r.verbatim(s, n) })
	case *ast.Emphasis:
		if n.Level == 1 {
			r.marked(s, r.emphasis, "*", inside)
		} else {
			r.marked(s, r.strong, "**", inside)
		}
	case *east.Strikethrough:
		r.marked(s, r.struck, "~~", inside)
	case *ast.Link:
		r.linked(s, string(n.Destination), inside)
	case *ast.AutoLink:
		s.in(r.link, func() { s.say(string(n.Label(r.src))) })
	case *ast.Image:
		s.in(r.dim, func() {
			s.b.WriteString("[image: ")
			inside()
			s.b.WriteString("]")
		})
	case *east.TaskCheckBox:
		if n.IsChecked {
			s.b.WriteString("[x] ")
		} else {
			s.b.WriteString("[ ] ")
		}
	default:
		inside()
	}
}

// marked writes in a pen, or between the marks of the source where the theme
// shows no difference.
func (r *renderer) marked(s *spans, pen, mark string, f func()) {
	if pen != "" {
		s.in(pen, f)
		return
	}
	s.b.WriteString(mark)
	f()
	s.b.WriteString(mark)
}

func (r *renderer) words(s *spans, n *ast.Text) {
	v := string(n.Segment.Value(r.src))
	if !n.IsRaw() {
		v = unescape(v)
	}
	s.say(v)
	switch {
	case n.HardLineBreak():
		s.b.WriteByte('\n')
	case n.SoftLineBreak():
		s.b.WriteByte(' ')
	}
}

// verbatim writes the text of a code span.
func (r *renderer) verbatim(s *spans, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			s.say(string(t.Segment.Value(r.src)))
		}
	}
}

// maxAddress is how much is shown of where a link leads.
const maxAddress = 400

// linked writes a link, with where it leads unless that is what it says.
func (r *renderer) linked(s *spans, to string, f func()) {
	from := s.b.Len()
	s.in(r.link, f)
	said := s.b.String()[from:]
	to = text.Cut(text.Clean(unescape(to)), maxAddress)
	if to == "" || strings.Contains(said, to) {
		return
	}
	s.in(r.dim, func() { s.b.WriteString(" (" + to + ")") })
}

// unescape puts the characters in the place of what stands for them.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			if end := strings.IndexByte(s[i:min(len(s), i+40)], ';'); end > 0 {
				b.WriteString(html.UnescapeString(s[i : i+end+1]))
				i += end
				continue
			}
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
