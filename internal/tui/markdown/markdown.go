// Package markdown renders Markdown as lines for a terminal.
//
// [Render] takes a text that is finished, [Stream] one that grows at its end and
// of which only the end is rendered again. Both give the same lines. What agents
// write is not trusted: everything is cleaned before it is shown, links are text
// with their address beside it, HTML is text, and a source made to be expensive
// (deep nesting, huge tables, a line of a megabyte) is shown as it is written.
package markdown

import (
	"slices"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

// Render is src as styled lines of at most width cells.
func Render(src string, width int, t theme.Theme) []string {
	s := NewStream(t)
	s.Set(src)
	return s.Lines(width)
}

// syntax is CommonMark without HTML, with tables, task lists and strikethrough.
var syntax = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0),
		),
	)
})

// parse is the tree of a source in which links may use refs.
func parse(src []byte, refs []parser.Reference) (ast.Node, parser.Context) {
	pc := parser.NewContext()
	for _, r := range refs {
		pc.AddReference(r)
	}
	return syntax().Parse(gtext.NewReader(src), parser.WithContext(pc)), pc
}

// A renderer turns the tree of a chunk into lines.
type renderer struct {
	src []byte
	pens
}

// pens are what the roles write before a text. The same closes them all.
type pens struct {
	strong, emphasis, struck, code, link, dim, border, quote, heading, accent string
	number, str                                                               string
}

const reset = "\x1b[m"

func newPens(t theme.Theme) pens {
	open := func(s lipgloss.Style) string {
		o, _ := theme.Pen(s)
		return o
	}
	return pens{
		strong: open(t.Strong), emphasis: open(t.Emphasis), struck: open(t.Struck), code: open(t.Code), link: open(t.Link),
		dim: open(t.Dim), border: open(t.Border), quote: open(t.Quote), heading: open(t.Heading), accent: open(t.Accent),
		number: open(t.Warn), str: open(t.Good),
	}
}

// chunk is the lines of a part of the source that stands for itself.
func chunk(src string, refs []parser.Reference, width int, p pens) []string {
	switch {
	case prose(src):
		return text.Wrap(strings.TrimRight(src, " \t\n"), width)
	case len(src) > maxChunk || costly(src):
		return strip(text.Wrap(src, width))
	}
	r := &renderer{src: []byte(src), pens: p}
	doc, _ := parse(r.src, refs)
	return strip(r.blocks(doc, width, "", 0, false))
}

// strip takes blank lines off both ends.
func strip(lines []string) []string {
	blank := func(s string) bool { return strings.Trim(s, " ") == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return slices.Clip(lines)
}

// styled is s in a pen.
func styled(pen, s string) string {
	if pen == "" || s == "" {
		return s
	}
	return pen + s + reset
}
