package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/chat"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/gear"
	"conclave/internal/launch"
	"conclave/internal/view"
)

// An order is what a session says about a run it launches. Nil is a run that
// stands alone.
type order struct {
	id      event.FlowID
	parent  event.FlowID
	context string
	plan    string // the directory of the plan it carries out
	modes   view.Overrides
	// Of a run that somebody wanted: what it is to be, what it may spend of its
	// session's budget, and which folders of the program's own it may be given.
	launch *event.Launch
	grant  event.Budget
	own    []event.ContextPath
	// files: its agents have files at hand, whatever is configured.
	files bool
}

// overrideWait is how long a person at a session may choose another winner, where
// nothing is configured.
const overrideWait = event.Duration(15 * time.Second)

// onto has a team work in the modes of the order, whatever is configured.
func (o *order) onto(t *team, q control.Request) {
	if o == nil {
		return
	}
	if o.launch != nil {
		t.mode = launch.Mode(*o.launch)
		t.settings.Planning, t.settings.Execute = &o.launch.Plan, &o.launch.Execute
		return
	}
	t.mode = o.modes.Mode
	if len(t.seats) == 1 { // alone, whoever says otherwise
		t.mode.Single = true
	}
	no := false
	t.settings.Planning, t.settings.Execute = &o.modes.Planning, &no
	if q.Asks && t.settings.Override == nil {
		t.settings.Override = &event.Override{On: true, Wait: overrideWait}
	}
}

// over puts the modes over rules made of what is configured.
func (o *order) over(r event.Rules) event.Rules {
	if o == nil {
		return r
	}
	if o.launch != nil {
		r = launch.Rules(*o.launch, r)
		r.Budget = event.Budget{Tokens: lower(r.Budget.Tokens, o.grant.Tokens), Cost: lower(r.Budget.Cost, o.grant.Cost)}
		return r
	}
	m := o.modes
	m.Single = r.Single
	return m.Apply(r)
}

// lower is the lower of two ceilings, of which nil is none.
func lower[N event.Money | int64](x, y *N) *N {
	if x == nil || y != nil && *y < *x {
		return y
	}
	return x
}

// brief adds what agents are told in this run alone to their own prompts, and what
// they are given.
func (o *order) brief(seats []event.Seat) {
	if o == nil || o.launch == nil {
		return
	}
	for i, s := range seats {
		if o.files {
			seats[i].Gear = withFiles(s.Gear)
		}
		if more := o.launch.Prompts[s.Agent]; more != "" {
			seats[i].Prompt = strings.TrimSpace(s.Prompt + "\n\n" + more)
		}
	}
}

// withFiles is a gear with files at hand; one that cannot be read stays as it is,
// for whoever opens the agent to tell.
func withFiles(own json.RawMessage) json.RawMessage {
	var g gear.Gear
	if len(own) > 0 && json.Unmarshal(own, &g) != nil {
		return own
	}
	g.Files = true
	return gearOf(g)
}

// tell puts what the session says into the run's specification, and returns the
// run's id.
func (o *order) tell(ctx context.Context, a *App, id event.FlowID, s *event.RunSpec) (event.FlowID, error) {
	if o == nil {
		return id, nil
	}
	var err error
	s.Parent, s.Plan = o.parent, o.plan
	s.Context, err = a.keep(ctx, o.context)
	return o.id, err
}

// prepare makes a run of what a session launches.
func (h *chair) prepare(ctx context.Context, l chat.Launch) (control.Run, error) {
	if from := l.Started.From; from != "" {
		t, err := h.before(ctx, from)
		if err != nil {
			return control.Run{}, err
		}
		l.Before = append([]*chat.Turn{&t}, l.Before...)
	}
	text := func(c event.Content) (string, error) { return h.a.Text(ctx, c) }
	task, err := text(l.Turn.Text)
	if err != nil {
		return control.Run{}, err
	}
	o := &order{id: l.Run, parent: h.id, modes: view.Mode(l.Modes)}
	if o.context, err = l.Context(text); err != nil {
		return control.Run{}, err
	}
	if l.Purpose == event.PurposeExecute {
		o.plan = h.a.planDir(l.Plan)
	}
	q := control.Request{
		Task: task, Config: l.Started.Config, Single: l.Modes.Single, Quick: l.Modes.Quick,
		Context: slices.Clone(l.Turn.Paths), Images: l.Turn.Images,
		Asks: l.Started.Asks, AskFirst: l.Started.Asks,
	}
	if o.modes.Agent != "" {
		q.Agents = []event.AgentID{o.modes.Agent}
	}
	return h.a.prepare(ctx, q, o)
}

// before is a run that was there before the session, as the first turn of it.
func (h *chair) before(ctx context.Context, id event.FlowID) (chat.Turn, error) {
	started, err := opening(ctx, h.log, id)
	if err != nil {
		return chat.Turn{}, err
	}
	r, _, err := h.outcome(ctx, id)
	if err != nil {
		return chat.Turn{}, err
	}
	run := chat.Run{Launched: event.Launched{Run: id, Purpose: event.PurposeAnswer}, Returned: &r}
	if r.Status == "" {
		run.Returned = nil
	}
	return chat.Turn{ID: "from", Said: event.Said{Text: started.Spec.Task}, Runs: []chat.Run{run}}, nil
}

// outcome is what a run has come to, and whether the log has it at all. One that
// is not over has no status.
func (h *chair) outcome(ctx context.Context, id event.FlowID) (event.Returned, bool, error) {
	var r view.Result
	var letters view.Messages
	for e, err := range h.log.Read(ctx, id, 1) {
		if errors.Is(err, eventlog.ErrNotFound) {
			return event.Returned{}, false, nil
		}
		if err != nil {
			return event.Returned{}, false, fmt.Errorf("read %s: %w", id, err)
		}
		r = r.Apply(e)
		letters = letters.Apply(e)
	}
	x := r.RunResult()
	out := event.Returned{
		Run: id, Status: x.Status, StoppedBy: x.StoppedBy, Answer: event.Content(x.FinalAnswer), Winner: x.Coordination.Winner,
		Workspace: x.WorkspacePath, Error: x.Error, Unread: letters.Unread(), Usage: r.Cost.Total.Usage,
	}
	if x.Status != event.StatusSuccess {
		out.Others = others(x)
	}
	return out, true, nil
}

// others are the newest answers of those whose answer is not the result.
func others(x view.RunResult) []event.Content {
	newest := map[event.AgentID]event.Content{}
	var order []event.AgentID
	for _, a := range x.Answers {
		if _, ok := newest[a.Agent]; !ok {
			order = append(order, a.Agent)
		}
		newest[a.Agent] = event.Content(a.Content)
	}
	var out []event.Content
	for _, id := range order {
		if id != x.Coordination.Winner {
			out = append(out, newest[id])
		}
	}
	return out
}

// servers are the MCP servers a seat is configured with.
func servers(s event.Seat) []string {
	var g gear.Gear
	if len(s.Gear) == 0 || json.Unmarshal(s.Gear, &g) != nil {
		return nil
	}
	var out []string
	for _, v := range g.Servers {
		out = append(out, v.Name)
	}
	return out
}
