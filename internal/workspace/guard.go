package workspace

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// The files of a git directory that are the same in every workspace. What git
// reads of its configuration is this and the command line, and nothing else.
var fixed = []struct{ name, text string }{
	{"config", `[core]
	repositoryformatversion = 1
	filemode = true
	bare = false
	logallrefupdates = false
	hooksPath = /dev/null
	fsmonitor = false
	autocrlf = false
	attributesFile = /dev/null
	excludesFile = /dev/null
[extensions]
	objectformat = sha256
[gc]
	auto = 0
[maintenance]
	auto = false
`},
	{"HEAD", "ref: refs/heads/main\n"},
	{"info/exclude", "node_modules/\n__pycache__/\n.cache/\n"},
	{"info/attributes", "* -text -filter -ident -working-tree-encoding\n"},
}

// belongs are the names that git directories of ours may have in them: folders
// end in a slash. Everything else is removed: hooks, other people's objects,
// locks and half-written packs of a process that was killed.
var belongs = []string{
	"HEAD", "config", "index", "info/", "info/exclude", "info/attributes",
	"objects/", "objects/info/", "objects/pack/", "objects/??/", "objects/??/*",
	"objects/pack/pack-*.pack", "objects/pack/pack-*.idx", "objects/pack/pack-*.rev",
	"refs/", "refs/heads/", "refs/heads/main",
}

// guard makes sure that the workspace's .git is ours before git uses it.
func (t *Tree) guard() error {
	root, err := t.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := guard(root); err != nil {
		return fmt.Errorf("prepare %s: %w", filepath.Join(t.dir, gitDir), err)
	}
	return nil
}

func guard(root *os.Root) error {
	info, err := root.Lstat(gitDir)
	if err == nil && !info.IsDir() {
		// A file or link here would send git to another place.
		if err := root.Remove(gitDir); err != nil {
			return err
		}
	} else if err == nil {
		err = unlockDir(root, gitDir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.MkdirAll(gitDir, 0o755); err != nil {
		return err
	}
	git, err := root.OpenRoot(gitDir)
	if err != nil {
		return err
	}
	defer git.Close()
	if err := tidy(git, ""); err != nil {
		return err
	}
	for _, d := range []string{"info", "objects/info", "objects/pack", "refs/heads"} {
		if err := git.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for _, f := range fixed {
		if err := ensureFile(git, f.name, []byte(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes what does not belong into a git directory. Links never do.
func tidy(dir *os.Root, at string) error {
	names, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		p := path.Join(at, n.Name())
		if n.IsDir() {
			p += "/"
		}
		ours := (n.IsDir() || n.Type().IsRegular()) && slices.ContainsFunc(belongs, func(pattern string) bool {
			ok, _ := path.Match(pattern, p)
			return ok
		})
		if !ours {
			err = dir.RemoveAll(n.Name())
		} else if n.IsDir() {
			err = tidyDown(dir, n.Name(), p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func tidyDown(dir *os.Root, name, at string) error {
	if err := unlockDir(dir, name); err != nil {
		return err
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return err
	}
	return errors.Join(tidy(sub, at), sub.Close())
}

// ensureFile makes sure that a small file has that content.
func ensureFile(dir *os.Root, name string, content []byte) error {
	if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(content)) {
		if got, err := dir.ReadFile(name); err == nil && bytes.Equal(got, content) {
			return nil
		}
	}
	tmp := name + "." + rand.Text()
	if err := dir.WriteFile(tmp, content, 0o644); err != nil {
		return errors.Join(err, dir.Remove(tmp))
	}
	return dir.Rename(tmp, name)
}

// renew puts a .git that does not hold together aside and makes another. The
// checkouts stay what they are.
func (t *Tree) renew() error {
	aside := filepath.Join(t.state, "git.old")
	if err := removeAll(aside); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(t.dir, gitDir), aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return t.guard()
}
