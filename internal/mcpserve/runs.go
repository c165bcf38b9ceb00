package mcpserve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A row is one run in a list.
type row struct {
	RunID     event.FlowID    `json:"run_id"`
	Task      string          `json:"task"`
	State     string          `json:"state"`
	Mode      string          `json:"mode"`
	Agents    []event.AgentID `json:"agents"`
	Session   event.FlowID    `json:"session,omitempty"`
	StartedAt time.Time       `json:"started_at"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
}

// listLimit is how many runs are listed if nothing is said, listMost at most.
const (
	listLimit = 20
	listMost  = 200
)

func (s *Server) listRuns(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Limit  int    `json:"limit"`
		Before string `json:"before"`
	}
	if err := arguments(r, &in); err != nil {
		return nil, err
	}
	if in.Limit < 0 || in.Limit > listMost {
		return nil, fmt.Errorf("limit is %d and has to be from 1 to %d; with before the list goes on", in.Limit, listMost)
	}
	var before event.FlowID
	if in.Before != "" {
		var err error
		if before, err = s.run(ctx, in.Before); err != nil {
			return nil, err
		}
	}
	rows, more, err := s.rows(ctx, cmp.Or(in.Limit, listLimit), before)
	if err != nil {
		return nil, err
	}
	return result(map[string]any{"runs": rows, "more": more})
}

// rows are the newest runs, or those that come before one, and whether there are
// older ones.
func (s *Server) rows(ctx context.Context, limit int, before event.FlowID) (out []row, more bool, err error) {
	flows, err := s.c.Flows(ctx)
	if err != nil {
		return nil, false, err
	}
	out = []row{}
	for _, f := range flows {
		switch {
		case f.Kind != view.KindRun:
			continue
		case before != "":
			if f.ID == before {
				before = ""
			}
			continue
		case len(out) == limit:
			return out, true, nil
		}
		out = append(out, row{
			RunID: f.ID, Task: s.title(ctx, f), State: f.State(), Mode: f.Mode, Agents: f.Agents, Session: f.Parent,
			StartedAt: f.Started, EndedAt: f.Ended,
		})
	}
	return out, false, nil
}

// title is the task of a run on one line.
func (s *Server) title(ctx context.Context, f control.Flow) string {
	text, err := s.c.Text(ctx, f.Task)
	if err != nil {
		return f.Title(200)
	}
	return view.Shorten(view.OneLine(text), 200)
}

// getRun tells how a run stands and waits for its end if it is asked to. A run
// that was wanted and is not launched yet is known by the id of its want.
func (s *Server) getRun(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		RunID string `json:"run_id"`
		Wait  int    `json:"wait"`
	}
	if err := arguments(r, &in); err != nil {
		return nil, err
	}
	wait := s.o.Wait
	if in.Wait < int(wait/time.Second) { // what is more does not fit into a duration
		wait = min(time.Duration(max(in.Wait, 0))*time.Second, wait)
	}
	until := time.NewTimer(wait)
	defer until.Stop()
	if strings.HasPrefix(in.RunID, "want/") {
		return s.getWant(ctx, r, in.RunID, until.C)
	}
	id, err := s.run(ctx, in.RunID)
	if err != nil {
		return nil, err
	}
	// The result is owed to nobody any more once it is told here.
	if m := s.madeAs(ctx, id); m != nil {
		return s.await(ctx, r, m, until.C)
	}
	now, err := s.end(ctx, id, newTeller(r), until.C)
	if err != nil {
		return nil, err
	}
	if now.Card.Status != "" {
		return s.runResult(ctx, id, nil)
	}
	return s.unfinished(ctx, id, now)
}

// unfinished is how a run stands that nobody wanted here.
func (s *Server) unfinished(ctx context.Context, id event.FlowID, now view.Snapshot) (*sdk.CallToolResult, error) {
	out := pending{Status: statusRunning, RunID: id, Progress: words(now)}
	out.How = fmt.Sprintf("The run goes on. Call get_run with run_id %q and wait for its result.", id)
	if _, driven, err := s.c.Driver(ctx, id); err == nil && !driven {
		out.How = fmt.Sprintf("Nobody drives this run, so it does not go on. A person can take it up with: conclave resume %s", id)
	}
	return result(out)
}

// await waits for a run that was wanted here.
func (s *Server) await(ctx context.Context, r *sdk.CallToolRequest, m *made, until <-chan time.Time) (*sdk.CallToolResult, error) {
	s.join(callOf(ctx), m)
	st, err := s.watch(ctx, m.place, newTeller(r), until, func(st state) bool { return st.want.over() })
	if err != nil {
		return nil, err
	}
	return s.outcome(ctx, m, st)
}

// getWant is getRun by the id of a want.
func (s *Server) getWant(ctx context.Context, r *sdk.CallToolRequest, id string, until <-chan time.Time) (*sdk.CallToolResult, error) {
	m, err := s.byWant(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, r, m, until)
}

// run resolves what a client calls a run.
func (s *Server) run(ctx context.Context, typed string) (event.FlowID, error) {
	if strings.TrimSpace(typed) == "" {
		return "", errors.New("run_id is missing; list_runs tells which runs there are")
	}
	id, err := s.c.Find(ctx, typed)
	if err != nil {
		return "", err
	}
	now, err := s.c.Open(ctx, id)
	if err != nil {
		return "", err
	}
	if now.Session != nil {
		return "", fmt.Errorf("%s is a session and not a run; list_runs tells which runs there are", id)
	}
	return id, nil
}

// end follows a run until it is over, as long as the call may wait.
func (s *Server) end(ctx context.Context, id event.FlowID, t *teller, until <-chan time.Time) (view.Snapshot, error) {
	now, err := s.c.Open(ctx, id)
	if err != nil || now.Card.Status != "" {
		return now, err
	}
	ctx, done := context.WithCancel(ctx)
	news, broken, over := make(chan view.Snapshot), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		s.followRun(ctx, id, news, broken)
	}()
	defer func() { done(); <-over }()
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for {
		select {
		case now = <-news:
			if now.Card.Status != "" {
				return now, nil
			}
			t.tell(ctx, words(now))
		case <-ticks.C:
			t.again(ctx)
		case <-until:
			return now, nil
		case err := <-broken:
			return now, err
		case <-ctx.Done():
			return now, ctx.Err()
		}
	}
}

// cancelRun ends a run with what it has.
func (s *Server) cancelRun(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		RunID string `json:"run_id"`
	}
	if err := arguments(r, &in); err != nil {
		return nil, err
	}
	until := time.NewTimer(s.o.Wait)
	defer until.Stop()
	if strings.HasPrefix(in.RunID, "want/") {
		m, err := s.byWant(ctx, in.RunID)
		if err != nil {
			return nil, err
		}
		if err := s.withdraw(ctx, m.place, "cancelled it"); err != nil {
			return nil, err
		}
		return s.await(ctx, r, m, until.C)
	}
	id, err := s.run(ctx, in.RunID)
	if err != nil {
		return nil, err
	}
	now, err := s.c.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	if now.Card.Status != "" {
		return nil, fmt.Errorf("%s was already over: %s", id, now.Card.Status)
	}
	ask := event.Fact{ID: "cancel/mcp/" + string(id) + "/" + time.Now().Format(time.RFC3339Nano),
		Body: event.CancelRequested{By: clientName(r), Reason: "cancel_run"}}
	if err := s.sendOrEnd(ctx, id, ask); err != nil {
		return nil, err
	}
	if m := s.madeAs(ctx, id); m != nil {
		return s.await(ctx, r, m, until.C)
	}
	if now, err = s.end(ctx, id, newTeller(r), until.C); err != nil || now.Card.Status == "" {
		return nil, errors.Join(err, fmt.Errorf("%s was told to end and has not yet", id))
	}
	return s.runResult(ctx, id, nil)
}

// sendOrEnd asks a run's driver to end it, or ends a run that nobody drives.
func (s *Server) sendOrEnd(ctx context.Context, id event.FlowID, ask event.Fact) error {
	_, driven, err := s.c.Driver(ctx, id)
	if err != nil {
		return err
	}
	if !driven {
		err = s.c.Resume(ctx, id, false, ask)
		if _, faster := errors.AsType[*control.Driven](err); !faster {
			return err
		}
	}
	return s.c.Send(ctx, id, ask)
}

// getAnswer gives one answer of a run.
func (s *Server) getAnswer(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		RunID    string `json:"run_id"`
		Agent    string `json:"agent"`
		Revision int    `json:"revision"`
	}
	if err := arguments(r, &in); err != nil {
		return nil, err
	}
	id, err := s.run(ctx, in.RunID)
	if err != nil {
		return nil, err
	}
	now, err := s.c.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	full, err := resolve(ctx, s.c, now.Result.RunResult())
	if err != nil {
		return nil, err
	}
	a, err := pick(full, in.Agent, in.Revision)
	if err != nil {
		return nil, err
	}
	a.RunID = id
	return result(a)
}

// An answer is one of a run's.
type answer struct {
	RunID     event.FlowID  `json:"run_id"`
	Agent     event.AgentID `json:"agent,omitempty"`
	Label     event.Label   `json:"label,omitempty"`
	Revision  int           `json:"revision,omitempty"`
	Final     bool          `json:"final"`
	Content   string        `json:"content"`
	Workspace string        `json:"workspace,omitempty"`
}

// pick finds the answer that is asked for: the run's own, the newest of an agent,
// or one revision of it. An agent may be named by its id or its label.
func pick(r view.RunResult, agent string, revision int) (answer, error) {
	if agent == "" && revision == 0 {
		if r.FinalAnswer.Text == "" {
			return answer{}, fmt.Errorf("the run has no final answer%s", have(r))
		}
		return answer{Agent: r.Coordination.Presenter, Final: true, Content: r.FinalAnswer.Text, Workspace: r.WorkspacePath}, nil
	}
	for i := len(r.Answers) - 1; i >= 0; i-- {
		a := r.Answers[i]
		if (agent == "" || agent == string(a.Agent) || agent == string(a.Label)) && (revision == 0 || revision == a.Revision) {
			return answer{Agent: a.Agent, Label: a.Label, Revision: a.Revision, Content: a.Content.Text, Workspace: a.Workspace}, nil
		}
	}
	return answer{}, fmt.Errorf("there is no such answer%s", have(r))
}

// have lists the answers there are.
func have(r view.RunResult) string {
	if len(r.Answers) == 0 {
		return "; no agent has answered yet"
	}
	var names []string
	for _, a := range r.Answers {
		names = append(names, fmt.Sprintf("%s revision %d", a.Agent, a.Revision))
	}
	return "; there are: " + strings.Join(names, ", ")
}
