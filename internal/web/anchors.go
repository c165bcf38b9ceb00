package web

import (
	"fmt"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// anchors says of every block which lines it comes from: people comment on lines,
// and what they see are blocks.
type anchors struct{}

const anchor = "data-l"

// Transform implements parser.ASTTransformer.
func (anchors) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	lines := index(reader.Source())
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if from, to, ok := span(n); ok && n.Kind() != ast.KindDocument {
			first, last := lines.at(from), lines.at(max(to-1, from))
			if f, ok := n.(*ast.FencedCodeBlock); ok {
				first, last = fenced(f, first, last, len(lines))
			}
			n.SetAttributeString(anchor, fmt.Sprintf("%d-%d", first, last))
		}
		return ast.WalkContinue, nil
	})
}

// fenced is the lines of a code block with its fences.
func fenced(f *ast.FencedCodeBlock, first, last, all int) (int, int) {
	if f.Lines().Len() == 0 {
		return first, last
	}
	return max(first-1, 1), min(last+1, all)
}

// span is where a block stands in the source: its own lines, or those of what is
// in it.
func span(n ast.Node) (from, to int, ok bool) {
	if n.Type() == ast.TypeInline {
		if t, is := n.(*ast.Text); is {
			return t.Segment.Start, t.Segment.Stop, true
		}
	} else if l := n.Lines(); l != nil && l.Len() > 0 {
		from, to, ok = l.At(0).Start, l.At(l.Len()-1).Stop, true
	}
	if f, is := n.(*ast.FencedCodeBlock); is && f.Info != nil && !ok {
		return f.Info.Segment.Start, f.Info.Segment.Stop, true
	}
	if ok {
		return from, to, true
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		f, t, has := span(c)
		switch {
		case !has:
		case !ok:
			from, to, ok = f, t, true
		default:
			from, to = min(from, f), max(to, t)
		}
	}
	return from, to, ok
}

// A lineIndex is where lines begin.
type lineIndex []int

func index(source []byte) lineIndex {
	out := lineIndex{0}
	for i, c := range source {
		if c == '\n' && i+1 < len(source) {
			out = append(out, i+1)
		}
	}
	return out
}

// at is the line of an offset, from 1.
func (l lineIndex) at(offset int) int {
	lo, hi := 0, len(l)
	for lo < hi {
		if mid := (lo + hi) / 2; l[mid] <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return max(lo, 1)
}

// plain renders what is to be otherwise than usual: code with its lines, HTML as
// the text it is, and pictures as what they are called, for nothing is fetched.
type plain struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (plain) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, code)
	r.Register(ast.KindFencedCodeBlock, code)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindImage, image)
	r.Register(extast.KindTaskCheckBox, checkBox)
}

func attribute(w util.BufWriter, n ast.Node) {
	if v, ok := n.AttributeString(anchor); ok {
		_, _ = fmt.Fprintf(w, ` %s="%s"`, anchor, v)
	}
}

func code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre")
	attribute(w, n)
	_, _ = w.WriteString("><code")
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		if lang := f.Language(source); lang != nil {
			_, _ = w.WriteString(` class="language-`)
			_, _ = w.Write(util.EscapeHTML(lang))
			_, _ = w.WriteString(`"`)
		}
	}
	_, _ = w.WriteString(">")
	lines(w, source, n)
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

func lines(w util.BufWriter, source []byte, n ast.Node) {
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(at.Value(source)))
	}
}

func htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre")
	attribute(w, n)
	_, _ = w.WriteString("><code>")
	lines(w, source, n)
	if b, ok := n.(*ast.HTMLBlock); ok && b.HasClosure() {
		_, _ = w.Write(util.EscapeHTML(b.ClosureLine.Value(source)))
	}
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

func rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		raw := n.(*ast.RawHTML)
		for i := range raw.Segments.Len() {
			at := raw.Segments.At(i)
			_, _ = w.Write(util.EscapeHTML(at.Value(source)))
		}
	}
	return ast.WalkSkipChildren, nil
}

// image shows what a picture is called and where it would be fetched from.
func image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("[image: ")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(" (")
	_, _ = w.Write(util.EscapeHTML(n.(*ast.Image).Destination))
	_, _ = w.WriteString(")]")
	return ast.WalkContinue, nil
}

func checkBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<input type="checkbox" disabled=""`)
		if n.(*extast.TaskCheckBox).IsChecked {
			_, _ = w.WriteString(` checked=""`)
		}
		_, _ = w.WriteString("> ")
	}
	return ast.WalkContinue, nil
}
