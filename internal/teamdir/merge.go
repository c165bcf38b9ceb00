package teamdir

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/git"
)

// Whose side is taken in conflicts.
const (
	Theirs = "theirs" // the member's
	Ours   = "ours"   // that of the shared tree
)

// Merge brings the newest commit of a member into the shared tree. In a conflict
// nothing changes and the files are named, unless prefer says whose side is taken.
func (d *Dir) Merge(ctx context.Context, member event.AgentID, prefer string) (event.Merged, error) {
	out, err := d.merge(ctx, member, prefer)
	if err != nil {
		return out, fmt.Errorf("merge the work of %s: %w", member, err)
	}
	return out, nil
}

func (d *Dir) merge(ctx context.Context, member event.AgentID, prefer string) (event.Merged, error) {
	out := event.Merged{Member: member}
	shared, theirs, err := d.both(ctx, member)
	if err != nil {
		return out, err
	}
	d.main.Lock()
	defer d.main.Unlock()
	if out.From, err = theirs.head(ctx); err != nil {
		return out, err
	}
	if err := shared.arrive(ctx); err != nil {
		return out, err
	}
	if err := shared.keep(ctx, note{message: "Work before a merge", by: string(shared.who)}); err != nil {
		return out, err
	}
	head, err := shared.head(ctx)
	if err != nil {
		return out, err
	}
	before := head
	switch in, err := shared.contains(ctx, head, out.From); {
	case err != nil:
		return out, err
	case in:
		// If the newest commit is the one that did it, this was asked for before.
		before, err = shared.mergeOf(ctx, head, out.From)
		if err != nil {
			return out, err
		}
	default:
		made, err := shared.meet(ctx, head, out.From, names{mainBranch, theirs.branch})
		if err != nil {
			return out, err
		}
		if len(made.paths()) > 0 {
			if out.Prefer = prefer; prefer == "" {
				out.Conflicts = made.paths()
				return out, nil
			}
			if err := shared.settle(ctx, &made, prefer); err != nil {
				return out, err
			}
		}
		n := note{message: "Merge the work of " + string(member), by: string(shared.who), merge: string(member)}
		to, err := shared.commitTree(ctx, n, made.tree, head, out.From)
		if err != nil {
			return out, err
		}
		if err := shared.move(ctx, move{From: head, To: to}); err != nil {
			return out, err
		}
		head = to
	}
	out.Commit = head
	all := map[string]string{}
	if err := shared.compare(ctx, before, head, all); err != nil {
		return out, err
	}
	changes := sorted(all)
	out.Total, out.Changes = len(changes), changes[:min(len(changes), mostChanges)]
	return out, nil
}

// both are the shared tree and that of a member.
func (d *Dir) both(ctx context.Context, member event.AgentID) (shared, theirs tree, err error) {
	if member == d.Leader || member == "" {
		return shared, theirs, errors.New("it is the leader's, which is the shared tree itself")
	}
	if theirs, err = d.tree(member); err != nil {
		return shared, theirs, err
	}
	if shared, err = d.tree(d.Leader); err != nil {
		return shared, theirs, err
	}
	return shared, theirs, d.ensure(ctx, shared)
}

// Sync brings the shared tree into that of a member, before a turn of its; false if
// there is nothing new in it. Where both have changed the same, the member finds both
// sides marked in its files. Asked for again before the turn's commit it says the
// same.
func (d *Dir) Sync(ctx context.Context, who event.AgentID) (event.Synced, bool, error) {
	out, moved, err := d.sync(ctx, who)
	if err != nil {
		return out, false, fmt.Errorf("bring the shared tree to %s: %w", who, err)
	}
	return out, moved, nil
}

func (d *Dir) sync(ctx context.Context, who event.AgentID) (event.Synced, bool, error) {
	t, err := d.tree(who)
	if err != nil || t.shared() {
		return event.Synced{}, false, err
	}
	if err := d.ensure(ctx, t); err != nil {
		return event.Synced{}, false, err
	}
	if m, ok, err := t.moving(); err != nil || ok {
		return m.Sync, ok, errors.Join(err, t.arrive(ctx))
	}
	from, err := t.atCommon().Branch(ctx, mainBranch)
	if err != nil {
		return event.Synced{}, false, err
	}
	head, err := t.head(ctx)
	if err != nil {
		return event.Synced{}, false, err
	}
	if in, err := t.contains(ctx, head, from); err != nil || in {
		return event.Synced{}, false, err
	}
	if err := t.keep(ctx, note{message: "Work before the shared tree is brought in", by: string(who)}); err != nil {
		return event.Synced{}, false, err
	}
	return t.bring(ctx, from)
}

// bring moves a tree to where it meets a commit of the shared one.
func (t tree) bring(ctx context.Context, from string) (event.Synced, bool, error) {
	head, err := t.head(ctx)
	if err != nil {
		return event.Synced{}, false, err
	}
	m := move{From: head, To: from, Sync: event.Synced{From: from}}
	behind, err := t.contains(ctx, from, head)
	if err != nil {
		return m.Sync, false, err
	}
	if !behind {
		made, err := t.meet(ctx, head, from, names{t.branch, mainBranch})
		if err != nil {
			return m.Sync, false, err
		}
		m.Sync.Conflicts = made.paths()
		if m.To, err = t.commitTree(ctx, note{message: "Bring in the shared tree", by: string(t.who)}, made.tree, head, from); err != nil {
			return m.Sync, false, err
		}
	}
	m.Sync.Commit = m.To
	return m.Sync, true, t.move(ctx, m)
}

// contains reports whether a commit has another one in its history.
func (t tree) contains(ctx context.Context, commit, other string) (bool, error) {
	if commit == other {
		return true, nil
	}
	_, err := t.Run(ctx, nil, nil, "merge-base", "--is-ancestor", other, commit)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// mergeOf is what a commit was before, if it is the one that merged the other; else
// itself.
func (t tree) mergeOf(ctx context.Context, commit, other string) (string, error) {
	out, err := t.Run(ctx, nil, nil, "rev-list", "--max-count=1", "--parents", commit)
	if err != nil {
		return "", err
	}
	if f := strings.Fields(string(out)); len(f) == 3 && f[2] == other {
		return f[1], nil
	}
	return commit, nil
}

// A meeting is what comes of two commits: a tree, in which both sides are marked
// where they do not agree, and what they do not agree about.
type meeting struct {
	tree   string
	stages []stage
	names  names
}

// A stage is one side of a file in conflict: 1 is what both began from, 2 the first
// commit, 3 the second.
type stage struct {
	mode, id, path string
	n              int
}

// names are what two sides are called where they are marked.
type names struct{ first, second string }

// paths are the files in conflict.
func (m meeting) paths() []string {
	var out []string
	for _, s := range m.stages {
		if p := strings.ToValidUTF8(s.path, "?"); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// meet merges two commits without touching any files.
func (t tree) meet(ctx context.Context, first, second string, n names) (meeting, error) {
	// Branches are named so that the marks are; that they are at these commits only
	// the caller changes.
	for _, x := range []struct{ name, commit string }{{n.first, first}, {n.second, second}} {
		if at, err := t.atCommon().Branch(ctx, x.name); err != nil || at != x.commit {
			n = names{first, second}
			break
		}
	}
	out, err := t.Run(ctx, nil, nil, "merge-tree", "--write-tree", "-z", "--no-messages", n.first, n.second)
	m := meeting{names: n}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		switch exit.ExitCode() {
		case 1: // conflicts
			err = nil
		case 129, 128:
			if old := t.tooOld(ctx); old != "" {
				return m, fmt.Errorf("teams need git 2.38 or later to merge; this is %s", old)
			}
		}
	}
	if err != nil {
		return m, err
	}
	f := strings.Split(string(out), "\x00")
	m.tree = strings.TrimSpace(f[0])
	for _, row := range f[1:] {
		head, name, ok := strings.Cut(row, "\t")
		x := strings.Fields(head)
		if !ok || len(x) != 3 || len(x[2]) != 1 {
			continue
		}
		m.stages = append(m.stages, stage{mode: x[0], id: x[1], n: int(x[2][0] - '0'), path: name})
	}
	if len(m.tree) < 40 {
		return m, fmt.Errorf("git merge-tree: %q is no tree", git.FirstLine(m.tree))
	}
	return m, nil
}

// tooOld is the version of a git that cannot merge so.
func (t tree) tooOld(ctx context.Context) string {
	out, err := t.Run(ctx, nil, nil, "version")
	if err != nil {
		return ""
	}
	v := strings.TrimSpace(strings.TrimPrefix(string(out), "git version "))
	var major, minor int
	if _, err := fmt.Sscanf(v, "%d.%d", &major, &minor); err != nil || major > 2 || major == 2 && minor >= 38 {
		return ""
	}
	return v
}
