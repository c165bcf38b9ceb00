package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A reader goes through one configuration and collects what is wrong with it.
// After a problem it goes on with what is left.
type reader struct {
	file     string
	lines    []string
	lookup   func(string) (string, bool) // environment variables
	keys     func() []Key                // the whole table
	empty    string                      // what is said of a file with nothing in it, if it is no configuration
	anchors  map[string][]*ast.AnchorNode
	merges   int                      // entries taken in by merge keys
	given    map[string]entry         // every supported key that is given, by path
	keyed    map[event.AgentID]string // keys that are written out
	copied   int                      // pieces of values that are taken as they are
	ids      map[event.AgentID]entry
	named    []named
	unable   []unable
	problems []Problem
}

// An entry is one key of a mapping with its value, or one element of a list.
type entry struct {
	file  string   // in which it stands; empty is the reader's
	path  string   // "orchestrator.max_tokens"; empty for the whole
	key   string   // how messages call it
	keyAt position // zero for the whole
	node  ast.Node // the value
}

// valueAt is where the value stands; one that was left out stands at its key.
func (e entry) valueAt() position {
	switch n := e.node.(type) {
	case nil:
	case *ast.NullNode:
		if e.keyAt == (position{}) {
			return tokenAt(n.GetToken())
		}
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return tokenAt(n.Values[0].Key.GetToken())
		}
		return tokenAt(n.GetToken())
	case *ast.MappingValueNode:
		return tokenAt(n.Key.GetToken())
	default:
		return tokenAt(n.GetToken())
	}
	if e.keyAt == (position{}) {
		return position{1, 1}
	}
	return e.keyAt
}

// plain reports a problem of the text as such.
func (r *reader) plain(at position, message string) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: at.line, Column: at.column, Message: message, Excerpt: r.excerpt(at, false),
	})
}

// fault reports an error that concerns an entry.
func (r *reader) fault(e entry, at position, message, suggestion string) {
	r.report(e, at, message, suggestion, false)
}

// doubt reports a warning that concerns an entry.
func (r *reader) doubt(e entry, at position, message, suggestion string) {
	r.report(e, at, message, suggestion, true)
}

// note says something about an entry that is in order.
func (r *reader) note(e entry, message string) {
	r.doubt(e, e.keyAt, message, "")
	r.problems[len(r.problems)-1].Note = true
}

func (r *reader) report(e entry, at position, message, suggestion string, warning bool) {
	p := Problem{
		File: cmp.Or(e.file, r.file), Line: at.line, Column: at.column, Key: e.path,
		Message: message, Suggestion: suggestion, Warning: warning,
	}
	if !secret(e.path) && at != e.keyAt {
		p.Text = written(e.node)
	}
	if !secret(e.path) && p.File == r.file {
		p.Excerpt = r.excerpt(at, at == e.keyAt)
	}
	r.problems = append(r.problems, p)
}

// mustBe reports a value of the wrong type or outside its limits.
func (r *reader) mustBe(e entry, what, suggestion string) {
	if secret(e.path) {
		r.fault(e, e.valueAt(), fmt.Sprintf("%s must be %s", e.key, what), "")
		return
	}
	r.fault(e, e.valueAt(), fmt.Sprintf("%s must be %s, not %s", e.key, what, shown(e.node)), suggestion)
}

// resolve follows anchors and aliases to the value they stand for. It reports a
// value that stands for nothing, or for itself.
func (r *reader) resolve(e entry) (ast.Node, bool) {
	first := e.node
	for range maxDepth {
		switch n := e.node.(type) {
		case *ast.AnchorNode:
			e.node = n.Value
		case *ast.AliasNode:
			e.node = r.anchor(n)
			if e.node == nil {
				r.fault(e, tokenAt(n.GetToken()), "this alias has no anchor before it", "")
				return nil, false
			}
		case *ast.TagNode:
			r.fault(e, tokenAt(n.GetToken()), "YAML tags mean nothing here; remove it", "")
			return nil, false
		default:
			return n, true
		}
	}
	e.node = nil
	r.fault(e, tokenAt(first.GetToken()), "this stands for itself", "")
	return nil, false
}

// anchor is the value an alias repeats: that of the last anchor of its name
// before it.
func (r *reader) anchor(alias *ast.AliasNode) ast.Node {
	var found ast.Node
	for _, a := range r.anchors[alias.Value.GetToken().Value] {
		if tokenAt(a.GetToken()).before(tokenAt(alias.GetToken())) {
			found = a.Value
		}
	}
	return found
}

// anchorsIn lists the anchors of a tree by name, in the order of the text.
func anchorsIn(root ast.Node) map[string][]*ast.AnchorNode {
	found := anchorList{}
	ast.Walk(found, root)
	return found
}

type anchorList map[string][]*ast.AnchorNode

func (l anchorList) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		name := a.Name.GetToken().Value
		l[name] = append(l[name], a)
	}
	return l
}

// items are the elements of a list.
func (r *reader) items(e entry) ([]entry, bool) {
	s, ok := e.node.(*ast.SequenceNode)
	if !ok {
		hint := ""
		if isMap(e.node) {
			hint = "put a dash before each element"
		}
		r.mustBe(e, "a list", hint)
		return nil, false
	}
	var out []entry
	for i, n := range s.Values {
		c := entry{file: e.file, path: e.path + "[" + strconv.Itoa(i) + "]", key: "an element of " + e.key, keyAt: tokenAt(n.GetToken()), node: n}
		if c.node, ok = r.resolve(c); ok {
			out = append(out, c)
		}
	}
	return out, true
}

// written is a scalar as it stands in the file.
func written(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return clip(masked(n.GetToken().Value))
	case *ast.LiteralNode:
		return clip(masked(n.Value.Value))
	}
	return ""
}

// shown is a value as a message speaks of it.
func shown(n ast.Node) string {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		if bare(n) && decimal.MatchString(n.Value) { // too large for YAML, or 1e3
			return written(n)
		}
		return quoted(written(n))
	case *ast.LiteralNode:
		return quoted(written(n))
	}
	return written(n)
}

// bare reports whether a text stands there without quotation marks.
func bare(n *ast.StringNode) bool {
	return n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType
}

func quoted(s string) string { return strconv.Quote(s) }

// clip keeps long values out of messages.
func clip(s string) string {
	const most = 60
	if c := []rune(s); len(c) > most {
		return string(c[:most]) + "…"
	}
	return s
}

func isMap(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// A scalar is one value, its variables expanded.
type scalar struct {
	text string
	// bare is text without quotation marks, which may stand for a number or a
	// truth value; typed says that YAML takes it for one.
	bare, typed bool
}

// scalar is the value of an entry as one piece of text. With refer its variables
// must be set and stay as they are written.
func (r *reader) scalar(e entry, what string, refer bool) (scalar, bool) {
	var s scalar
	switch n := e.node.(type) {
	case *ast.StringNode:
		s = scalar{text: n.Value, bare: bare(n)}
	case *ast.LiteralNode:
		s = scalar{text: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return scalar{n.GetToken().Value, true, true}, true
	default:
		r.mustBe(e, what, "")
		return scalar{}, false
	}
	if looksSecret(s.text) && r.refuseSecret(e, "", s.text) {
		return scalar{}, false
	}
	if !strings.Contains(s.text, "${") {
		return s, true
	}
	text, ok := r.expand(e, s.text, refer)
	if refer {
		return s, ok
	}
	return scalar{text: text, bare: true}, ok
}
