package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/control"
	"conclave/internal/event"
)

// Export implements [control.Looks]. The file is there whole or not at all, and
// for nobody but its owner: what agents were told and said is in it.
func (a *App) Export(ctx context.Context, id event.FlowID, path string) (string, error) {
	target, _ := a.resolve(cmp.Or(path, "."))
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		target = filepath.Join(target, string(id)+".ndjson")
	}
	if _, err := os.Lstat(target); err == nil {
		return "", taken(target)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".export-*")
	if err != nil {
		return "", control.Usagef("export to %s: %w", target, reason(err))
	}
	defer os.Remove(f.Name())
	err = errors.Join(a.export(ctx, f, id), f.Sync(), f.Close())
	if err != nil {
		return "", fmt.Errorf("export %s: %w", id, err)
	}
	switch err := place(f.Name(), target); {
	case errors.Is(err, fs.ErrExist):
		return "", taken(target)
	case err != nil:
		return "", fmt.Errorf("export to %s: %w", target, reason(err))
	}
	return target, nil
}

func taken(target string) error {
	return control.Usagef("%s is there already; name another file", target)
}

// export writes every event of a flow with its texts, as conclave log --json does.
func (a *App) export(ctx context.Context, w io.Writer, id event.FlowID) error {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	n := 0
	for e, err := range a.Read(ctx, id) {
		if err != nil {
			return err
		}
		full, err := event.Fill(e, func(c event.Content) (string, error) { return a.Text(ctx, c) })
		if err != nil {
			return err
		}
		if err := enc.Encode(full); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return &control.NotFound{Typed: string(id)}
	}
	return out.Flush()
}

// place gives a file another name that nobody has. Where there are no links the
// name is claimed first.
func place(file, target string) error {
	err := os.Link(file, target)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	claim, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(claim.Close(), os.Rename(file, target)); err != nil {
		return errors.Join(err, os.Remove(target))
	}
	return nil
}
