package kit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"conclave/internal/policy"
)

// What a program sees is settled when it is started, and it goes on from turn to
// turn; the answers of others come while it works. So it is shown one folder from
// the start, which only it is shown, and the workspaces behind the answers it hears
// of are put in there when it does: none is in reach early, and none late.

// seen is where an agent that is a program finds the workspaces of others.
func (k *Kit) seen() (string, error) { return k.own("-seen") }

// reveal puts a snapshot among what the agent has seen, and returns where.
func (k *Kit) reveal(snapshot string) (string, error) {
	in, err := k.seen()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(in, filepath.Base(snapshot))
	if _, err := os.Lstat(dir); err == nil {
		return dir, nil
	}
	tmp, err := os.MkdirTemp(in, ".new-*")
	if err != nil {
		return "", fmt.Errorf("show a workspace: %w", err)
	}
	defer os.RemoveAll(tmp)
	draft := filepath.Join(tmp, "files")
	if err := share(snapshot, draft); err != nil {
		return "", fmt.Errorf("show a workspace: %w", err)
	}
	if err := os.Rename(draft, dir); err != nil {
		return "", fmt.Errorf("show a workspace: %w", err)
	}
	return dir, nil
}

// share makes a folder of the same files as another. Neither is ever written to:
// the one is a snapshot, the other only read.
func share(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(at, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		}
		err = os.Link(path, at)
		if errors.Is(err, syscall.EMLINK) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EXDEV) {
			return copied(path, at)
		}
		return err
	})
}

// copied is for file systems that have no links, or no more of them.
func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// reached are the workspaces of others in the turn's place.
func (h *hand) reached() ([]policy.Mount, error) {
	if h.kit.tree == nil {
		return nil, nil
	}
	if h.kit.gear.Own {
		dir, err := h.kit.seen()
		return []policy.Mount{{Path: dir}}, err
	}
	var out []policy.Mount
	for _, f := range h.folders {
		out = append(out, policy.Mount{Path: f.Dir})
	}
	return out, nil
}
