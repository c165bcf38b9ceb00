package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// custom is a key that is read by a function of its own.
func custom[T any](name string, k Kind, what string, read func(*reader, entry, *T), doc string) row[T] {
	return row[T]{Key: Key{Name: name, Doc: doc, Kind: k, What: what}, read: read}
}

// ignored is a key that is checked and changes nothing: what it asks for is so
// anyway.
func ignored[T, V any](name string, v value[V], doc string) row[T] {
	return plain(name, v, func(*T) *V { return new(V) }, doc)
}

// names is a mapping whose keys are the user's own.
func names[T, V any](name string, v value[V], at func(*T) *map[string]V, doc string) row[T] {
	each := describe[T]("", v, "").Key
	k := row[T]{Key: Key{Name: name, Doc: doc, Kind: Map, What: "a mapping of names to " + v.what, Each: &each}}
	k.read = func(r *reader, e entry, into *T) {
		entries, _ := r.entries(e)
		out := map[string]V{}
		for _, c := range entries {
			var ok bool
			if c.node, ok = r.resolve(c); !ok {
				continue
			}
			if x, ok := scan(r, c, v); ok {
				out[c.key] = x
			}
		}
		*at(into) = out
	}
	return k
}

// forwarded is a key that is sent along as it stands.
func forwarded(name, doc string) row[draft] {
	return custom(name, Mixed, "a number, a truth value, text or a mapping", func(r *reader, e entry, a *draft) {
		if v, ok := r.raw(e, 0); ok {
			a.forward(e.key, v)
		}
	}, doc)
}

func (a *draft) forward(name string, v any) {
	p, err := json.Marshal(v)
	if err != nil {
		return // cannot be: raw makes nothing that JSON does not have
	}
	if a.API.Extra == nil {
		a.API.Extra = map[string]json.RawMessage{}
	}
	a.API.Extra[name] = p
}

// extraBody takes a mapping as it stands.
func extraBody(r *reader, e entry, a *draft) {
	if !isMap(e.node) {
		r.mustBe(e, "a mapping", "")
		return
	}
	v, ok := r.raw(e, 0)
	if !ok {
		return
	}
	body := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(body)) {
		a.forward(name, body[name])
	}
}

// maxCopied bounds what is taken as it stands: aliases of aliases grow without
// end on very little text.
const maxCopied = 10_000

// raw is a value as JSON has it.
func (r *reader) raw(e entry, depth int) (any, bool) {
	if r.copied++; r.copied > maxCopied || depth > maxDepth {
		if r.copied <= maxCopied || r.copied == maxCopied+1 {
			r.copied = maxCopied + 1
			r.fault(e, e.valueAt(), "this is too much to be sent along", "")
		}
		return nil, false
	}
	switch n := e.node.(type) {
	case *ast.NullNode:
		return nil, true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.IntegerNode:
		return n.Value, true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode:
		return n.Value, r.asItStands(e, n.Value)
	case *ast.LiteralNode:
		return n.Value.Value, r.asItStands(e, n.Value.Value)
	case *ast.SequenceNode:
		return r.rawList(e, depth)
	}
	if !isMap(e.node) {
		r.mustBe(e, "something that JSON has", "")
		return nil, false
	}
	return r.rawMap(e, depth)
}

func (r *reader) rawList(e entry, depth int) (any, bool) {
	items, ok := r.items(e)
	out := []any{}
	for _, c := range items {
		v, fine := r.raw(c, depth+1)
		ok = ok && fine
		out = append(out, v)
	}
	return out, ok
}

func (r *reader) rawMap(e entry, depth int) (any, bool) {
	entries, ok := r.entries(e)
	out := map[string]any{}
	for _, c := range entries {
		var fine bool
		if c.node, fine = r.resolve(c); fine {
			out[c.key], fine = r.raw(c, depth+1)
		}
		ok = ok && fine
	}
	return out, ok
}

// asItStands refuses what must not be in a text that is logged and sent.
func (r *reader) asItStands(e entry, s string) bool {
	if plainReference(s) {
		r.fault(e, e.valueAt(), fmt.Sprintf("variables have no meaning in %s", e.key), "write the value itself")
		return false
	}
	return !r.refuseSecret(e, e.key, s)
}
