package planfile

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"conclave/internal/event"
)

// The bounds of a plan that is taken apart. There is Markdown that takes a time
// which grows with the square of its length.
const (
	longest = 32 << 10 // bytes
	most    = 500      // tasks
)

// Tasks are what a plan says is to be done, read from its Markdown: the boxes to
// be ticked, if there are any; else the items of its numbered lists; else those
// of its other lists. What stands below an item is part of it. A plan that is
// prose has none, and neither has one beyond the bounds: it is read as it is.
func Tasks(plan string) []event.Task {
	if len(plan) > longest {
		return nil
	}
	src := []byte(plan)
	var boxes, numbered, listed []string
	doc := goldmark.DefaultParser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		list, ok := n.(*ast.List)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		for item := list.FirstChild(); item != nil; item = item.NextSibling() {
			what, box := unticked(words(item.FirstChild(), src))
			switch {
			case what == "":
			case box:
				boxes = append(boxes, what)
			case nested(list):
			case list.IsOrdered():
				numbered = append(numbered, what)
			default:
				listed = append(listed, what)
			}
		}
		return ast.WalkContinue, nil
	})
	found := boxes
	if len(found) == 0 {
		found = numbered
	}
	if len(found) == 0 {
		found = listed
	}
	if len(found) > most {
		return nil
	}
	var out []event.Task
	for i, what := range found {
		out = append(out, event.Task{ID: strconv.Itoa(i + 1), Text: what})
	}
	return out
}

func nested(list ast.Node) bool {
	_, in := list.Parent().(*ast.ListItem)
	return in
}

// unticked is the text after a box, and whether there is one.
func unticked(s string) (string, bool) {
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		if rest, ok := strings.CutPrefix(s, box); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return s, false
}

// words is the text of a block on one line, without marks.
func words(block ast.Node, src []byte) string {
	var b strings.Builder
	if block == nil || block.Kind() == ast.KindList {
		return ""
	}
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(src))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
