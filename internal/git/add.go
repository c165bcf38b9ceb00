package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// AddAll takes everything in the workspace into the next commit. What cannot be
// read, or is nothing that git keeps, is left out: an agent's commands may have
// made it, and it is no reason for the flow to stop.
func (r Repo) AddAll(ctx context.Context) error {
	inner, err := r.inner()
	if err != nil {
		return err
	}
	if len(inner) > 0 { // so that git takes the folders for what they are
		list := strings.Join(inner, "\x00") + "\x00"
		if _, err := r.Run(ctx, []byte(list), nil, "update-index", "--add", "--replace", "-z", "--stdin"); err != nil {
			return err
		}
	}
	_, err = r.Run(ctx, nil, nil, "add", "--all", "--ignore-errors", "--", ".")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil // 128 is that nothing was taken in
	}
	return err
}

// inner is a file of each repository inside the workspace that has one. Git would
// keep only the name of such a repository's commit, or refuse one that has none;
// as soon as it knows a file of it, it is a folder like any other.
func (r Repo) inner() ([]string, error) {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []string
	var repos []string // of which we look for a file
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // it cannot be read, by git either
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			if name != "." {
				if _, err := root.Lstat(name + "/.git"); err == nil {
					repos = append(repos, name+"/")
				}
			}
		case len(repos) > 0 && e.Name() != ".git" && keeps(root, name, e):
			n := len(repos)
			if repos = slices.DeleteFunc(repos, func(dir string) bool { return strings.HasPrefix(name, dir) }); len(repos) < n {
				out = append(out, name)
			}
		}
		return nil
	})
	return out, err
}

// keeps reports whether git can keep a file.
func keeps(root *os.Root, name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink != 0 {
		return true
	}
	return e.Type().IsRegular() && readable(root, name)
}

func readable(root *os.Root, name string) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
