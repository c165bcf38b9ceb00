package job

import (
	"cmp"
	"fmt"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// run carries out a tactical phase.
type run struct {
	event.Launched
	Cancel   *Cancel         `json:"cancel,omitempty"`
	Returned *event.Returned `json:"returned,omitempty"`
	Idle     bool            `json:"idle,omitempty"` // it has changed no file
}

func (r *run) going() bool { return r != nil && r.Returned == nil }

// end has the run come to its end.
func (r *run) end(c *Cancel) []flow.Command {
	r.Cancel = c
	return []flow.Command{flow.Tell{Work: Launch{Launched: r.Launched}.Key(), Note: *c}}
}

// launch is the run that carries out the phase that goes on.
func (j *Job) launch() event.Fact {
	p := j.s.Phase
	agents := j.rules().Agents
	if len(agents) == 0 {
		agents = []event.AgentID{j.s.Started.Seat.Agent}
	}
	l := event.Launch{
		Task: event.Inline(task(p)), Agents: agents, Single: len(agents) == 1,
		Paths: []event.ContextPath{{Path: j.s.Started.Dir, Write: true, Protected: []string{"documents", "tools", "archive", "review", "todos.yaml"}}},
	}
	b := event.Launched{
		Run: dialog.RunName(p.At, j.s.Flow, p.Key()), Purpose: event.PurposeExecute, Said: p.Key(),
		Launch: &l, Grant: j.s.Ledger.Left(),
	}
	if l.Single {
		b.Modes = event.Modes{Single: true, Agent: agents[0]}
	}
	return event.Fact{ID: "launched/" + string(b.Run), Body: b}
}

// task is what the run is to do.
func task(p *phase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Carry out phase %d of the plan in plan.md", p.Phase)
	if p.Name != "" {
		fmt.Fprintf(&b, " (%s)", p.Name)
	}
	b.WriteString(", all of these todos:\n")
	for _, t := range open(p.Todos) {
		fmt.Fprintf(&b, "- %s\n", t.Text)
	}
	b.WriteString("What matters about the job is in workspace.md. Put results into output/.")
	return b.String()
}

func (j *Job) launched(b event.Launched) []flow.Command {
	if j.s.Run != nil || j.s.Phase == nil {
		return nil // a damaged log; Check says so
	}
	j.s.Run = &run{Launched: b}
	if b.Grant.Limited() {
		j.s.Ledger.Reserve("launch/"+string(b.Run), amount(b.Grant))
	}
	return []flow.Command{j.launching()}
}

// launching is the command for the run that goes on.
func (j *Job) launching() Launch {
	r := j.s.Run
	return Launch{Launched: r.Launched, Started: *j.s.Started, Phase: j.s.Phase.PhaseBegun, Cancel: r.Cancel}
}

// returned takes in what the run has come to: all todos of the phase are done, or
// a person is asked.
func (j *Job) returned(b event.Returned) {
	r, p := j.s.Run, j.s.Phase
	if !r.going() || r.Run != b.Run {
		return
	}
	r.Returned = &b
	j.s.Ran = j.s.Ran.Add(b.Usage)
	j.s.Ledger.Settle("launch/"+string(b.Run), b.Usage.Amount())
	switch {
	case b.Status == event.StatusSuccess:
		var ids []string
		for _, t := range open(p.Todos) {
			ids = append(ids, t.ID)
		}
		p.done(ids, "")
	case j.late():
		p.Stuck = &trouble{capTime, fmt.Sprintf("The job has worked for %s, which is all the time it has.", j.limit())}
	default:
		p.Stuck = &trouble{capRun, fmt.Sprintf("The run %s has not carried out the phase: %s", b.Run, cmp.Or(b.Error, string(b.Status), "it gave no status"))}
	}
}

func amount(b event.Budget) event.Amount {
	var a event.Amount
	if b.Tokens != nil {
		a.Tokens = *b.Tokens
	}
	if b.Cost != nil {
		a.Cost = *b.Cost
	}
	return a
}
