package files

import (
	"context"
	"strings"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

type deleteIn struct {
	Path      string `json:"path" jsonschema_description:"The file or folder to delete."`
	Recursive bool   `json:"recursive,omitempty" jsonschema_description:"Delete a folder with everything in it."`
}

func (in deleteIn) aim() string { return in.Path }

// examples is how many files that were not read are named.
const examples = 3

func (k *kit) delete(ctx context.Context, in deleteIn) (tool.Result, error) {
	info, err := k.root.Lstat(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	// What may not be deleted anyway need not be read first.
	if v := k.root.Place().May(in.Path, policy.ToDelete); v.Decision != policy.Allow {
		return mistaken("%s", v.Reason)
	}
	path := k.name(in.Path)
	switch {
	case info.IsDir():
		return k.deleteFolder(ctx, in, path)
	case info.Mode().IsRegular() && !k.seen.Has(path):
		return mistaken("You have neither read nor made %s. Read it first, to know what is lost.", k.show(in.Path))
	}
	if err := k.root.Remove(in.Path); err != nil {
		return tool.Result{}, err
	}
	if info.Mode().IsRegular() {
		k.seen.moved(path, "")
	}
	return said("Deleted %s.", k.show(in.Path))
}

func (k *kit) deleteFolder(ctx context.Context, in deleteIn, path string) (tool.Result, error) {
	all, files := 0, 0
	unread := least[entry]{keep: examples, less: byPath}
	err := k.root.Walk(ctx, in.Path, func(e confine.Entry) error {
		all++
		if err := k.kept(deed{kind: policy.Delete, path: e.Path}); err != nil {
			return err
		}
		if e.Type.IsRegular() {
			files++
		}
		if e.Type.IsRegular() && !k.seen.Has(e.Path) {
			unread.add(entry{path: e.Path, text: printable(k.show(e.Path))})
		}
		return nil
	})
	switch {
	case err != nil:
		return tool.Result{}, err
	case all > 0 && !in.Recursive:
		return mistaken("The folder %s is not empty. Set recursive to delete it with everything in it.", k.show(in.Path))
	case unread.total > 0:
		return mistaken("You have neither read nor made %s in %s, for example %s. Read them first, to know what is lost, or delete single files.", count(unread.total, "file", "files"), k.show(in.Path), names(&unread))
	}
	if err := k.root.RemoveAll(ctx, in.Path); err != nil {
		return tool.Result{}, err
	}
	k.seen.moved(path, "")
	return said("Deleted the folder %s with %s.", k.show(in.Path), count(files, "file", "files"))
}

func names(l *least[entry]) string {
	items, _ := l.sorted()
	var out []string
	for _, e := range items {
		out = append(out, e.text)
	}
	return strings.Join(out, ", ")
}
