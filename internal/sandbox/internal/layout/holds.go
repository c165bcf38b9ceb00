package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"conclave/internal/policy"
)

// Holds are the folders that are put where nothing may be made. They are shared
// by all boxes of an engine: removing one opens the way in every box that has
// it. The zero value is ready.
type Holds struct {
	mu   sync.Mutex
	held map[string]int // for how many boxes
}

// A Hold is what one box has of them.
type Hold struct {
	holds *Holds
	note  func(path string) error
	paths []string
}

// New is the hold of one box. Note is told of a folder before it is made, to
// write it down where it outlives this process.
func (h *Holds) New(note func(path string) error) *Hold { return &Hold{holds: h, note: note} }

// Take puts folders where nothing may be made and returns what the box consists
// of now.
func (b *Hold) Take(p policy.Place) ([]Item, error) {
	h := b.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	items, err := Of(p, slices.Collect(maps.Keys(h.held)))
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if h.held[i.Path] > 0 && !slices.Contains(b.paths, i.Path) {
			h.held[i.Path]++
			b.paths = append(b.paths, i.Path)
		}
	}
	for _, i := range items {
		if _, err := os.Lstat(i.Path); errors.Is(err, fs.ErrNotExist) {
			if err := b.put(i.Path); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// put makes one folder.
func (b *Hold) put(path string) error {
	if err := b.note(path); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		return fmt.Errorf("keep %s from being made: %w", path, err)
	}
	if b.holds.held == nil {
		b.holds.held = map[string]int{}
	}
	if !slices.Contains(b.paths, path) { // else somebody has removed it
		b.holds.held[path]++
		b.paths = append(b.paths, path)
	}
	return nil
}

// Give removes the folders that no other box needs, if they are still empty.
func (b *Hold) Give() {
	h := b.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range b.paths {
		if h.held[path]--; h.held[path] == 0 {
			delete(h.held, path)
			_ = os.Remove(path)
		}
	}
	b.paths = nil
}
