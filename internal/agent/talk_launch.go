package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/talk"
	"conclave/internal/tool"
)

// launchRun is the tool with which the agent of a session has a run launched. The
// call waits until the run has come to its end or a person has said no, however
// long that takes: what is wanted is a fact under an id made of the call, which a
// turn that was cut finds again.
type launchRun struct {
	t        *turn
	team     []event.Teammate
	estimate func(context.Context, event.Launch) *event.Estimate
	wants    []talk.Want    // of this turn, from before it was cut
	wanted   map[string]int // how many in this turn, by call
}

func newLaunchRun(t *turn, k *Talker, w talk.Work) *launchRun {
	l := &launchRun{t: t, team: w.Staffed.Team, estimate: k.Estimate, wants: slices.Clone(w.Wants), wanted: map[string]int{}}
	for _, x := range w.Wants {
		l.wanted[x.Call]++
	}
	return l
}

func (*launchRun) Name() string              { return event.ToolLaunchRun }
func (*launchRun) Description() string       { return launch.Description() }
func (l *launchRun) Schema() json.RawMessage { return launch.Schema(l.team) }
func (*launchRun) Tier() tool.Tier           { return tool.World }

// Run is not used: see call.
func (*launchRun) Run(context.Context, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, errors.New("launch_run has to know which call it is")
}

// call wants a run, or finds the one that was wanted, and waits for its end.
func (l *launchRun) call(ctx context.Context, c event.ToolCall) (tool.Result, error) {
	w, known := l.known(c)
	if !known {
		p, err := launch.Parse(c.Input)
		if err != nil {
			return problem(err)
		}
		body, err := l.body(ctx, c, p)
		if err != nil {
			return problem(err)
		}
		if w, known = l.alike(body.Launch); !known {
			w.ID = l.id(c)
			if no, err := l.want(ctx, event.Fact{ID: w.ID, Agent: l.t.id, Body: body}); no != nil || err != nil {
				return deref(no), err
			}
		}
	}
	if !w.Over() {
		n, err := l.t.box.await(ctx, func(n note) bool { return n.Kind == talk.NoteWant && n.want != nil && n.want.ID == w.ID })
		if err != nil {
			return tool.Result{}, err
		}
		w = *n.want
	}
	return l.result(ctx, w)
}

// id is what the fact that wants the run is called. Some providers use the id of
// a call more than once.
func (l *launchRun) id(c event.ToolCall) string {
	id := fmt.Sprintf("want/%s/%d/%s", l.t.id, l.t.turn.Round, c.ID)
	if l.wanted[c.ID]++; l.wanted[c.ID] > 1 {
		id += fmt.Sprintf("~%d", l.wanted[c.ID])
	}
	return id
}

// known is the run that the call wanted before it was cut.
func (l *launchRun) known(c event.ToolCall) (talk.Want, bool) {
	i := slices.IndexFunc(l.wants, func(w talk.Want) bool { return w.Call == c.ID && !w.Taken })
	if i < 0 {
		return talk.Want{}, false
	}
	return l.take(i), true
}

// ended notes what has come of a run from before the cut that no call waits for
// yet.
func (l *launchRun) ended(w talk.Want) {
	if i := slices.IndexFunc(l.wants, func(x talk.Want) bool { return x.ID == w.ID }); i >= 0 {
		l.wants[i] = w
	}
}

// alike is the run that a backend with a loop of its own wanted before it was cut,
// and now wants under another id.
func (l *launchRun) alike(x event.Launch) (talk.Want, bool) {
	i := slices.IndexFunc(l.wants, func(w talk.Want) bool { return w.Revision == 1 && reflect.DeepEqual(w.Launch, x) })
	if i < 0 || !l.t.agent.Backend.Traits().OwnsLoop {
		return talk.Want{}, false
	}
	return l.take(i), true
}

func (l *launchRun) take(i int) talk.Want {
	w := l.wants[i]
	l.wants = slices.Delete(l.wants, i, i+1)
	return w
}

// body is the call as it is recorded.
func (l *launchRun) body(ctx context.Context, c event.ToolCall, p launch.Params) (event.Wanted, error) {
	x, err := p.Launch(l.team)
	if err != nil {
		return event.Wanted{}, err
	}
	for _, text := range []*event.Content{&x.Task, &x.Context} {
		if text.Empty() {
			continue
		}
		if *text, err = l.t.content(ctx, text.Text); err != nil {
			return event.Wanted{}, err
		}
	}
	out := event.Wanted{Turn: l.t.turn, Call: c.ID, Launch: x}
	if l.estimate != nil {
		out.Estimate = l.estimate(ctx, x)
	}
	return out, nil
}

// want records what is wanted. If nothing comes of it the result says why.
func (l *launchRun) want(ctx context.Context, f event.Fact) (*tool.Result, error) {
	events, err := l.t.port.Submit(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Refused:
			if b.Ref == f.ID && b.Over {
				return nil, cmp.Or(context.Cause(ctx), errTurnOver)
			}
			if b.Ref == f.ID {
				no := tool.Failed(b.Why)
				return &no, nil
			}
		case event.Asked:
			if b.Ref == f.ID {
				return nil, nil
			}
		case event.Launched:
			if b.Want == f.ID {
				return nil, nil
			}
		}
	}
	return nil, errTurnOver
}

// result is what the model is told a run has come to: the whole RunResult, and
// one in the same form where there was no run. What a person changed or said about
// it before it was launched is told after that.
func (l *launchRun) result(ctx context.Context, w talk.Want) (tool.Result, error) {
	r := w.Returned
	switch {
	case w.Refused != nil:
		return tool.Failed(w.Refused.Why), nil
	case r == nil:
		return tool.Result{Text: runOutcome{Status: event.StatusCancelled, StoppedBy: event.StoppedByUser, Error: notApproved(w.Closed)}.text()}, nil
	}
	text, err := l.t.outcomeOf(ctx, *r)
	if err != nil {
		return tool.Result{}, err
	}
	about, err := l.approved(ctx, w)
	return tool.Result{Text: text + about}, err
}

// outcomeOf is what a run has come to, as a RunResult.
func (t *turn) outcomeOf(ctx context.Context, r event.Returned) (string, error) {
	text, err := t.text(ctx, r.Result)
	if err != nil || text != "" {
		return text, err
	}
	out := runOutcome{Status: cmp.Or(r.Status, event.StatusError), StoppedBy: r.StoppedBy, Workspace: r.Workspace, Error: r.Error}
	out.Answer, err = t.text(ctx, r.Answer)
	return out.text(), err
}

// approved is what a person did to a run before it was launched.
func (l *launchRun) approved(ctx context.Context, w talk.Want) (string, error) {
	var out string
	if w.Revision > 1 {
		task, err := l.t.text(ctx, w.Launch.Task)
		if err != nil {
			return "", err
		}
		context, err := l.t.text(ctx, w.Launch.Context)
		if err != nil {
			return "", err
		}
		p, err := json.Marshal(launch.Of(w.Launch, task, context))
		if err != nil {
			return "", fmt.Errorf("write down what was launched: %w", err)
		}
		out = "\n\n" + changedBefore + "\n" + string(p)
	}
	if w.Closed != nil && strings.TrimSpace(w.Closed.Text) != "" {
		out += "\n\n" + saidBefore + "\n" + w.Closed.Text
	}
	return out, nil
}

// runOutcome is a RunResult as far as there is one.
type runOutcome struct {
	Status    event.Status    `json:"status"`
	StoppedBy event.StoppedBy `json:"stopped_by,omitempty"`
	Answer    string          `json:"final_answer,omitempty"`
	Workspace string          `json:"workspace_path,omitempty"`
	Error     string          `json:"error,omitempty"`
}

func (r runOutcome) text() string {
	p, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(p)
}

// problem is what the model can mend by itself.
func problem(err error) (tool.Result, error) {
	if p, ok := errors.AsType[*launch.Problem](err); ok {
		return tool.Failed(p.Why), nil
	}
	return tool.Result{}, err
}

func deref(r *tool.Result) tool.Result {
	if r == nil {
		return tool.Result{}
	}
	return *r
}
