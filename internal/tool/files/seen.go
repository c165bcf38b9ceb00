package files

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Seen is what one agent has read or made in a run. It outlives turns and may
// be used concurrently; the zero value has seen nothing.
type Seen struct {
	mu    sync.Mutex
	paths map[string]bool // absolute, without links
}

// Add remembers files.
func (s *Seen) Add(paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths == nil {
		s.paths = map[string]bool{}
	}
	for _, p := range paths {
		s.paths[p] = true
	}
}

// Has reports whether a file was seen.
func (s *Seen) Has(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[path]
}

// Paths are all of them, sorted: what to keep if the agent is to go on later.
func (s *Seen) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.paths))
	for p := range s.paths {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// moved takes what was known of a path, and of everything in it, to another.
// With an empty name for it, it is forgotten.
func (s *Seen) moved(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inside := from + string(filepath.Separator)
	for p := range s.paths {
		if p != from && !strings.HasPrefix(p, inside) {
			continue
		}
		delete(s.paths, p)
		if to != "" {
			s.paths[to+p[len(from):]] = true
		}
	}
}
