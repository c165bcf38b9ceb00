package chat

import (
	"fmt"
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// Launch asks for a run, or for its continuation if the log has it already: its
// id is the run's for ever. What it has come to comes back as Returned. While it
// goes on it may be told a [Cancel].
type Launch struct {
	event.Launched
	// Turn is what was said, and what has come of it before this run; Before is
	// everything earlier, which nothing changes any more.
	Turn   Turn
	Before []*Turn
	// Started is how the session began.
	Started event.SessionStarted
	// Cancel is set if the run is to be ended.
	Cancel *Cancel
}

// A Cancel is a person's wish to end a run, under an id that makes asking twice
// the same as asking once.
type Cancel struct {
	ID string `json:"id"`
	event.CancelRequested
}

// Keep asks for a revision of a plan to be kept in the plan's directory. It
// comes back as Planned.
type Keep struct {
	Plan     string
	Revision int
	Text     event.Content
	Run      event.FlowID // that wrote it; empty if a person did
	By       string
}

func launchKey(id event.FlowID) string { return "launch/" + string(id) }

func (l Launch) Key() string { return launchKey(l.Run) }
func (k Keep) Key() string   { return fmt.Sprintf("keep/%s/%d", k.Plan, k.Revision) }

// Fact is the fact that ends the launch.
func (l Launch) Fact(r event.Returned) event.Fact {
	r.Run = l.Run
	return event.Fact{ID: "returned/" + string(l.Run), Body: r}
}

// Fact is the fact that ends the keeping.
func (k Keep) Fact(dir string, tasks []event.Task) event.Fact {
	return event.Fact{ID: fmt.Sprintf("planned/%s/%d", k.Plan, k.Revision), Body: event.Planned{
		Plan: k.Plan, Revision: k.Revision, Dir: dir, Text: k.Text, Tasks: tasks, Run: k.Run, By: k.By,
	}}
}

// Pending lists what was asked for and has no outcome yet.
func (s *Session) Pending() []flow.Command {
	t := s.last()
	switch {
	case t == nil:
		return nil
	case t.active() != nil:
		return []flow.Command{s.launching(t)}
	}
	return s.keeping(t)
}

// launching is the command for the run that goes on. It shares nothing with the
// state that changes while it is carried out: of the turns only the last does.
func (s *Session) launching(t *Turn) Launch {
	r := t.active()
	l := Launch{Launched: r.Launched, Turn: t.copy(), Started: *s.s.Started, Cancel: r.Cancel}
	l.Turn.Runs = l.Turn.Runs[:len(l.Turn.Runs)-1]
	l.Before = slices.Clip(s.s.Turns[:len(s.s.Turns)-1])
	return l
}

func (t *Turn) copy() Turn {
	out := *t
	out.Runs, out.Plans = slices.Clone(t.Runs), slices.Clone(t.Plans)
	if t.Gate != nil {
		g := *t.Gate
		out.Gate = &g
	}
	return out
}

// keep is the revision of the plan that is there and not kept yet: one that a
// person has written, or what the last run has brought. A plan that was
// cancelled while it was being made is none.
func (t *Turn) keep() *Keep {
	next := len(t.Plans) + 1
	if t.Edit != nil {
		return &Keep{Plan: t.Edit.Plan, Revision: next, Text: t.Edit.Text, By: t.Edit.By}
	}
	r := t.run()
	if r == nil || r.Purpose != event.PurposePlan || r.Returned == nil || r.Returned.Answer.Empty() || r.Returned.Status == event.StatusCancelled {
		return nil
	}
	if slices.ContainsFunc(t.Plans, func(p event.Planned) bool { return p.Run == r.Run }) {
		return nil
	}
	return &Keep{Plan: r.Plan, Revision: next, Text: r.Returned.Answer, Run: r.Run}
}
