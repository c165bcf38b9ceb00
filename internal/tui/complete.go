package tui

import (
	"context"
	"strings"
	"sync"
	"time"

	"conclave/internal/control"
	"conclave/internal/tui/input"
)

const (
	// maxPaths is how many files are looked through for a path.
	maxPaths = 20_000
	// stalePaths is how long what was found is believed.
	stalePaths = 3 * time.Second
)

// A pathFinder finds files for what is typed after an @. What lies in a folder is
// looked at once in a few seconds, not once for each letter. The input calls it
// from outside the loop, maybe twice at a time.
type pathFinder struct {
	c   Program
	now func() time.Time

	mu    sync.Mutex
	dir   string
	at    time.Time
	found []control.Entry
}

// paths are files that may be meant. Relative ones begin where the program was
// started; others where they say.
func (f *pathFinder) paths(ctx context.Context, typed string) []input.Candidate {
	dir := startOf(typed)
	entries, err := f.tree(ctx, dir)
	if err != nil {
		return nil
	}
	var out []input.Candidate
	for _, e := range entries {
		out = append(out, input.Candidate{Text: dir + e.Path, Dir: e.Dir})
	}
	return out
}

// startOf is the folder to look below, as it was typed; empty is the one the
// program was started in.
func startOf(typed string) string {
	i := strings.LastIndex(typed, "/")
	for _, far := range []string{"/", "~", ".."} {
		if i >= 0 && strings.HasPrefix(typed, far) {
			return typed[:i+1]
		}
	}
	return ""
}

func (f *pathFinder) tree(ctx context.Context, dir string) ([]control.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found != nil && f.dir == dir && f.now().Sub(f.at) < stalePaths {
		return f.found, nil
	}
	from := dir
	if from == "" {
		from = "."
	}
	entries, _, err := f.c.Tree(ctx, from, maxPaths)
	if err == nil {
		f.dir, f.at, f.found = dir, f.now(), entries
	}
	return entries, err
}

// addressees are the agents that a message can be addressed to while they work.
func (m *Model) addressees() []input.Candidate {
	if !m.busy() || m.story == nil {
		return nil
	}
	var out []input.Candidate
	for _, a := range m.story.card.Agents {
		c := input.Candidate{Text: string(a.ID), Also: []string{string(a.Label)}, About: "only to " + m.story.name(a.ID)}
		if why := a.Gone(); why != "" {
			c.Why = "it was " + why
		}
		out = append(out, c)
	}
	return out
}
