package project

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"conclave/internal/event"
)

// sum is the hash and size of what r holds, which is copied to w on the way. More
// than most is an error.
func sum(ctx context.Context, r io.Reader, most int64, w io.Writer) (event.Hash, int64, error) {
	h := sha256.New()
	buf := make([]byte, 64<<10)
	size := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		n, err := r.Read(buf)
		if size += int64(n); size > most {
			return "", 0, fmt.Errorf("it has more than %d bytes, which is the most", most)
		}
		h.Write(buf[:n])
		if _, err := w.Write(buf[:n]); err != nil {
			return "", 0, err
		}
		if errors.Is(err, io.EOF) {
			return event.Hash(hex.EncodeToString(h.Sum(nil))), size, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// history is the index of a deliverable.
type history struct {
	Path     string    `json:"path"`
	Versions []Version `json:"versions"` // oldest first
}

func (h history) newest() (Version, bool) {
	if len(h.Versions) == 0 {
		return Version{}, false
	}
	return h.Versions[len(h.Versions)-1], true
}

// indexFile is where the history of a deliverable is. Its name is made of the
// path, of which any could be a folder of another.
func indexFile(deliverable string) string {
	return path.Join(versionsDir, "index", string(event.HashOf([]byte(deliverable)))[:32]+".json")
}

func contentFile(h event.Hash) string { return path.Join(versionsDir, "content", string(h)) }

// history reads the index of a deliverable, empty if there is none.
func (f *folder) history(deliverable string) (history, error) {
	h, err := f.index(indexFile(deliverable))
	if err == nil && h.Path == "" {
		h.Path = deliverable
	}
	return h, err
}

func (f *folder) index(name string) (history, error) {
	src, err := f.read(name, maxJSON)
	if err != nil || src == nil {
		return history{}, err
	}
	var h history
	if err := f.decode(name, src, &h, `an object with "path" and "versions"`); err != nil {
		return history{}, err
	}
	bad := func(why string) error {
		return &Problem{File: f.path(name), Why: why, Do: "put the file back as it was; the contents are in " + f.path(versionsDir+"/content")}
	}
	if CheckPath(h.Path) != nil || indexFile(h.Path) != name {
		return history{}, bad("it is not the index of the path it names")
	}
	for i, v := range h.Versions {
		if v.N != i+1 || len(v.Hash) != 64 || strings.Trim(string(v.Hash), "0123456789abcdef") != "" {
			return history{}, bad(fmt.Sprintf("entry %d is not version %d", i+1, i+1))
		}
	}
	return h, nil
}

// record makes a version the newest.
func (f *folder) record(ctx context.Context, h *history, v Version) (Version, error) {
	v.N = len(h.Versions) + 1
	h.Versions = append(h.Versions, v)
	p, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return Version{}, err
	}
	return v, f.rewrite(ctx, indexFile(h.Path), maxJSON, func([]byte) ([]byte, error) { return append(p, '\n'), nil })
}

// hashFile is the hash and size of a file; empty if there is none.
func (f *folder) hashFile(ctx context.Context, name string) (event.Hash, int64, error) {
	file, _, err := f.openFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	hash, size, err := sum(ctx, file, MaxSize, io.Discard)
	if err != nil {
		err = fmt.Errorf("read %s: %w", f.path(name), err)
	}
	return hash, size, err
}

// keep puts a copy of what is in a file among the contents, where it stays.
func (f *folder) keep(ctx context.Context, name string, hash event.Hash) error {
	if have, _, err := f.hashFile(ctx, contentFile(hash)); err == nil && have == hash {
		return nil
	}
	s, err := f.copy(ctx, name)
	if err != nil {
		return err
	}
	if s.hash != hash {
		_ = f.root.Remove(s.name)
		return fmt.Errorf("%s was changed meanwhile; do it again", f.path(name))
	}
	return f.place(s, contentFile(hash))
}

// copy stages what is in a file.
func (f *folder) copy(ctx context.Context, name string) (staged, error) {
	file, _, err := f.openFile(name)
	if err != nil {
		return staged{}, err
	}
	defer file.Close()
	return f.stage(ctx, file, MaxSize)
}

// Versions are those of a deliverable, the newest first.
func (s Store) Versions(ctx context.Context, name, deliverable string) ([]Version, error) {
	if err := CheckPath(deliverable); err != nil {
		return nil, err
	}
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.close()
	h, err := f.history(deliverable)
	slices.Reverse(h.Versions)
	return h.Versions, err
}

// Content is version n of a deliverable, or with zero the deliverable as it is. The
// error is an fs.ErrNotExist if there is none.
func (s Store) Content(ctx context.Context, name, deliverable string, n int) ([]byte, error) {
	if err := CheckPath(deliverable); err != nil {
		return nil, err
	}
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.close()
	file, hash := path.Join(deliverDir, deliverable), event.Hash("")
	if n != 0 {
		h, err := f.history(deliverable)
		if err != nil {
			return nil, err
		}
		if n < 0 || n > len(h.Versions) {
			return nil, fmt.Errorf("%s of project %s has no version %d; it has %d: %w", deliverable, name, n, len(h.Versions), fs.ErrNotExist)
		}
		hash = h.Versions[n-1].Hash
		file = contentFile(hash)
	}
	r, _, err := f.openFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s of project %s: %w", deliverable, name, err)
	}
	defer r.Close()
	var b bytes.Buffer
	got, _, err := sum(ctx, r, MaxSize, &b)
	if err == nil && hash != "" && got != hash {
		err = fmt.Errorf("version %d is damaged: %s does not hold what its name says", n, f.path(file))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of project %s: %w", deliverable, name, err)
	}
	return b.Bytes(), nil
}
