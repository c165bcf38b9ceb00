package config

import (
	"slices"
	"strings"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// A Key describes one key of the configuration, for whoever explains it.
type Key struct {
	Name string
	Doc  string
	Kind Kind
	// What is the value in words: "a whole number from 1 up".
	What  string
	Words []string // all there are, where the value is one of a few words
	// Min is the lowest number taken; with Above it is the highest not taken.
	Min   *float64
	Above bool
	Max   *float64
	// Default is what holds when the key is absent in a run of several agents
	// that refine; empty where there is nothing to say.
	Default  string
	Required bool
	// Null says that null is the same as leaving the key out; Note is what there
	// is to say about that.
	Null bool
	Note string
	// Backends are the types a key of a backend is for; none means all. It is
	// required of those alone.
	Backends []string
	// Later marks keys that are known and not supported yet. A name that ends
	// in * stands for all that begin with it. Nothing else is said of them.
	Later bool
	// Advice is what to do in place of a key that is not supported.
	Advice string
	Keys   []Key // of a mapping, or of the mappings in a list
	// Each is what an element of a list or of a mapping with names of the user's
	// is; nil where Keys alone says it, or where it is anything.
	Each *Key
	// As is the definition of the schema that says its keys, where they are those
	// of another one and not repeated here.
	As string
	// Also are further types a value can have.
	Also []Kind
}

// A Kind is the type of a value, in the words of JSON Schema.
type Kind string

const (
	Bool   Kind = "boolean"
	Whole  Kind = "integer"
	Number Kind = "number"
	Text   Kind = "string"
	Map    Kind = "object"
	List   Kind = "array"
	Mixed  Kind = ""
)

// A row is a key of a mapping that fills a T.
type row[T any] struct {
	Key
	// read takes the value in, or reports why it cannot. It is nil for keys
	// that are not supported yet.
	read func(*reader, entry, *T)
	// apply changes the rules as the setting says; nil if it says nothing.
	apply func(*T, *event.Rules)
	// fixed says in which modes the setting is the mode's to make. In those
	// apply is left out.
	fixed func(event.Mode) bool
	// shown is the default, out of the default rules.
	shown func(event.Rules) string
}

// optional is a key whose absence is kept as nil.
func optional[T, V any](name string, v value[V], at func(*T) **V, doc string) row[T] {
	k := describe[T](name, v, doc)
	k.read = func(r *reader, e entry, into *T) {
		if x, ok := scan(r, e, v); ok {
			*at(into) = &x
		}
	}
	return k
}

// plain is a key whose absence is the zero value.
func plain[T, V any](name string, v value[V], at func(*T) *V, doc string) row[T] {
	k := describe[T](name, v, doc)
	k.read = func(r *reader, e entry, into *T) {
		if x, ok := scan(r, e, v); ok {
			*at(into) = x
		}
	}
	return k
}

// setting is a key that takes the place of one rule.
func setting[V any](name string, v value[V], at func(*Settings) **V, rule func(*event.Rules) *V, doc string) row[Settings] {
	k := optional(name, v, at, doc)
	k.apply = func(s *Settings, r *event.Rules) {
		if p := *at(s); p != nil {
			*rule(r) = *p
		}
	}
	k.shown = func(r event.Rules) string { return v.show(*rule(&r)) }
	return k
}

// section is a mapping that fills a part of T.
func section[T, S any](name string, rows []row[S], at func(*T) *S, doc string) row[T] {
	return row[T]{
		Key:  Key{Name: name, Doc: doc, Kind: Map, What: "a mapping", Keys: keys(rows)},
		read: func(r *reader, e entry, into *T) { fill(r, e, rows, at(into)) },
	}
}

// lifted are rows for a part of T, where they stand beside others for all of it.
func lifted[T, S any](rows []row[S], at func(*T) *S) []row[T] {
	var out []row[T]
	for _, k := range rows {
		up := row[T]{Key: k.Key, shown: k.shown}
		if k.read != nil {
			up.read = func(r *reader, e entry, into *T) { k.read(r, e, at(into)) }
		}
		out = append(out, up)
	}
	return out
}

// list is a list of mappings; each looks at one that was read.
func list[T, S any](name string, rows []row[S], each func(*reader, entry, *S), at func(*T) *[]S, doc string) row[T] {
	return row[T]{
		Key: Key{Name: name, Doc: doc, Kind: List, What: "a list", Keys: keys(rows)},
		read: func(r *reader, e entry, into *T) {
			items, _ := r.items(e)
			*at(into) = nil // a list of a lower layer is replaced
			for _, c := range items {
				var s S
				fill(r, c, rows, &s)
				if each != nil {
					each(r, c, &s)
				}
				*at(into) = append(*at(into), s)
			}
		},
	}
}

// values is a list of scalars.
func values[T, V any](name string, v value[V], at func(*T) *[]V, doc string) row[T] {
	each := describe[T]("", v, "").Key
	k := row[T]{Key: Key{Name: name, Doc: doc, Kind: List, What: "a list", Each: &each}}
	k.read = func(r *reader, e entry, into *T) {
		items, _ := r.items(e)
		*at(into) = nil
		for _, c := range items {
			if x, ok := scan(r, c, v); ok {
				*at(into) = append(*at(into), x)
			}
		}
	}
	return k
}

// later are keys that are known and not supported yet.
func later[T any](names string) []row[T] {
	var out []row[T]
	for _, n := range strings.Fields(names) {
		out = append(out, row[T]{Key: Key{Name: n, Later: true, Advice: advice[n]}})
	}
	return out
}

func describe[T, V any](name string, v value[V], doc string) row[T] {
	return row[T]{Key: Key{Name: name, Doc: doc, Kind: v.kind, What: v.what, Words: v.words, Min: v.min, Above: v.above, Max: v.max, Also: v.also}}
}

func (k row[T]) required() row[T]                  { k.Required = true; return k }
func (k row[T]) byDefault(s string) row[T]         { k.Default = s; return k }
func (k row[T]) only(types ...string) row[T]       { k.Backends = types; return k }
func (k row[T]) api() row[T]                       { return k.only(models()...) }
func (k row[T]) words(w ...string) row[T]          { k.Words = w; return k }
func (k row[T]) by(f func(event.Mode) bool) row[T] { k.fixed = f; return k }

// applying has f change the rules.
func (k row[T]) applying(f func(*T, *event.Rules)) row[T] { k.apply = f; return k }

// then has f look at what was read, whether or not it was in order.
func (k row[T]) then(f func(*reader, entry, *T)) row[T] {
	read := k.read
	k.read = func(r *reader, e entry, into *T) {
		read(r, e, into)
		f(r, e, into)
	}
	return k
}

// orNull has null stand for leaving the key out, with a warning if there is a
// note.
func (k row[T]) orNull(note string) row[T] {
	k.Null, k.Note = true, note
	read := k.read
	k.read = func(r *reader, e entry, into *T) {
		switch _, null := e.node.(*ast.NullNode); {
		case !null:
			read(r, e, into)
		case note != "":
			r.doubt(e, e.keyAt, e.key+" is null: "+note, "")
		}
	}
	return k
}

// fill reads a mapping by its table.
func fill[T any](r *reader, e entry, rows []row[T], into *T) {
	entries, ok := r.entries(e)
	if !ok {
		return
	}
	given := map[string]bool{}
	for _, c := range entries {
		given[c.key] = true
		k := find(rows, c.key)
		switch {
		case k == nil && strings.HasPrefix(c.key, "x-"): // the user's own: a place for anchors
		case k == nil:
			r.unknown(c, keys(rows))
		case k.read == nil:
			r.doubt(c, c.keyAt, quoted(clip(c.key))+" is not supported yet and has no effect", k.Advice)
		default:
			if c.node, ok = r.resolve(c); ok {
				k.read(r, c, into)
			}
			r.given[c.path] = c
		}
	}
	for _, k := range rows {
		if k.Required && k.Backends == nil && !given[k.Name] {
			hint := ""
			if len(k.Words) > 0 {
				hint = "it is " + oneOf(k.Words)
			}
			r.fault(entry{path: join(e.path, k.Name)}, e.valueAt(), k.Name+" is missing", hint)
		}
	}
}

func find[T any](rows []row[T], name string) *row[T] {
	for i, k := range rows {
		prefix, open := strings.CutSuffix(k.Name, "*")
		if k.Name == name || open && strings.HasPrefix(name, prefix) {
			return &rows[i]
		}
	}
	return nil
}

// unknown warns of a key that is in no table, with the one that was meant: one of
// the mapping it stands in that a slip of the hand makes of it, the same one
// elsewhere, or the nearest of the mapping.
func (r *reader) unknown(e entry, known []Key) {
	var here, yet []string
	for _, k := range known {
		switch {
		case !k.Later:
			here = append(here, k.Name)
		case !strings.HasSuffix(k.Name, "*"):
			yet = append(yet, k.Name)
		}
	}
	var hint string
	slip := slices.ContainsFunc(here, func(k string) bool { return len(k) > 3 && Slips(e.key, k) == 1 })
	if p := placeOf(e.key, r.keys(), ""); p != "" && !slip {
		hint = "it belongs under " + p
	} else {
		hint = didYouMean(e.key, append(here, yet...)) // what is supported comes first
	}
	r.doubt(e, e.keyAt, "unknown key "+quoted(clip(e.key)), hint)
}

// placeOf is the mapping in which a supported key of that name is at home.
func placeOf(name string, in []Key, path string) string {
	if path != "" && slices.ContainsFunc(in, func(k Key) bool { return k.Name == name && !k.Later }) {
		return path
	}
	for _, k := range in {
		at := join(path, k.Name)
		if k.Kind == List {
			at += "[]"
		}
		if p := placeOf(name, k.Keys, at); p != "" {
			return p
		}
	}
	return ""
}

// keys are the descriptions of a table, defaults filled in.
func keys[T any](rows []row[T]) []Key {
	defaults := event.Defaults(event.Mode{})
	var out []Key
	for _, k := range rows {
		if k.shown != nil && k.Default == "" {
			k.Default = k.shown(defaults)
		}
		out = append(out, k.Key)
	}
	return out
}
