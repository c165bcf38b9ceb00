package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// deepest is how many repositories inside one another are looked into.
const deepest = 16

// Known are the files of a folder of the user's as git knows them: in a repository
// those it tracks, as they are on disk, and those that are new and not ignored; in
// any other folder what its own .gitignore files leave. Repositories inside, such as
// submodules, are folders like any other. What is git's own is not among them, nor
// what is the program's. Nothing in the folder is written. The repository r has
// nothing to do with the folder; its index must be empty.
func (r Repo) Known(ctx context.Context, dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, err := r.known(ctx, root, dir, ".", 0)
	slices.Sort(all)
	return slices.Compact(all), err
}

func (r Repo) known(ctx context.Context, root *os.Root, dir, below string, depth int) ([]string, error) {
	names, err := r.listed(ctx, filepath.Join(dir, filepath.FromSlash(below)))
	if err != nil || depth > deepest {
		return nil, err
	}
	var out []string
	for _, name := range names {
		name = path.Join(below, name)
		if ours(name) {
			continue
		}
		info, err := root.Lstat(name)
		switch {
		case err != nil: // tracked and deleted
		case info.IsDir(): // a repository of its own
			more, err := r.known(ctx, root, dir, name, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		case info.Mode()&os.ModeSymlink != 0 || info.Mode().IsRegular() && readable(root, name):
			out = append(out, name)
		}
	}
	return out, nil
}

// ours reports whether a path is git's or the program's own.
func ours(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool {
		return strings.EqualFold(s, ".git") || strings.EqualFold(s, ".conclave")
	})
}

// listed are the names that git lists in a folder.
func (r Repo) listed(ctx context.Context, dir string) ([]string, error) {
	list := []string{"ls-files", "-z", "--others", "--exclude-standard"}
	var out []byte
	if top := r.top(ctx, dir); top {
		var err error
		if out, err = discover(ctx, dir, append(list, "--cached")...); err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
	}
	if len(out) == 0 { // no repository, or one that ignores the folder
		var err error
		if out, err = (Repo{Dir: dir, GitDir: r.gitDir(), Of: r.Of}).Run(ctx, nil, nil, list...); err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			names = append(names, strings.TrimSuffix(name, "/"))
		}
	}
	return names, ctx.Err()
}

// top reports whether a folder is in the work tree of a repository.
func (r Repo) top(ctx context.Context, dir string) bool {
	out, err := discover(ctx, dir, "rev-parse", "--is-inside-work-tree")
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// discover runs git in a folder whose repository it has to find. It only looks.
func discover(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string(nil), fixed...), args...)...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
	}
	var say bytes.Buffer
	cmd.Stderr = &say
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, FirstLine(say.String()))
	}
	return out, nil
}
