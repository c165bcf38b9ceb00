package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"conclave/internal/tui/text"
)

const (
	maxDepth = 12 // blocks inside one another that are still moved in
	narrow   = 8  // cells a block needs beside what is before it
)

// blocks are the lines of what is in a node, in a pen. Unless it is tight there
// is a blank line between them.
func (r *renderer) blocks(parent ast.Node, width int, pen string, depth int, tight bool) []string {
	var out []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := r.block(n, width, pen, depth)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && !tight {
			out = append(out, "")
		}
		if out == nil {
			out = lines
		} else {
			out = append(out, lines...)
		}
	}
	return out
}

func (r *renderer) block(n ast.Node, width int, pen string, depth int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return r.title(n, width)
	case *ast.ThematicBreak:
		return []string{styled(r.border, strings.Repeat("─", width))}
	case *ast.FencedCodeBlock:
		return r.panel(string(n.Language(r.src)), n.Lines(), width)
	case *ast.CodeBlock:
		return r.panel("", n.Lines(), width)
	case *ast.Blockquote:
		return r.quoted(n, width, depth)
	case *ast.List:
		return r.list(n, width, pen, depth)
	case *east.Table:
		return r.table(n, width)
	case *ast.Paragraph, *ast.TextBlock:
		if s := r.inline(n, pen); s != "" {
			return text.Wrap(s, width)
		}
		return nil
	}
	return r.blocks(n, width, pen, depth, false)
}

// title is a heading. The third level and below are only strong.
func (r *renderer) title(n *ast.Heading, width int) []string {
	pen := r.heading
	if n.Level > 2 {
		pen = r.strong
	}
	lines := text.Wrap(r.inline(n, pen), width)
	if n.Level == 1 {
		w := 0
		for _, l := range lines {
			w = max(w, text.Width(l))
		}
		lines = append(lines, styled(r.border, strings.Repeat("━", w)))
	}
	return lines
}

// quoted is a quote: a bar on the left.
func (r *renderer) quoted(n ast.Node, width, depth int) []string {
	if depth >= maxDepth || width-2 < narrow {
		return r.blocks(n, width, r.quote, depth+1, false)
	}
	lines := r.blocks(n, width-2, r.quote, depth+1, false)
	bar := styled(r.border, "│")
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = bar
		if l != "" {
			out[i] += " " + l
		}
	}
	return out
}

var bullets = [...]string{"•", "◦", "▪"}

// list is the items of a list, each moved in by the widest marker.
func (r *renderer) list(n *ast.List, width int, pen string, depth int) []string {
	level := 0
	for p := n.Parent(); p != nil && level < maxDepth; p = p.Parent() {
		if _, ok := p.(*ast.List); ok {
			level++
		}
	}
	indent := 2
	if n.IsOrdered() {
		indent = len(strconv.Itoa(n.Start+n.ChildCount()-1)) + 2
	}
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := bullets[min(level, len(bullets)-1)]
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + "."
			number++
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		out = append(out, r.item(item, mark, indent, width, pen, depth, n.IsTight)...)
	}
	return out
}

func (r *renderer) item(n ast.Node, mark string, indent, width int, pen string, depth int, tight bool) []string {
	if depth >= maxDepth || width-indent < narrow {
		lines := r.blocks(n, width, pen, depth+1, tight)
		return append([]string{styled(r.accent, text.Cut(mark, width))}, lines...)
	}
	lines := r.blocks(n, width-indent, pen, depth+1, tight)
	if len(lines) == 0 {
		lines = []string{""}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		switch {
		case i == 0:
			out[i] = text.Spaces(indent-1-text.Width(mark)) + styled(r.accent, mark) + " " + l
		case l != "":
			out[i] = text.Spaces(indent) + l
		}
	}
	return out
}
