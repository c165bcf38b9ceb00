// Package workspace keeps the folders that agents work in, and knows what
// became of the user's files.
//
// A [Run] is the directory of one run:
//
//	agent2/                   the workspace of the agent labelled agent2
//	agent2/.git               its history; agents may read it and never write
//	snapshots/agent2-0123…/   a workspace as it was: immutable, read by everybody
//	context_path_writes.txt   which of the user's files were changed, when many were
//	baseline/ state/          working data of this package
//
// A [Tree] is one workspace. [Tree.Snapshot] makes a checkout that shares the
// files that did not change with the one before it (hard links, never to the
// workspace) and records the same tree in git; its id is git's hash of the tree,
// so the same content has the same id. [Tree.Reset] goes back to one.
// [Run.Baseline] and [Run.Written] tell what was changed outside of workspaces.
//
// What is in a snapshot: every regular file and its executable bit, every
// symbolic link as such, whatever any .gitignore says, and repositories inside
// the workspace as plain files. What is not: the workspace's own .git, folders
// that a tool can make again (named node_modules, __pycache__ or .cache, holding
// a pyvenv.cfg or a signed CACHEDIR.TAG), sockets, pipes and devices, and empty
// folders. The message of the commit names what was left out, save the empty
// folders.
//
// Nothing an agent puts into a workspace is run or followed. Files are read
// through os.Root handles and hashed here; the git program sees contents on its
// standard input alone, never the workspace. What is found in .git before each
// use is put right: whatever is not ours there is removed, and a .git that is no
// folder, or does not hold together, is made anew. A snapshot that is made again
// from git counts only if its content has the hash it is known by.
//
// The files of a checkout are read-only; its folders are not, so that the user can
// remove a run like any folder. Sandboxes show checkouts read-only as a whole.
//
// A step is durable before the next one relies on it, and every name appears by
// a rename, so a process may be killed anywhere; whoever comes next removes what
// is left. A lock that git inherits tells whether somebody is still at it.
//
// The package starts no goroutines. A Run and its Trees are safe for concurrent
// use; work on one tree is done one at a time.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"conclave/internal/event"
)

// Names inside a run's directory.
const (
	snapshotsDir = "snapshots"
	stateDir     = "state"
	baselineDir  = "baseline"
	writtenFile  = "context_path_writes.txt"
	gitDir       = ".git"
)

// Limits bound a workspace.
type Limits struct {
	Bytes int64
	Files int // folders included
}

// DefaultLimits are those of a run that sets no others.
var DefaultLimits = Limits{Bytes: 2 << 30, Files: 200_000}

// A TooLargeError is a workspace that outgrew its limits. It is written for the
// agent, who can make room.
type TooLargeError struct {
	Limits Limits
	Files  bool   // it is the number of files, else their size
	Deep   bool   // it is neither, but how far folders are nested
	In     string // the first folder or file that did not fit
}

func (e *TooLargeError) Error() string {
	what := fmt.Sprintf("%d bytes", e.Limits.Bytes)
	switch {
	case e.Files:
		what = fmt.Sprintf("%d files and folders", e.Limits.Files)
	case e.Deep:
		what = fmt.Sprintf("%d folders inside one another", deepest)
	}
	return fmt.Sprintf("the workspace holds more than %s, the limit was reached at %.200q: remove what is not part of the result (downloads, build output, copies) and try again; nothing was lost", what, e.In)
}

// A Run is the directory of a run.
type Run struct {
	dir    string
	limits Limits
	// step is called between two steps that leave a trace on the disk. Tests
	// end the process there.
	step func(name string)

	watching sync.Mutex // held by Baseline and Written

	mu     sync.Mutex
	trees  map[event.Label]*Tree
	intact map[string]bool // checkouts that were found whole, by their directory
}

// Open makes a run's directory ready for use, creating what is missing.
func Open(dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	for _, d := range []string{snapshotsDir, stateDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, fmt.Errorf("open workspaces: %w", err)
		}
	}
	return &Run{
		dir: dir, limits: DefaultLimits, step: func(string) {},
		trees: map[event.Label]*Tree{}, intact: map[string]bool{},
	}, nil
}

// Limit sets the limits of every workspace of the run. It is called before any
// of them is used.
func (r *Run) Limit(l Limits) { r.limits = l }

// Tree returns the workspace of the agent with that label, creating it if it is
// not there.
func (r *Run) Tree(ctx context.Context, label event.Label) (*Tree, error) {
	t, err := r.tree(label)
	if err != nil {
		return nil, err
	}
	done, err := t.begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the workspace of %s: %w", label, err)
	}
	return t, done()
}

// tree is the workspace by name alone.
func (r *Run) tree(label event.Label) (*Tree, error) {
	if !validLabel(string(label)) {
		return nil, fmt.Errorf("open a workspace: %.40q is not a label", label)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trees[label] == nil {
		r.trees[label] = &Tree{
			run: r, label: label, turn: make(chan struct{}, 1),
			dir:   filepath.Join(r.dir, string(label)),
			state: filepath.Join(r.dir, stateDir, string(label)),
		}
	}
	return r.trees[label], nil
}

// validLabel keeps labels to names that mean nothing else in a run's directory.
func validLabel(l string) bool {
	switch l {
	case "", snapshotsDir, stateDir, baselineDir:
		return false
	}
	return len(l) <= 64 && strings.Trim(l, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Checkout is the directory of a snapshot, whether it is there or not. It is
// empty if id is not the id of a snapshot.
func (r *Run) Checkout(label event.Label, id string) string {
	if !validID(id) || !validLabel(string(label)) {
		return ""
	}
	return filepath.Join(r.dir, snapshotsDir, string(label)+"-"+id[:12])
}

// validID reports whether id looks like the hash of a tree.
func validID(id string) bool {
	return len(id) == 2*len(sum{}) && strings.Trim(id, "0123456789abcdef") == ""
}

// A Tree is the workspace of one agent.
type Tree struct {
	run   *Run
	label event.Label
	dir   string
	state string        // our own data about it
	turn  chan struct{} // holds a token while somebody works on the tree
	lock  *os.File      // then: what other processes see of it
}

// Dir is where the agent works.
func (t *Tree) Dir() string { return t.dir }

// begin waits until nobody else works on the tree, here or in another process,
// and clears away what somebody who was killed has left. The returned function
// must be called; it lets the next one in.
func (t *Tree) begin(ctx context.Context) (done func() error, err error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	end := func() error {
		err := t.lock.Close()
		t.lock = nil
		<-t.turn
		return err
	}
	if err := os.MkdirAll(t.state, 0o755); err != nil {
		<-t.turn
		return nil, err
	}
	if t.lock, err = lockFile(ctx, filepath.Join(t.state, "lock")); err != nil {
		<-t.turn
		return nil, fmt.Errorf("wait for whoever works on it: %w", err)
	}
	if err := errors.Join(t.make(), t.sweep()); err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}

// make creates the workspace's folder, and refuses to work in what is none.
func (t *Tree) make() error {
	err := os.Mkdir(t.dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		st, err := os.Lstat(t.dir)
		if err == nil && !st.IsDir() {
			err = fmt.Errorf("%s is not a folder; move it away and start again", t.dir)
		}
		return err
	}
	return err
}

// temporary begins the names of what is not complete.
const temporary = ".part-"

// sweep removes what a killed process has left of this tree. Whoever holds the
// lock knows that nobody is using it.
func (t *Tree) sweep() error {
	for _, d := range []struct{ dir, prefix string }{
		{t.state, temporary},
		{filepath.Join(t.run.dir, snapshotsDir), temporary + string(t.label) + "-"},
	} {
		names, err := os.ReadDir(d.dir)
		if err != nil {
			return err
		}
		for _, n := range names {
			if strings.HasPrefix(n.Name(), d.prefix) {
				if err := removeAll(filepath.Join(d.dir, n.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// open is a handle on the workspace. That it is the folder and not a link to
// another one is looked at afterwards, on the handle.
func (t *Tree) open() (*os.Root, error) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	got, err1 := root.Stat(".")
	want, err2 := os.Lstat(t.dir)
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if !want.IsDir() || !os.SameFile(got, want) {
		return nil, errors.Join(fmt.Errorf("%s is not a folder; move it away and start again", t.dir), root.Close())
	}
	return root, nil
}
