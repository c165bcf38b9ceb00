package teamdir

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
)

// Commit keeps somebody's tree as it is at the end of a turn. Asked for again, in
// this take of the turn or a later one, it finds what there is: the changes are those
// of the whole turn.
func (d *Dir) Commit(ctx context.Context, who event.AgentID, turn event.Turn, message string) (event.Committed, error) {
	out, err := d.commit(ctx, who, turn, message)
	if err != nil {
		return out, fmt.Errorf("keep the tree of %s: %w", who, err)
	}
	return out, nil
}

func (d *Dir) commit(ctx context.Context, who event.AgentID, turn event.Turn, message string) (event.Committed, error) {
	out := event.Committed{Turn: turn}
	t, err := d.tree(who)
	if err != nil {
		return out, err
	}
	if err := d.ensure(ctx, t); err != nil {
		return out, err
	}
	if t.shared() {
		d.main.Lock()
		defer d.main.Unlock()
	}
	if err := t.arrive(ctx); err != nil {
		return out, err
	}
	if err := t.keep(ctx, note{message: message, by: string(t.who), turn: turn.Key(t.who)}); err != nil {
		return out, err
	}
	if out.Commit, err = t.head(ctx); err != nil {
		return out, err
	}
	all, err := t.changed(ctx, out.Commit, turn)
	out.Same, out.Total, out.Changes = len(all) == 0, len(all), all[:min(len(all), mostChanges)]
	if err == nil {
		err = t.forget()
	}
	return out, err
}

// mostChanges is how many changes are told of.
const mostChanges = 50

// A note is what a commit says.
type note struct {
	message string
	by      string // whose work it is
	turn    string // at the end of which it was made; empty for another occasion
	merge   string // the member whose branch it brings in
}

// The trailers of our commits.
const (
	byTrailer    = "Conclave-By"
	turnTrailer  = "Conclave-Turn"
	mergeTrailer = "Conclave-Merge"
)

func (n note) text() string {
	m := strings.TrimSpace(strings.ReplaceAll(n.message, "\x00", ""))
	if m == "" {
		m = "Work"
	}
	m += "\n\n" + byTrailer + ": " + n.by + "\n"
	if n.turn != "" {
		m += turnTrailer + ": " + n.turn + "\n"
	}
	if n.merge != "" {
		m += mergeTrailer + ": " + n.merge + "\n"
	}
	return m
}

// tries is how often a tree is taken in that changes meanwhile: what an agent has
// started may still write.
const tries = 3

// keep commits everything in a tree, if anything has changed.
func (t tree) keep(ctx context.Context, n note) error {
	var err error
	for range tries {
		t.unlock()
		if err = t.AddAll(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	_, err = t.record(ctx, n)
	return err
}

// record commits the index on top of the branch, unless that is what it is already.
func (t tree) record(ctx context.Context, n note) (string, error) {
	head, err := t.head(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		head = "" // the first one
	}
	if head != "" && t.memo.isKept(t, head) {
		return head, nil
	}
	out, err := t.Run(ctx, nil, nil, "write-tree")
	if err != nil {
		return "", err
	}
	commit, err := t.put(ctx, n, strings.TrimSpace(string(out)), head)
	if err == nil {
		t.memo.keep(t, commit)
	}
	return commit, err
}

// put has the branch be at a tree: it is at one already, or gets a commit of it.
func (t tree) put(ctx context.Context, n note, made, head string) (string, error) {
	if head != "" {
		if was, err := t.files(ctx, head); err != nil || was == made {
			return head, err
		}
	}
	commit, err := t.commitTree(ctx, n, made, head)
	if err != nil {
		return "", err
	}
	return commit, t.update(ctx, commit, head)
}

// files is the tree of a commit, as git names it.
func (t tree) files(ctx context.Context, commit string) (string, error) {
	if made, ok := t.memo.files(commit); ok {
		return made, nil
	}
	out, err := t.Run(ctx, nil, nil, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
	made := strings.TrimSpace(string(out))
	if err == nil {
		t.memo.made(commit, made)
	}
	return made, err
}

// commitTree makes a commit that no branch has yet.
func (t tree) commitTree(ctx context.Context, n note, made string, parents ...string) (string, error) {
	parents = slices.DeleteFunc(parents, func(p string) bool { return p == "" })
	args := []string{"commit-tree", made}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	env := []string{
		"GIT_AUTHOR_NAME=" + n.by, "GIT_AUTHOR_EMAIL=" + n.by + "@team.conclave",
		"GIT_COMMITTER_NAME=conclave", "GIT_COMMITTER_EMAIL=conclave@conclave",
	}
	out, err := t.Run(ctx, []byte(n.text()), env, args...)
	commit := strings.TrimSpace(string(out))
	if err == nil {
		t.memo.made(commit, made)
		t.memo.wrote(written{commit: commit, parents: parents, by: n.by, turn: n.turn})
	}
	return commit, err
}

// update has the branch be a commit, if it was another until now.
func (t tree) update(ctx context.Context, commit, was string) error {
	if was == "" {
		was = strings.Repeat("0", len(commit))
	}
	_, err := t.atCommon().Run(ctx, nil, nil, "update-ref", t.ref(), commit, was)
	return err
}

// longest is among how many commits those of a turn are looked for.
const longest = 200

// changed are the files that a turn has changed, which has come to a commit.
func (t tree) changed(ctx context.Context, head string, turn event.Turn) ([]event.Change, error) {
	key := told{head: head, round: strings.TrimSuffix(turn.Key(t.who), turn.String()) + fmt.Sprintf("%d.", turn.Round)}
	if all, ok := t.memo.changes(t, key); ok {
		return all, nil
	}
	all, err := t.since(ctx, key)
	if err == nil {
		t.memo.tell(t, key, all)
	}
	return all, err
}

// since are the changes by all commits since the turn before, which are the tree's
// owner's, without what was merged.
func (t tree) since(ctx context.Context, at told) ([]event.Change, error) {
	history, ok := t.memo.history(at.head, t.foreign(at))
	if !ok {
		var err error
		if history, err = t.history(ctx, at.head); err != nil {
			return nil, err
		}
	}
	var own []written // newest first
	for _, c := range history {
		if t.foreign(at)(c) {
			break
		}
		if len(c.parents) == 1 {
			own = append(own, c)
		}
	}
	all := map[string]string{}
	for _, c := range slices.Backward(own) {
		if err := t.compare(ctx, c.parents[0], c.commit, all); err != nil {
			return nil, err
		}
	}
	return sorted(all), nil
}

// foreign reports whether a commit is somebody else's, or of another turn.
func (t tree) foreign(at told) func(written) bool {
	return func(c written) bool {
		return c.by != "" && c.by != string(t.who) || c.turn != "" && !strings.HasPrefix(c.turn, at.round)
	}
}

// A written commit is what one says of itself.
type written struct {
	commit   string
	parents  []string
	by, turn string
}

// history are the newest commits up to one, along their first parents.
func (t tree) history(ctx context.Context, head string) ([]written, error) {
	out, err := t.Run(ctx, nil, nil, "log", "-z", "--first-parent", fmt.Sprintf("--max-count=%d", longest),
		"--format=%H%x1f%P%x1f%(trailers:key="+byTrailer+",valueonly,separator=%x2C)%x1f%(trailers:key="+turnTrailer+",valueonly,separator=%x2C)", head, "--")
	if err != nil {
		return nil, err
	}
	var all []written
	for entry := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		f := strings.Split(strings.TrimSpace(entry), "\x1f")
		if len(f) != 4 {
			break
		}
		all = append(all, written{commit: f[0], parents: strings.Fields(f[1]), by: f[2], turn: f[3]})
	}
	t.memo.wrote(all...)
	return all, nil
}

// compare adds how two commits differ to what changed before, by path.
func (t tree) compare(ctx context.Context, from, to string, all map[string]string) error {
	out, err := t.Run(ctx, nil, nil, "diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to)
	if err != nil {
		return err
	}
	kinds := map[string]string{"A": event.ChangeNew, "D": event.ChangeDeleted}
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		kind, ok := kinds[f[i]]
		if !ok {
			kind = event.ChangeModified
		}
		switch was, name := all[f[i+1]], f[i+1]; {
		case was == event.ChangeNew && kind == event.ChangeDeleted:
			delete(all, name)
		case was == event.ChangeNew:
		case was == event.ChangeDeleted && kind == event.ChangeNew:
			all[name] = event.ChangeModified
		default:
			all[name] = kind
		}
	}
	return nil
}

func sorted(all map[string]string) []event.Change {
	var out []event.Change
	for name, kind := range all { // sorted below
		out = append(out, event.Change{Path: strings.ToValidUTF8(name, "?"), Kind: kind})
	}
	slices.SortFunc(out, func(a, b event.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}
