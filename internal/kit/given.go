package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"conclave/internal/event"
	"conclave/internal/policy"
)

// Given keeps what a person has allowed for good, in a file that no agent can
// write. Each entry is bound to the hash of exactly one action.
type Given struct {
	File string

	mu  sync.Mutex
	all []given
}

type given struct {
	Hash   event.Hash `json:"hash"`
	Action string     `json:"action"` // for whoever reads the file
}

// lasting is an action as it is kept for good: the workspace, which is another
// folder in every run, is called by what it is.
func (h *hand) lasting(a policy.Action) policy.Action {
	dir := h.kit.dir()
	if dir == "" {
		return a
	}
	a.Dir = inWorkspace(dir, a.Dir)
	switch a.Kind {
	case policy.Read, policy.Write, policy.Delete:
		a.Target = inWorkspace(dir, a.Target)
	}
	a.Also = slices.Clone(a.Also)
	for i := range a.Also {
		a.Also[i] = h.lasting(a.Also[i])
	}
	return a
}

// inWorkspace is a path that may lie in a workspace, the same in each of them.
func inWorkspace(dir, path string) string {
	if path != "" && !filepath.IsAbs(path) {
		return "./" + path // and so is none of ours
	}
	rel, err := filepath.Rel(dir, path)
	if path == "" || err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.Join("the workspace", rel)
}

// OpenGiven reads the file; one that is not there is empty.
func OpenGiven(file string) (*Given, error) {
	g := &Given{File: file}
	p, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err == nil {
		err = json.Unmarshal(p, &g.all)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is permitted for good from %s: %w; mend the file or remove it", file, err)
	}
	return g, nil
}

// All are the hashes of what is permitted.
func (g *Given) All() []event.Hash {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []event.Hash
	for _, x := range g.all {
		out = append(out, x.Hash)
	}
	return out
}

// Add keeps one more, beside what other runs have added meanwhile.
func (g *Given) Add(a policy.Action) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := OpenGiven(g.File)
	if err != nil {
		return err
	}
	g.all = now.all
	h := a.Hash()
	if slices.ContainsFunc(g.all, func(x given) bool { return x.Hash == h }) {
		return nil
	}
	all := append(slices.Clone(g.all), given{h, a.Describe()})
	p, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	tmp := g.File + ".new"
	if err := os.MkdirAll(filepath.Dir(g.File), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(tmp, append(p, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(tmp, g.File); err != nil {
		return err
	}
	g.all = all
	return nil
}
