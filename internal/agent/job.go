package agent

import (
	"context"
	"fmt"
	"slices"

	"conclave/internal/dialog"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/job"
	"conclave/internal/tool"
	"conclave/internal/tool/todo"
)

// A Worker is the agent of a job, and does its turns: [job.Work]. It is told what
// the turn is about as the user's words ([event.Briefed]), then speaks and uses
// tools as the agent of a session does, until the phase is over or it calls nothing
// more.
type Worker struct {
	Flow  event.FlowID
	Blobs Blobs
	Agent *Agent
	// Redact is as that of a [Crew].
	Redact func(string) string
	// Bench is what the turn has on its bench.
	Bench func(ctx context.Context, w job.Work) (Bench, error)
}

// A Bench is what the agent of a job has before it in one turn, besides its kit.
type Bench struct {
	// Tools are those of the job: its datasources, the web. Whoever plans is given
	// those alone that look, of these and of the kit's, and the kit's write and
	// edit for the two files of the plan.
	Tools []tool.Tool
	// Memory is workspace.md and Plan is plan.md, as they are now.
	Memory, Plan string
	// Edits is how people have changed the files named in the brief, between its
	// two commits, as a unified diff.
	Edits string
	// Find is what a path that the agent names as a result is called, relative to the
	// workspace where it is in it, and whether there is anything; nil if nobody can
	// tell.
	Find func(path string) (name string, there bool)
}

var _ engine.Doer = (*Worker)(nil)

// Do takes one turn, or goes on with it.
func (k *Worker) Do(ctx context.Context, cmd flow.Command, p engine.Port) []event.Fact {
	w, ok := cmd.(job.Work)
	if !ok {
		panic(fmt.Sprintf("agent: no way to do %T in a job", cmd))
	}
	t := newTurn(k.Agent, w.Agent, w.Turn, p, texts{k.Blobs, k.Redact})
	t.metered, t.left = w.Metered, w.Calls
	return t.run(ctx, func(ctx context.Context) error { return t.labour(ctx, k, w) })
}

// labour takes a turn of a job. One that was cut goes on after its last fact.
func (t *turn) labour(ctx context.Context, k *Worker, w job.Work) error {
	t.phase = newPhase(t, w)
	if err := t.equip(ctx, Need{Role: event.RoleWork, Planning: t.phase.strategic}); err != nil {
		return err
	}
	var bench Bench
	if k.Bench != nil {
		var err error
		if bench, err = k.Bench(ctx, w); err != nil {
			return fmt.Errorf("make ready: %w", err)
		}
	}
	t.phase.find = bench.Find
	t.in.Thread, t.in.Room = threadPhase(w.Phase.Phase), t.hand.Room()
	t.furnish(bench)
	if err := t.prompted(ctx, w, bench); err != nil {
		return err
	}
	t.conv = &conversation{t: t, round: w.Round, most: w.Started.Rules.MaxCalls}
	if err := t.conv.load(ctx, w.Part); err != nil {
		return err
	}
	if briefed(w) {
		t.standsNow()
	} else if err := t.briefs(ctx, w, bench); err != nil {
		return err
	}
	if err := t.takeUp(ctx); err != nil {
		return err
	}
	return t.discuss(ctx)
}

// briefed reports whether the agent was told what the turn is about before it was
// cut: that comes before anything else in it.
func briefed(w job.Work) bool {
	return w.Summary != nil && w.Summary.Round == w.Round ||
		slices.ContainsFunc(w.History, func(e dialog.Entry) bool { return e.Turn.Round == w.Round })
}

// furnish binds the tools of the phase, and no others: what may not be done in it
// cannot be called.
func (t *turn) furnish(b Bench) {
	t.tools = map[string]tool.Tool{}
	acts := todo.Tactical(t.phase)
	if t.phase.strategic {
		acts = todo.Strategic(t.phase, t.phase.comments)
	}
	for _, x := range acts {
		t.bind(own{x})
	}
	all := slices.Concat(t.bound(false, false), b.Tools)
	if t.phase.strategic {
		all = t.planning(all)
	}
	t.offer(append(all, readResult{t})...)
}

// own is a tool of the turn itself: it puts something forward, and has to know for
// which call.
type own struct{ tool.Tool }

func (o own) call(ctx context.Context, c event.ToolCall) (tool.Result, error) {
	return o.Run(context.WithValue(ctx, calling{}, c), c.Input)
}

// calling is the key under which the context of such a tool has its call.
type calling struct{}
