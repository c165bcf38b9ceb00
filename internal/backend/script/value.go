package script

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// A value is a tool's input as written in YAML: it becomes JSON with its keys
// in the written order and its texts rendered.
type value interface {
	write(*bytes.Buffer, *Scene) error
}

type (
	object []member
	member struct {
		key   string
		value value
	}
	list   []value
	scalar string // JSON as it stands
)

// maxDepth bounds how deep an input may be nested.
const maxDepth = 64

func (r *reader) value(f field, depth int) value {
	if depth > maxDepth {
		r.fail(place(f.value, f.at), "nested more than %d deep", maxDepth)
		return scalar("null")
	}
	switch n := f.value.(type) {
	case *ast.MappingNode:
		out := object{}
		for _, e := range r.entries(n, f.at, f.key) {
			out = append(out, member{e.key, r.value(e, depth+1)})
		}
		return out
	case *ast.SequenceNode:
		out := list{}
		for _, e := range r.items(f) {
			out = append(out, r.value(e, depth+1))
		}
		return out
	case *ast.NullNode:
		return scalar("null")
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		p, err := json.Marshal(n.(ast.ScalarNode).GetValue())
		if err == nil {
			return scalar(p)
		}
	case *ast.StringNode, *ast.LiteralNode:
		return r.template(f)
	}
	r.fail(place(f.value, f.at), "%s cannot be %s", f.key, kind(f.value))
	return scalar("null")
}

func (o object) write(b *bytes.Buffer, s *Scene) error {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.key))
		b.WriteByte(':')
		if err := m.value.write(b, s); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func (l list) write(b *bytes.Buffer, s *Scene) error {
	b.WriteByte('[')
	for i, v := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := v.write(b, s); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func (v scalar) write(b *bytes.Buffer, _ *Scene) error {
	b.WriteString(string(v))
	return nil
}

func (t text) write(b *bytes.Buffer, s *Scene) error {
	out, err := t.render(s)
	b.Write(encode(out))
	return err
}

// encode is v as JSON, with < and > left readable.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("script: %T has no JSON form: %v", v, err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
