package app

import (
	"context"
	"sync"

	"conclave/internal/control"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	teamwork "conclave/internal/team"
)

// deciderOfTeam is who decides in a team.
func deciderOfTeam() flow.Decider { return &teamwork.Team{} }

// teamStanding is a team as its decider sees it.
func teamStanding(ctx context.Context, log eventlog.Log, id event.FlowID) (*teamwork.Team, error) {
	d, err := engine.State(ctx, log, id, deciderOfTeam)
	if err != nil {
		return nil, err
	}
	return d.(*teamwork.Team), nil
}

// lead drives a team until ctx ends. Watch is told after every change whether it is
// at rest.
func (a *App) lead(ctx context.Context, log eventlog.Log, id event.FlowID, s event.TeamStarted, takeOver bool, watch func(rests bool), also ...event.Fact) error {
	// What a team does is in its log, and a log that came with a project is the word
	// of whoever wrote that.
	if !a.own() {
		return control.Usagef("the log in %s is not known to be yours, so %s is not gone on with\nIf it is all right say: conclave trust", a.state(), id)
	}
	h := newSquad(a, log, id, s)
	p := part{decider: deciderOfTeam, doer: h, close: h.Close}
	return a.drive(ctx, log, id, takeOver, p, func(d *engine.Driver) error {
		k, err := a.snapshot(ctx, log, id)
		if err != nil {
			return err
		}
		if err := h.now.load(ctx, log, id); err != nil {
			return err
		}
		d.Observe = whenRecorded(func(events []event.Event) {
			k.observe(events)
			h.observe(events)
			watch(h.now.fold(events))
		})
		return d.Begin(ctx, also...)
	})
}

// A roster is a team as its decider sees it, while it is driven. It is safe for
// concurrent use.
type roster struct {
	mu   sync.Mutex
	team *teamwork.Team
}

// load takes in what the log has.
func (r *roster) load(ctx context.Context, log eventlog.Log, id event.FlowID) error {
	now, err := teamStanding(ctx, log, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.team = now
	return err
}

// fold takes in what was recorded, and reports whether the team is at rest.
func (r *roster) fold(events []event.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	flow.Fold(r.team, events)
	return r.team.AtRest()
}

// look is how everybody stands, and the tasks.
func (r *roster) look(context.Context) ([]teamwork.Member, []teamwork.Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.team.Members(), r.team.Tasks(), nil
}
