package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// UserFile is the configuration a user has for all projects, if there is one:
// conclave/config.yaml in the XDG directory for configurations. The path is
// empty if there is none.
func UserFile() (string, bool) {
	dir, ok := UserDir()
	if !ok {
		return "", false
	}
	path := filepath.Join(dir, "config.yaml")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	return path, true
}

// UserDir is where a user's own configuration is, or would be.
func UserDir() (string, bool) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // as the XDG specification has it
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", false
		}
	}
	return filepath.Join(dir, "conclave"), true
}

// ProjectFile is the configuration of the project that a directory belongs to,
// if it has one: .conclave/config.yaml in it or in the nearest directory above
// that has a .conclave.
func ProjectFile(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for d := dir; ; d = filepath.Dir(d) {
		state := filepath.Join(d, ".conclave")
		if info, err := os.Stat(state); err == nil && info.IsDir() {
			path := filepath.Join(state, "config.yaml")
			_, err := os.Stat(path)
			return path, err == nil
		}
		if d == filepath.Dir(d) {
			return filepath.Join(dir, ".conclave", "config.yaml"), false
		}
	}
}

// LoadOver reads a configuration over another, such as the [UserFile]: of keys
// that both give, those of path count; lists are not joined. Either may be
// empty. Without a path the base need not name agents.
func LoadOver(base, path string) (*File, error) {
	var layers []layer
	for _, l := range []layer{{name: base, base: true}, {name: path}} {
		if l.name == "" {
			continue
		}
		src, err := read(l.name)
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		l.src = src
		layers = append(layers, l)
	}
	if len(layers) == 0 {
		return nil, fmt.Errorf("read configuration: no file is named")
	}
	return parse(layers, exists)
}

// onto puts a reader's findings over those of the layer below. What is wrong
// with agents of the lower layer is nobody's concern if the upper has its own.
func (r *reader) onto(below *reader) *reader {
	if below == nil {
		return r
	}
	_, several := r.given["agents"]
	_, alone := r.given["agent"]
	hidden := func(path string) bool {
		root, _, _ := strings.Cut(path, ".")
		root, _, _ = strings.Cut(root, "[")
		if (several || alone) && (root == "agents" || root == "agent") {
			return true
		}
		for _, b := range ownBackends {
			if _, own := r.given[b]; own && strings.HasPrefix(path, b+".") {
				return true
			}
		}
		return slices.ContainsFunc(lists(path), func(l string) bool { _, ok := r.given[l]; return ok })
	}
	for path, e := range below.given {
		if _, ok := r.given[path]; !ok && !hidden(path) {
			r.given[path] = e
		}
	}
	below.problems = slices.DeleteFunc(below.problems, func(p Problem) bool { return hidden(p.Key) })
	below.named = slices.DeleteFunc(below.named, func(n named) bool { return hidden(n.entry.path) })
	r.problems = append(below.problems, r.problems...)
	r.named = append(below.named, r.named...)
	return r
}

// lists are the lists that a path leads through: a[0].b[1].c is in a and a[0].b.
func lists(path string) []string {
	var out []string
	for i, c := range path {
		if c == '[' {
			out = append(out, path[:i])
		}
	}
	return out
}

// An Origin is where a key was set.
type Origin struct {
	Path   string // "agents[0].backend.model"
	File   string
	Line   int
	Column int
	// Value is what was written; secrets are not shown.
	Value string
}

// origins are where the keys that are given stand.
func (r *reader) origins() []Origin {
	var out []Origin
	for path, e := range r.given {
		if isMap(e.node) && e.key != "extra_body" {
			continue // its keys have origins of their own
		}
		out = append(out, Origin{Path: path, File: e.file, Line: e.keyAt.line, Column: e.keyAt.column, Value: shownValue(e)})
	}
	slices.SortFunc(out, func(a, b Origin) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func shownValue(e entry) string {
	s, list := e.node.(*ast.SequenceNode)
	switch text := written(e.node); {
	case secret(e.path) && !plainReference(text):
		return "(not shown)"
	case list && len(s.Values) == 1:
		return "a list of 1"
	case list:
		return fmt.Sprintf("a list of %d", len(s.Values))
	case isMap(e.node):
		return "a mapping"
	case e.node == nil || isNull(e.node):
		return "null"
	default:
		return text
	}
}

// guard keeps the presenter from rewriting the configuration it was started
// from: the next run would trust it.
func (f *File) guard() {
	self, err := filepath.Abs(f.Path)
	if err != nil {
		return
	}
	protect(f.Settings.ContextPaths, self)
	for _, a := range f.everybody() {
		protect(a.ContextPaths, self)
	}
}

// protect keeps a file inside writable paths as it is; one that is itself such a
// path is only read.
func protect(paths []event.ContextPath, file string) {
	for i := range paths {
		c := &paths[i]
		rel, ok := inside(c.Path, file)
		switch {
		case !ok || !c.Write || slices.Contains(c.Protected, rel):
		case rel == ".":
			c.Write = false
		default:
			c.Protected = append(c.Protected, rel)
		}
	}
}
