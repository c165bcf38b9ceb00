package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A text is what is said: plain, or a template over a [Scene].
type text struct {
	at    string // file:line:col, for what goes wrong when it is played
	plain string
	tmpl  *template.Template
}

func (t text) render(s *Scene) (string, error) {
	if t.tmpl == nil {
		return t.plain, nil
	}
	var b strings.Builder
	if err := t.tmpl.Execute(&b, s); err != nil {
		// Its own place is inside the text; the file's is of more use.
		if _, what, ok := strings.Cut(err.Error(), `executing "text" at `); ok {
			err = errors.New(what)
		}
		return "", fmt.Errorf("%s: %w", t.at, err)
	}
	return b.String(), nil
}

// sceneFields are the names a template may follow a dot with.
var sceneFields = []string{"Task", "Label", "Own", "Peers", "Answers", "Call", "Result", "Said", "Reply", "Results", "System", "Revision", "Text", "Yours"}

// template is a text that is checked as far as it can be without being played.
func (r *reader) template(f field) text {
	return r.templateAt(r.text(f), f)
}

func (r *reader) templateAt(s string, f field) text {
	at := place(f.value, f.at).Position
	t := text{at: fmt.Sprintf("%s:%d:%d", r.file, at.Line, at.Column), plain: s}
	if !strings.Contains(s, "{{") {
		return t
	}
	tmpl, err := template.New("text").Funcs(funcs).Parse(s)
	if err != nil {
		r.templateError(f, s, err)
		return t
	}
	walk(tmpl.Root, func(n parse.Node, name string) {
		if !contains(sceneFields, name) {
			line, column := r.inside(f, s, int(n.Position()))
			r.errorf(line, column, "."+name, "unknown field .%s in a template%s", name, nearest(name, sceneFields))
		}
	})
	t.tmpl = tmpl
	return t
}

// templateError reports what the template package found. It names a line and no
// column; the first template of the line is the place.
func (r *reader) templateError(f field, s string, err error) {
	where, message, _ := strings.Cut(strings.TrimPrefix(err.Error(), "template: text:"), ": ")
	n, nerr := strconv.Atoi(where)
	if nerr != nil {
		r.fail(place(f.value, f.at), "%v", err)
		return
	}
	offset := 0
	for range n - 1 {
		offset += strings.IndexByte(s[offset:], '\n') + 1
	}
	offset += max(0, strings.Index(s[offset:], "{{"))
	line, column := r.inside(f, s, offset)
	if _, name, ok := strings.Cut(message, `function "`); ok {
		name, _, _ = strings.Cut(name, `"`)
		r.errorf(line, column, name, "unknown function %q in a template%s", name, nearest(name, funcNames()))
		return
	}
	word, _, _ := strings.Cut(s[offset:], "\n")
	r.errorf(line, column, word, "bad template: %s", message)
}

// inside is the place in the file of an offset into a value. It is exact in
// block scalars and in what is written on one line without escapes.
func (r *reader) inside(f field, s string, offset int) (line, column int) {
	at := place(f.value, f.at).Position
	before := s[:min(offset, len(s))]
	rows := strings.Count(before, "\n")
	last := before[strings.LastIndexByte(before, '\n')+1:]
	lit, ok := f.value.(*ast.LiteralNode)
	if !ok {
		return at.Line, r.column(at, s, before)
	}
	if !strings.HasPrefix(lit.Start.Value, "|") {
		return at.Line + 1, r.indent(at.Line+1) + 1
	}
	line = at.Line + 1 + rows
	return line, r.indent(at.Line+1) + len([]rune(last)) + 1
}

// column is where a value on one line goes on after the part before.
func (r *reader) column(at *token.Position, s, before string) int {
	row := []rune(r.lines[at.Line-1])
	for _, quote := range []int{0, 1} {
		start := at.Column - 1 + quote
		if start <= len(row) && strings.HasPrefix(string(row[start:]), s) {
			return start + len([]rune(before)) + 1
		}
	}
	return at.Column
}

// indent is how far a line of the file is set in.
func (r *reader) indent(line int) int {
	if line > len(r.lines) {
		return 0
	}
	l := r.lines[line-1]
	return len(l) - len(strings.TrimLeft(l, " "))
}

// walk calls see for every field a template names.
func walk(n parse.Node, see func(at parse.Node, name string)) {
	all := func(names []string) {
		for _, name := range names {
			see(n, name)
		}
	}
	branch := func(b *parse.BranchNode) {
		walk(b.Pipe, see)
		walk(b.List, see)
		if b.ElseList != nil {
			walk(b.ElseList, see)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, c := range n.Nodes {
			walk(c, see)
		}
	case *parse.ActionNode:
		walk(n.Pipe, see)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			walk(c, see)
		}
	case *parse.CommandNode:
		for _, a := range n.Args {
			walk(a, see)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			walk(n.Pipe, see)
		}
	case *parse.FieldNode:
		all(n.Ident)
	case *parse.VariableNode:
		all(n.Ident[1:])
	case *parse.ChainNode:
		walk(n.Node, see)
		all(n.Field)
	}
}
