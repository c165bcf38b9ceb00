package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/view"
)

const toolLaunch = event.ToolLaunchRun

// pending is what a call comes to that ends before its run.
type pending struct {
	Status  string       `json:"status"` // running, awaiting_approval or cancelled
	RunID   event.FlowID `json:"run_id,omitempty"`
	Want    string       `json:"want,omitempty"`
	Session event.FlowID `json:"session,omitempty"`
	// Progress is how the run stands, in words.
	Progress string `json:"progress,omitempty"`
	// Of a run that a person did not approve: as any result tells it, and what
	// they said.
	StoppedBy event.StoppedBy `json:"stopped_by,omitempty"`
	Error     string          `json:"error,omitempty"`
	Note      string          `json:"note,omitempty"`
	How       string          `json:"how"`
}

// Statuses besides those of a run that is over.
const (
	statusRunning  = "running"
	statusAwaiting = "awaiting_approval"
)

// launchRun has a run launched and waits for what it comes to.
func (s *Server) launchRun(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	params, err := launch.Parse(orEmpty(r.Params.Arguments))
	if err != nil {
		return nil, err
	}
	id := identity(r, params)
	m, err := s.find(ctx, r, id, params)
	if err != nil {
		return nil, err
	}
	s.join(callOf(ctx), m)
	callOf(ctx).ends = m
	until := time.NewTimer(s.o.Wait)
	defer until.Stop()
	t, asking, reply := newTeller(r), s.mayAsk(r), ""
	if ticket, ok := s.returned(r, m.place); ok {
		if reply, err = s.reply(ctx, r, ticket, r.Params.InputResponses[question]); err != nil {
			return nil, err
		}
		asking = asking && reply != "" // who has not decided is not pressed
	}
	var st state
	for {
		st, err = s.watch(ctx, m.place, t, until.C, func(st state) bool {
			return judged(st, reply) && (st.want.over() || st.want.open() && asking)
		})
		if err == nil && st.want.open() && asking && !st.late {
			if newEra(r) {
				return s.ask(ctx, m.place, st.want)
			}
			st, reply, asking, err = s.dialogue(ctx, r, m.place, st.want, t, until.C)
		}
		if err != nil {
			return nil, err
		}
		if st.late || st.want.over() && judged(st, reply) {
			break
		}
	}
	res, err := s.outcome(ctx, m, st)
	if why := st.refused[reply]; err == nil && why != "" {
		res.Content = append(res.Content, &sdk.TextContent{Text: "Your user's answer did not count: " + why})
	}
	return res, err
}

// outcome is what a call comes to.
func (s *Server) outcome(ctx context.Context, m *made, st state) (*sdk.CallToolResult, error) {
	w := st.want
	switch {
	case w.refused != "":
		return nil, &launch.Problem{Why: w.refused}
	case w.returned != nil:
		callOf(ctx).tells = m
		return s.runResult(ctx, w.run, w.returned)
	}
	return result(s.pending(ctx, m.place, w))
}

// pending is how a run stands that is not over.
func (s *Server) pending(ctx context.Context, p place, w want) pending {
	out := pending{Status: statusRunning, RunID: w.run, Want: w.id, Session: p.session}
	switch {
	case w.closed != nil && w.closed.Choice != event.LaunchApprove:
		out.never(*w.closed)
	case w.open():
		out.Status = statusAwaiting
		out.How = fmt.Sprintf("A person has to approve this run before it begins. Tell them: %s. Then call get_run with run_id %q and wait, or launch_run again with the same arguments; that does not launch it twice.", how(p, w), w.id)
	case w.run == "":
		out.How = fmt.Sprintf("The run is about to begin. Call get_run with run_id %q and wait.", w.id)
	default:
		out.How = fmt.Sprintf("The run goes on. Call get_run with run_id %q and wait for its result; do not launch it again.", w.run)
		if now, err := s.c.Open(ctx, w.run); err == nil {
			out.Progress = words(now)
		}
	}
	return out
}

// never is for a run that was not approved: it is cancelled like one that was
// ended, except that there is nothing to show for it.
func (p *pending) never(c event.Closed) {
	p.Status, p.StoppedBy, p.Note = string(event.StatusCancelled), event.StoppedByUser, strings.TrimSpace(c.Text)
	p.Error = "the user did not approve this run"
	p.How = "A person decided that this run is not launched. Do not launch it again unless they ask for it."
	if c.How == "cancelled" {
		p.Error, p.How = "the run was called off before it began", "The run was called off before it began."
	}
	if p.Note != "" {
		p.Error += ": " + p.Note
	}
}

// runResult is what a run has come to. One that could not begin has no log.
func (s *Server) runResult(ctx context.Context, run event.FlowID, r *event.Returned) (*sdk.CallToolResult, error) {
	if r != nil && r.Status == "" {
		return nil, fmt.Errorf("the run could not begin: %s", r.Error)
	}
	now, err := s.c.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	full, err := resolve(ctx, s.c, now.Result.RunResult())
	if err != nil {
		return nil, err
	}
	return result(full)
}

// resolve puts the texts into a result that are kept beside it.
func resolve(ctx context.Context, c control.Control, r view.RunResult) (view.RunResult, error) {
	texts := map[event.Hash]string{}
	for _, h := range r.Blobs() {
		t, err := c.Text(ctx, event.Content{Blob: h})
		if err != nil {
			return r, err
		}
		texts[h] = t
	}
	return r.Fill(texts), nil
}

func orEmpty(p json.RawMessage) json.RawMessage {
	if len(p) == 0 {
		return json.RawMessage("{}")
	}
	return p
}
