// Package blobdir keeps blobs as files named by their SHA-256, for engines that
// live in a directory: ab/cdef… holds the blob whose hash is abcdef….
//
// A file has its final name only when its content is on the disk, so a crash
// leaves whole blobs and nothing else but temporary files that start with a
// dot. A Dir is safe for concurrent use by any number of processes.
package blobdir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A Dir is the directory of the blobs. It need not exist before the first Put.
type Dir string

// Put makes p durable and returns its name. A blob that is there already is not
// written again.
func (d Dir) Put(p []byte) (event.Hash, error) {
	h := event.HashOf(p)
	path := d.path(h)
	if st, err := os.Stat(path); err != nil || st.Size() != int64(len(p)) {
		if err := d.write(path, p); err != nil {
			return "", err
		}
	}
	// Also for a blob that was there: whoever renamed it may have died before
	// the directory was on the disk.
	return h, syncDir(filepath.Dir(path))
}

func (d Dir) write(path string, p []byte) error {
	sub := filepath.Dir(path)
	if _, err := os.Stat(sub); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return err
		}
		if err := syncDir(string(d)); err != nil {
			return err
		}
	}
	tmp := filepath.Join(sub, ".put-"+rand.Text())
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(p)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// Get returns what Put was given. A blob that is not there is ErrNotFound; one
// whose content does not match its name is ErrCorrupt.
func (d Dir) Get(h event.Hash) ([]byte, error) {
	if !valid(h) {
		return nil, fmt.Errorf("blob %.80q: not the name of a blob: %w", h, eventlog.ErrNotFound)
	}
	p, err := os.ReadFile(d.path(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", h, eventlog.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	if event.HashOf(p) != h {
		return nil, fmt.Errorf("blob %s: %w: its content does not match its name", d.path(h), eventlog.ErrCorrupt)
	}
	return p, nil
}

// Has reports whether the blob is there.
func (d Dir) Has(h event.Hash) bool {
	if !valid(h) {
		return false
	}
	_, err := os.Stat(d.path(h))
	return err == nil
}

// Check reads every blob and reports those whose content is not what their name
// says.
func (d Dir) Check(ctx context.Context, report func(path, what string)) error {
	return filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return nil
		}
		h := event.Hash(filepath.Base(filepath.Dir(path)) + e.Name())
		if !valid(h) || d.path(h) != path {
			report(path, "is not named like a blob")
			return nil
		}
		p, err := os.ReadFile(path)
		if err != nil {
			report(path, err.Error())
		} else if event.HashOf(p) != h {
			report(path, "has a content that does not match its name")
		}
		return nil
	})
}

func (d Dir) path(h event.Hash) string { return filepath.Join(string(d), string(h[:2]), string(h[2:])) }

// valid keeps names that are no hashes away from the file system.
func valid(h event.Hash) bool {
	return len(h) == 64 && strings.Trim(string(h), "0123456789abcdef") == ""
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
