package teamdir

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"conclave/internal/event"
)

// A memo spares asking git again for what cannot be different: a team asks some
// things many times in every turn, and a process for each is most of what its trees
// cost. Nothing in it goes by what was true a moment ago: each entry is under the
// names of everything it follows from, which are read anew. The zero value is ready.
type memo struct {
	mu      sync.Mutex
	trees   map[string]string  // of commits
	commits map[string]written // by their names, as far as they were made or read here
	kept    map[string]kept    // by branch
	told    map[string]telling
}

// kept is an index that is the same as a commit.
type kept struct {
	commit string
	index  event.Hash
}

// told is what the changes of a turn follow from: the newest commit of the branch, and
// how the turn's commits are marked.
type told struct{ head, round string }

type telling struct {
	told
	changes []event.Change
}

// made notes the tree of a commit.
func (m *memo) made(commit, tree string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trees == nil {
		m.trees = map[string]string{}
	}
	m.trees[commit] = tree
}

func (m *memo) files(commit string) (tree string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tree, ok = m.trees[commit]
	return tree, ok
}

// wrote notes commits that were made.
func (m *memo) wrote(commits ...written) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.commits == nil {
		m.commits = map[string]written{}
	}
	for _, c := range commits {
		m.commits[c.commit] = c
	}
}

// history are the newest commits up to one, along their first parents, as far as the
// first that ends it; false if not all of them are known.
func (m *memo) history(head string, ends func(written) bool) ([]written, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []written
	for len(all) < longest {
		c, ok := m.commits[head]
		if !ok {
			return nil, false
		}
		all = append(all, c)
		if ends(c) || len(c.parents) == 0 {
			break
		}
		head = c.parents[0]
	}
	return all, true
}

// keep notes that the index of a tree, as it is now, is the same as a commit.
func (m *memo) keep(t tree, commit string) {
	index := t.index()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]kept{}
	}
	m.kept[t.branch] = kept{commit, index}
}

// isKept reports whether the index of a tree is known to be the same as a commit.
func (m *memo) isKept(t tree, commit string) bool {
	index := t.index()
	m.mu.Lock()
	defer m.mu.Unlock()
	return index != "" && m.kept[t.branch] == kept{commit, index}
}

// index names what is in the index of a tree; empty if it cannot be read.
func (t tree) index() event.Hash {
	p, err := os.ReadFile(filepath.Join(t.GitDir, "index"))
	if err != nil {
		return ""
	}
	return event.HashOf(p)
}

// tell notes what a turn has changed; of each branch the last is kept.
func (m *memo) tell(t tree, at told, changes []event.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told == nil {
		m.told = map[string]telling{}
	}
	m.told[t.branch] = telling{at, slices.Clone(changes)}
}

func (m *memo) changes(t tree, at told) ([]event.Change, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.told[t.branch]
	return slices.Clone(was.changes), was.told == at
}
