package job

import (
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// keep asks for a commit. They are made one after the other: each is of the files
// as the one before has left them.
func (j *Job) keep(k Keep) []flow.Command {
	if j.s.Keeps = append(slices.Clip(j.s.Keeps), k); len(j.s.Keeps) > 1 {
		return nil
	}
	return []flow.Command{j.keeping()}
}

// keeping is the command for the commit that is being made.
func (j *Job) keeping() Keep {
	k := j.s.Keeps[0]
	k.Started = *j.s.Started
	return k
}

// kept takes in that a commit was made, tells the agent if it waits for it, and
// asks for the next one.
func (j *Job) kept(b event.Kept) []flow.Command {
	if len(j.s.Keeps) == 0 || j.s.Keeps[0].Ref != b.Ref {
		return nil // a damaged log; Check says so
	}
	k := j.s.Keeps[0]
	j.s.Keeps = slices.Clone(j.s.Keeps[1:])
	if k.Edit != nil {
		j.edited(k.Edit.Path, b.Commit)
	}
	j.s.Commit, j.s.Files, j.s.Plan = b.Commit, b.Files, b.Plan
	if p := j.s.Phase; p != nil && p.Ended != nil && p.endID() == b.Ref {
		p.Kept = true
		if r := j.s.Run; r != nil {
			r.Idle = b.Idle
		}
	}
	var do []flow.Command
	if t := j.s.Turn; t != nil && t.keptFor(b) && t.Live {
		do = append(do, t.tell(Note{Kind: NoteKept, Kept: &b}))
	}
	if len(j.s.Keeps) > 0 {
		do = append(do, j.keeping())
	}
	return do
}
