package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/event"
)

// named is a file or folder that the configuration names.
type named struct {
	path   string // absolute
	entry  entry
	script bool
}

// findScript makes the path of a script absolute. It is relative to the
// configuration: the two travel together.
func findScript(r *reader, e entry, a *draft) {
	if a.Script != "" {
		a.Script = r.absolute(e, filepath.Dir(r.file), a.Script, true)
	}
}

// findContext makes a context path absolute. It is relative to the working
// directory: one configuration serves many projects.
func findContext(r *reader, e entry, c *event.ContextPath) {
	if c.Path != "" {
		c.Path = r.absolute(e, "", c.Path, false)
	}
}

// readPath takes text for a path that is only read.
func readPath(r *reader, e entry, c *event.ContextPath) {
	e.path, e.key = join(e.path, "path"), "path"
	r.given[e.path] = e
	text, ok := scan(r, e, name())
	if !ok {
		return
	}
	for _, end := range []string{":rw", ":w"} {
		if plain, writes := strings.CutSuffix(text, end); writes {
			r.fault(e, e.valueAt(), fmt.Sprintf("what may be written is not said by %s here", end), fmt.Sprintf("write {path: %s, permission: write}", plain))
			return
		}
	}
	c.Path = text
	findContext(r, e, c)
}

// absolute resolves a path as a shell would that stands in dir.
func (r *reader) absolute(e entry, dir, path string, script bool) string {
	var err error
	if path == "~" || strings.HasPrefix(path, "~/") {
		var home string
		home, err = os.UserHomeDir()
		path = filepath.Join(home, path[1:])
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		r.fault(e, e.valueAt(), fmt.Sprintf("where %s is cannot be told", e.key), "write an absolute path")
		return ""
	}
	r.named = append(r.named, named{path, e, script})
	return path
}

// distinctPath wants a context path once, and what it protects inside it.
func distinctPath(r *reader, e entry, c *event.ContextPath) {
	if c.Path == "" {
		return
	}
	at := r.given[e.path+".path"]
	for _, n := range r.named {
		if !n.script && n.path == c.Path && n.entry.path != at.path && listOf(n.entry.path) == listOf(at.path) {
			r.fault(at, at.valueAt(), fmt.Sprintf("the context path %s is given twice", quoted(c.Path)), "")
			break
		}
	}
	for i, p := range c.Protected {
		rel, ok := inside(c.Path, p)
		if !ok {
			list := r.given[e.path+".protected_paths"]
			r.fault(list, list.valueAt(), fmt.Sprintf("%s is not inside the path it is to be protected in", quoted(p)), "")
		}
		c.Protected[i] = rel
	}
}

// listOf is the list that a path stands in: a.b[3].path is in a.b.
func listOf(path string) string { return path[:max(0, strings.LastIndex(path, "["))] }

// inside is p relative to dir.
func inside(dir, p string) (string, bool) {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	rel, err := filepath.Rel(dir, p)
	return rel, err == nil && filepath.IsLocal(rel)
}
