// Package scratch keeps what a box has on disk besides its place: a home and a
// folder for temporary files, which outlive a command and not the box, and notes
// about what has to be tidied up after a box whose process was killed.
//
// A scratch is known by the flow and the owner of its box. Opening it again
// removes what was there; [Left] and [Sweep] are for those nobody opens again.
package scratch

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/event"
)

// A Dir is the scratch of one box.
type Dir struct{ root string }

// Open makes an empty scratch in a directory of ours, which is made if need be.
// An empty name is a temporary one that nobody will find again.
func Open(parent string, flow event.FlowID, owner string) (*Dir, error) {
	if parent == "" {
		root, err := os.MkdirTemp("", "conclave-box-")
		if err != nil {
			return nil, fmt.Errorf("make the box's folder: %w", err)
		}
		d := &Dir{root}
		return d, d.fill(flow)
	}
	sum := sha256.Sum256([]byte(string(flow) + "\x00" + owner))
	d := &Dir{filepath.Join(parent, hex.EncodeToString(sum[:8]))}
	if err := d.Remove(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.root, 0o700); err != nil {
		return nil, fmt.Errorf("make the box's folder: %w", err)
	}
	return d, d.fill(flow)
}

func (d *Dir) fill(flow event.FlowID) error {
	real, err := filepath.EvalSymlinks(d.root)
	if err != nil {
		return fmt.Errorf("make the box's folder: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return fmt.Errorf("make the box's folder: %w", err)
	}
	d.root = real
	for _, dir := range []string{d.Home(), d.Tmp()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make the box's folder: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.root, "flow"), []byte(flow), 0o600); err != nil {
		return fmt.Errorf("make the box's folder: %w", err)
	}
	return nil
}

// Home and Tmp are the folders commands may write.
func (d *Dir) Home() string { return filepath.Join(d.root, "home") }

func (d *Dir) Tmp() string { return filepath.Join(d.root, "tmp") }

// Note writes down an empty folder that is about to be made outside, to be
// removed with the scratch.
func (d *Dir) Note(path string) error {
	f, err := os.OpenFile(d.notes(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note what the box makes: %w", err)
	}
	_, err = fmt.Fprintln(f, path)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("note what the box makes: %w", err)
	}
	return nil
}

func (d *Dir) notes() string { return filepath.Join(d.root, "made") }

// Remove removes the scratch. Noted folders that are still empty go too: what
// holds something has become somebody's.
func (d *Dir) Remove() error {
	if f, err := os.Open(d.notes()); err == nil {
		for s := bufio.NewScanner(f); s.Scan(); {
			_ = os.Remove(s.Text())
		}
		_ = f.Close()
	}
	if err := removeAll(d.root); err != nil {
		return fmt.Errorf("remove the box's folder: %w", err)
	}
	return nil
}

// removeAll removes folders that were made unreadable too.
func removeAll(root string) error {
	if os.RemoveAll(root) == nil {
		return nil
	}
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(root)
}

// Left lists the scratches in a directory whose flow nobody drives.
func Left(parent string, alive func(event.FlowID) bool) ([]string, error) {
	var out []string
	err := each(parent, alive, func(d *Dir, flow event.FlowID) error {
		out = append(out, name(d, flow))
		return nil
	})
	return out, err
}

// Sweep removes them and returns what it removed.
func Sweep(parent string, alive func(event.FlowID) bool) ([]string, error) {
	var out []string
	err := each(parent, alive, func(d *Dir, flow event.FlowID) error {
		if err := d.Remove(); err != nil {
			return err
		}
		out = append(out, name(d, flow))
		return nil
	})
	return out, err
}

func name(d *Dir, flow event.FlowID) string {
	return fmt.Sprintf("files of a box of %s: %s", flow, d.root)
}

func each(parent string, alive func(event.FlowID) bool, do func(*Dir, event.FlowID) error) error {
	if parent == "" {
		return nil
	}
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		d := &Dir{filepath.Join(parent, e.Name())}
		flow, err := os.ReadFile(filepath.Join(d.root, "flow"))
		if err != nil || !e.IsDir() {
			continue // not one of ours
		}
		if id := event.FlowID(strings.TrimSpace(string(flow))); !alive(id) {
			errs = append(errs, do(d, id))
		}
	}
	return errors.Join(errs...)
}
