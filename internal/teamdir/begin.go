package teamdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/git"
)

// Begin makes the repository and the shared tree: empty, or with the files of the
// Source as they are, of which nothing is written. Made already, it is left as it is.
func (d *Dir) Begin(ctx context.Context) error {
	if err := d.begun(ctx); err != nil {
		return fmt.Errorf("make the tree of the team: %w", err)
	}
	return nil
}

func (d *Dir) begun(ctx context.Context) error {
	d.main.Lock()
	defer d.main.Unlock()
	t, err := d.tree(d.Leader)
	if err != nil {
		return err
	}
	if there(filepath.Join(t.GitDir, ready)) && there(t.Dir) {
		return t.point()
	}
	if !there(t.Dir) { // it is gone: it is filled again
		if err := os.Remove(filepath.Join(t.GitDir, ready)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return err
	}
	if err := d.init(ctx, t); err != nil {
		return err
	}
	if _, err := t.head(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.first(ctx, t); err != nil {
			return err
		}
	}
	return t.stand(ctx)
}

// init makes the repository.
func (d *Dir) init(ctx context.Context, t tree) error {
	for _, dir := range []string{filepath.Join(t.common, "info"), filepath.Join(d.Path, "members")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if _, err := t.Run(ctx, nil, nil, "init", "--quiet", "--template=", "--initial-branch="+mainBranch); err != nil {
		return err
	}
	return assert(filepath.Join(t.common, "info", "attributes"), git.Attributes)
}

// first commits what the team begins with.
func (d *Dir) first(ctx context.Context, t tree) error {
	t.unlock()
	if _, err := t.Run(ctx, nil, nil, "read-tree", "--empty"); err != nil {
		return err
	}
	message := "Begin"
	if d.Source != "" {
		message = "Begin with what is in the folder"
		if err := t.take(ctx, d.Source); err != nil {
			return fmt.Errorf("copy %s: %w", d.Source, err)
		}
	}
	_, err := t.record(ctx, note{message: message, by: "conclave"})
	return err
}

// take puts the files of a folder into the index.
func (t tree) take(ctx context.Context, source string) error {
	source, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("it is not a folder")
	}
	names, err := t.Known(ctx, source)
	if err != nil || len(names) == 0 {
		return err
	}
	from := git.Repo{Dir: source, GitDir: t.GitDir, Of: t.Of}
	_, err = from.Run(ctx, []byte(strings.Join(names, "\x00")+"\x00"), nil, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}
