package teamdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"conclave/internal/git"
)

// settle ends the conflicts of a meeting by taking a side: in texts where both have
// changed the same lines, elsewhere the whole file, or that it is gone.
func (t tree) settle(ctx context.Context, m *meeting, prefer string) error {
	dir, err := os.MkdirTemp(t.common, "settle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := t.Run(ctx, nil, env, "read-tree", m.tree); err != nil {
		return err
	}
	by := map[string][4]stage{}
	var order []string
	for _, s := range m.stages {
		x, ok := by[s.path]
		if !ok {
			order = append(order, s.path)
		}
		x[s.n&3] = s
		by[s.path] = x
	}
	var index strings.Builder
	for _, p := range order {
		x := by[p]
		take := x[2]
		if prefer == Theirs {
			take = x[3]
		}
		if id, err := t.blend(ctx, dir, x, prefer); err != nil {
			return err
		} else if id != "" {
			take.id = id
		}
		fmt.Fprintf(&index, "0 %s\t%s\x00", strings.Repeat("0", len(m.tree)), p)
		if take.id != "" {
			fmt.Fprintf(&index, "%s %s\t%s\x00", take.mode, take.id, p)
		}
	}
	if _, err := t.Run(ctx, []byte(index.String()), env, "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
		return err
	}
	out, err := t.Run(ctx, nil, env, "write-tree")
	m.tree = strings.TrimSpace(string(out))
	return err
}

// blend merges a text of which there are three versions, taking a side only where
// both have changed the same lines; empty if it is none.
func (t tree) blend(ctx context.Context, dir string, x [4]stage, prefer string) (string, error) {
	var list []git.Blob
	for _, s := range []stage{x[2], x[1], x[3]} {
		if !strings.HasPrefix(s.mode, "100") {
			return "", nil
		}
		list = append(list, git.Blob{ID: s.id, Path: s.path})
	}
	for _, b := range list {
		size, err := t.Run(ctx, nil, nil, "cat-file", "-s", b.ID)
		if err != nil {
			return "", err
		}
		if len(strings.TrimSpace(string(size))) > 7 { // ten megabytes: no text for people
			return "", nil
		}
	}
	texts, err := t.Blobs(ctx, list)
	if err != nil {
		return "", err
	}
	var files []string
	for i, text := range texts {
		name := filepath.Join(dir, fmt.Sprintf("side-%d", i))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
		files = append(files, name)
	}
	out, err := t.Run(ctx, nil, nil, append([]string{"merge-file", "-p", "--quiet", "--" + prefer}, files...)...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 127 {
		return "", nil // it is binary
	}
	if err != nil {
		return "", err
	}
	id, err := t.Run(ctx, out, nil, "hash-object", "-w", "--stdin", "--no-filters")
	return strings.TrimSpace(string(id)), err
}
