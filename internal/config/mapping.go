package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// maxMerges bounds what merge keys take in: mappings that merge each other twice
// grow without end on very little text.
const maxMerges = 1000

// entries are the keys of a mapping, those it merges in last. A key given twice
// is reported and counts once; of merged ones the first counts, as YAML has it.
func (r *reader) entries(e entry) ([]entry, bool) {
	if _, null := e.node.(*ast.NullNode); null && e.path != "" {
		return nil, true // everything in it is commented out
	}
	if !isMap(e.node) {
		r.mustBe(e, "a mapping", "")
		return nil, false
	}
	seen := map[string]position{}
	var out []entry
	var merged []ast.Node
	for _, v := range pairs(e.node) {
		name, ok := keyName(v.Key)
		at := tokenAt(v.Key.GetToken())
		switch first, again := seen[name]; {
		case v.Key.IsMergeKey():
			merged = append(merged, v.Value)
		case !ok:
			r.fault(e, at, "a key must be text", "")
		case looksSecret(name):
			r.secretKey(e, at)
		case again:
			r.fault(e, at, fmt.Sprintf("%s is given twice; the first is at line %d", quoted(clip(name)), first.line), "")
		default:
			seen[name] = at
			out = append(out, child(e, name, v))
		}
	}
	for _, n := range merged {
		out = r.merge(out, e, n, seen, nil)
	}
	return out, true
}

// secretKey reports a key that looks like a secret, without showing it.
func (r *reader) secretKey(e entry, at position) {
	e.node = nil
	r.fault(e, at, "this key of a mapping looks like a secret", "")
}

// child is an entry as it is written; its value may be an alias.
func child(e entry, name string, v *ast.MappingValueNode) entry {
	return entry{file: e.file, path: join(e.path, name), key: name, keyAt: tokenAt(v.Key.GetToken()), node: v.Value}
}

// merge takes in the keys of a mapping, or of a list of mappings, that seen does
// not have yet. Inside are the mappings it is being called from.
func (r *reader) merge(out []entry, e entry, n ast.Node, seen map[string]position, inside []ast.Node) []entry {
	n, ok := r.resolve(entry{file: e.file, path: e.path, key: "<<", keyAt: e.keyAt, node: n})
	if !ok {
		return out
	}
	if s, ok := n.(*ast.SequenceNode); ok && len(inside) == 0 {
		for _, one := range s.Values {
			out = r.merge(out, e, one, seen, []ast.Node{s})
		}
		return out
	}
	if !isMap(n) {
		r.fault(e, entry{node: n}.valueAt(), "only mappings can be merged", "")
		return out
	}
	for _, o := range inside {
		if o == n {
			r.fault(e, entry{node: n}.valueAt(), "this mapping merges itself", "")
			return out
		}
	}
	inside = append(inside[:len(inside):len(inside)], n)
	for _, v := range pairs(n) {
		if r.merges++; r.merges > maxMerges {
			if r.merges == maxMerges+1 {
				r.fault(e, tokenAt(v.Key.GetToken()), fmt.Sprintf("more than %d keys are merged in", maxMerges), "")
			}
			return out
		}
		if v.Key.IsMergeKey() {
			out = r.merge(out, e, v.Value, seen, inside)
			continue
		}
		name, ok := keyName(v.Key)
		if ok && looksSecret(name) {
			r.secretKey(e, tokenAt(v.Key.GetToken()))
			continue
		}
		if _, have := seen[name]; ok && !have {
			seen[name] = tokenAt(v.Key.GetToken())
			out = append(out, child(e, name, v))
		}
	}
	return out
}

// pairs are the entries of a mapping as the parser has them.
func pairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func keyName(k ast.MapKeyNode) (string, bool) {
	var n ast.Node = k
	if q, ok := k.(*ast.MappingKeyNode); ok { // "? key"
		n = q.Value
	}
	s, ok := n.(ast.ScalarNode)
	if !ok {
		return "", false
	}
	if t, ok := s.(*ast.StringNode); ok {
		return t.Value, true
	}
	return s.GetToken().Value, true
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
