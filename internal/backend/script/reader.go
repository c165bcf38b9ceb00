package script

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A reader walks a YAML tree and collects everything that is wrong with it.
// After a problem it goes on with a zero value.
type reader struct {
	file     string
	lines    []string
	problems []*Error
}

// A field is one entry of a mapping.
type field struct {
	key   string
	at    *token.Token // of the key
	value ast.Node
}

func (r *reader) errorf(line, column int, text, format string, args ...any) {
	r.problems = append(r.problems, &Error{File: r.file, Line: line, Column: column, Text: text, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) fail(at *token.Token, format string, args ...any) {
	r.errorf(at.Position.Line, at.Position.Column, at.Value, format, args...)
}

// root is the one document of the file, nil if there is none to be had.
func (r *reader) root(src string) ast.Node {
	f, err := parser.ParseBytes([]byte(src), 0)
	if err != nil {
		r.syntax(err)
		return nil
	}
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		r.errorf(1, 1, "", "the script is empty")
		return nil
	}
	if len(f.Docs) > 1 {
		at := f.Docs[1].Start
		if at == nil {
			at = f.Docs[1].GetToken()
		}
		r.fail(at, "a second document; a script is one")
	}
	return f.Docs[0].Body
}

func (r *reader) syntax(err error) {
	if e, ok := err.(yaml.Error); ok && e.GetToken() != nil && e.GetToken().Position != nil {
		at := e.GetToken()
		r.errorf(at.Position.Line, at.Position.Column, strings.TrimSpace(at.Value), "%s", e.GetMessage())
		return
	}
	r.errorf(1, 1, "", "%v", err)
}

// fields are the entries of a mapping whose keys are all known.
func (r *reader) fields(n ast.Node, at *token.Token, what string, known ...string) []field {
	var out []field
	for _, f := range r.entries(n, at, what) {
		if !contains(known, f.key) {
			r.fail(f.at, "unknown key %q in %s%s", f.key, what, nearest(f.key, known))
			continue
		}
		out = append(out, f)
	}
	return out
}

// entries are the entries of a mapping whatever their keys.
func (r *reader) entries(n ast.Node, at *token.Token, what string) []field {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		r.fail(place(n, at), "%s must be a mapping, not %s", what, kind(n))
		return nil
	}
	var out []field
	for _, v := range m.Values {
		k, ok := v.Key.(ast.ScalarNode)
		if !ok || v.Key.IsMergeKey() {
			r.fail(v.Key.GetToken(), "%s is not a key a script can have", v.Key.GetToken().Value)
			continue
		}
		out = append(out, field{k.GetToken().Value, k.GetToken(), v.Value})
	}
	return out
}

// items are the elements of a list, under the list's key.
func (r *reader) items(f field) []field {
	s, ok := f.value.(*ast.SequenceNode)
	if !ok {
		r.fail(place(f.value, f.at), "%s must be a list, not %s", f.key, kind(f.value))
		return nil
	}
	var out []field
	for i, v := range s.Values {
		at := f.at
		if !s.IsFlowStyle && i < len(s.Entries) {
			at = s.Entries[i].Start // the dash
		}
		out = append(out, field{f.key, at, v})
	}
	return out
}

// oneOrMore is a value alone, or each element of a list.
func (r *reader) oneOrMore(f field) []field {
	if _, ok := f.value.(*ast.SequenceNode); !ok {
		return []field{f}
	}
	return r.items(f)
}

// written is a scalar as a string; numbers and booleans as they were written.
func written(n ast.Node) (s string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func (r *reader) text(f field) string {
	if s, ok := written(f.value); ok {
		return s
	}
	r.fail(place(f.value, f.at), "%s must be text, not %s", f.key, kind(f.value))
	return ""
}

func (r *reader) bool(f field) bool {
	if b, ok := f.value.(*ast.BoolNode); ok {
		return b.Value
	}
	r.fail(place(f.value, f.at), "%s must be true or false, not %s", f.key, shown(f.value))
	return false
}

func (r *reader) number(f field) float64 {
	var v float64
	switch f.value.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		v, _ = strconv.ParseFloat(strings.ReplaceAll(f.value.GetToken().Value, "_", ""), 64)
		if v >= 0 && v <= math.MaxInt32 {
			return v
		}
	}
	r.fail(place(f.value, f.at), "%s must be a number from 0 up, not %s", f.key, shown(f.value))
	return 0
}

func (r *reader) integer(f field) int64 {
	if n, ok := f.value.(*ast.IntegerNode); ok {
		if v, err := strconv.ParseInt(fmt.Sprint(n.Value), 10, 64); err == nil && v >= 0 {
			return v
		}
	}
	r.fail(place(f.value, f.at), "%s must be a whole number from 0 up, not %s", f.key, shown(f.value))
	return 0
}

func (r *reader) duration(f field) time.Duration {
	s, _ := written(f.value)
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		r.fail(place(f.value, f.at), "%s must be a duration such as 400ms or 1.5s, not %s", f.key, shown(f.value))
		return 0
	}
	return d
}

func (r *reader) regexp(f field) *regexp.Regexp {
	re, err := regexp.Compile(r.text(f))
	if err != nil {
		r.fail(place(f.value, f.at), "%s is not a regular expression: %s", f.key, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re
}

// word is a text that must be one of the known.
func (r *reader) word(f field, known ...string) string {
	w := r.text(f)
	if w != "" && !contains(known, w) {
		r.fail(place(f.value, f.at), "%s cannot be %q%s", f.key, w, nearest(w, known))
		return ""
	}
	return w
}

// place is where a value stands; one that was left out stands at its key.
func place(n ast.Node, key *token.Token) *token.Token {
	switch n := n.(type) {
	case nil:
		return key
	case *ast.NullNode:
		if n.Token.Type == token.ImplicitNullType {
			return key
		}
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	}
	return n.GetToken()
}

// shown is a value as a message quotes it.
func shown(n ast.Node) string {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return strconv.Quote(n.GetToken().Value)
	}
	return kind(n)
}

// kind is what a value is, in words.
func kind(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor (scripts have none)"
	case *ast.TagNode:
		return "a tag (scripts have none)"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	}
	return "text"
}

func contains(known []string, w string) bool {
	for _, k := range known {
		if k == w {
			return true
		}
	}
	return false
}
