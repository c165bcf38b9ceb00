package files

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"conclave/internal/confine"
	"conclave/internal/tool"
)

type listIn struct {
	Path  string `json:"path,omitempty" jsonschema_description:"The folder; your workspace if not given."`
	Limit int    `json:"limit,omitempty" jsonschema_description:"How many entries to show; 500 if not given, 5000 at most."`
}

func (in listIn) aim() string { return orHere(in.Path) }

// orHere is a folder, or the workspace if none is named.
func orHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}

func (k *kit) list(ctx context.Context, in listIn) (tool.Result, error) {
	found := least[entry]{keep: bounded(in.Limit, 500, 5000), less: byPath}
	err := k.root.ReadDir(ctx, in.aim(), func(e confine.Entry) error {
		found.add(entry{path: e.Path, text: described(e)})
		return nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	if found.total == 0 {
		return said("%s is empty.", k.show(in.aim()))
	}
	return listed(&found, "entry", "entries")
}

// An entry is a line of a list.
type entry struct{ path, text string }

func byPath(a, b entry) int { return strings.Compare(a.path, b.path) }

// described is a line about something in a folder.
func described(e confine.Entry) string {
	name := filepath.Base(e.Path)
	switch {
	case e.Type.IsDir():
		return name + "/"
	case e.Type&fs.ModeSymlink != 0:
		return name + " (symbolic link)"
	case !e.Type.IsRegular():
		return name + " (special file)"
	}
	info, err := e.Info()
	if err != nil {
		return name // it has gone meanwhile
	}
	return fmt.Sprintf("%s (%s)", name, count(int(info.Size()), "byte", "bytes"))
}

// listed is a list, and how many more there are.
func listed(l *least[entry], one, many string) (tool.Result, error) {
	items, more := l.sorted()
	var out strings.Builder
	for i, e := range items {
		if out.Len() > readMax {
			more += len(items) - i
			break
		}
		out.WriteString(printable(e.text) + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&out, "[and %d more %s; %d in all]\n", more, plural(more, one, many), l.total)
	}
	return tool.Result{Text: out.String()}, nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// printable is a name on one line.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
