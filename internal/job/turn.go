package job

import (
	"slices"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// turn is the agent at work, in as many takes as it needs.
type turn struct {
	dialog.Stint
	Brief Brief `json:"brief"`
	// Verdicts are on what it has put forward. Did: some of that has brought the
	// phase nearer to its end.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	Did      bool      `json:"did,omitempty"`
}

// CodeStopped is the code of a Failed of a turn that was stopped by a person.
const CodeStopped = "stopped"

// tell gives the take that goes on a note.
func (t *turn) tell(n Note) flow.Command { return flow.Tell{Work: t.WorkKey(), Note: n} }

// judged notes a verdict on something the turn has put forward.
func (t *turn) judged(v Verdict) { t.Verdicts = append(slices.Clip(t.Verdicts), v) }

// keptFor notes a commit if it is for something the turn has put forward.
func (t *turn) keptFor(b event.Kept) bool {
	i := slices.IndexFunc(t.Verdicts, func(v Verdict) bool { return v.ID == b.Ref })
	if i < 0 {
		return false
	}
	t.Verdicts = slices.Clone(t.Verdicts)
	t.Verdicts[i].Kept = b.Commit
	return true
}

// current reports whether t is the take the agent is in.
func (j *Job) current(a event.AgentID, t event.Turn) bool {
	return j.s.Turn != nil && j.s.Turn.Current(a, t)
}

// resting reports whether the next take waits because a provider asked for it.
func (j *Job) resting() bool {
	t := j.s.Turn
	return t != nil && !t.Live && j.s.Clock.Up < t.Rest
}

func (j *Job) assign(a event.AgentID, b event.Assigned) []flow.Command {
	p, t := j.s.Phase, j.s.Turn
	if p == nil {
		return nil // a damaged log; Check says so
	}
	if t == nil || t.Round != b.Round {
		t = &turn{Brief: p.Brief}
		if p.Turns++; p.Turns > 1 {
			t.Brief = Brief{Purpose: BriefNudge, Round: j.s.Round, Idle: p.Idle}
		}
	}
	t.Begin(a, b.Turn)
	j.s.Turn, j.s.Rounds = t, max(j.s.Rounds, b.Round)
	return []flow.Command{j.work()}
}

// leave ends the turn. An iteration that has ended is kept then.
func (j *Job) leave() []flow.Command {
	t, p := j.s.Turn, j.s.Phase
	t.Leave(&j.s.Ledger)
	j.s.Turn = nil
	if p.Idle++; t.Did {
		p.Idle = 0
	}
	return j.boundary()
}

// stop has the take that goes on come to its end.
func (j *Job) stop() []flow.Command {
	j.s.Turn.Stopped = true
	return []flow.Command{flow.Stop{Work: j.s.Turn.WorkKey()}}
}

// interrupt ends a take that was cut.
func (j *Job) interrupt(a event.AgentID, b event.Interrupted) []flow.Command {
	if !j.current(a, b.Turn) {
		return nil
	}
	do := []flow.Command{flow.Stop{Work: b.Turn.Key(a)}}
	t := j.s.Turn
	if t.Stopped || !j.goesOn() {
		return append(do, j.leave()...)
	}
	t.Leave(&j.s.Ledger)
	return do
}

func (j *Job) called(e event.Event, b event.Called) {
	j.settle(b.Request, b.Usage)
	if !j.current(e.Agent, b.Turn) {
		return
	}
	j.s.Turn.Called(b.Request, b.Tools)
	j.s.Remember(dialog.Entry{ID: e.ID, At: e.At, Turn: b.Turn, Called: &b})
}

func (j *Job) toolReturned(e event.Event, b event.ToolReturned) {
	if j.current(e.Agent, b.Turn) {
		j.s.Turn.Returned(b.Call)
		j.s.Remember(dialog.Entry{ID: e.ID, At: e.At, Turn: b.Turn, Returned: &b})
	}
}

func (j *Job) compacted(e event.Event, b event.Compacted) {
	j.settle(b.Request, b.Usage)
	if !j.current(e.Agent, b.Turn) {
		return
	}
	if !b.Outline {
		j.s.Turn.Called(b.Request, nil)
	}
	j.s.Compact(b)
}

func (j *Job) fail(e event.Event, b event.Failed) []flow.Command {
	j.settle(b.Request, b.Usage)
	if !j.current(e.Agent, b.Turn) {
		return nil
	}
	t := j.s.Turn
	t.Settled(b.Request)
	t.Attempts++
	t.Rest = j.s.Clock.Up + max(time.Duration(b.RetryAfter), 0)
	switch {
	case b.Code == CodeStopped || t.Stopped || !j.goesOn():
	case b.Final || t.Attempts >= max(j.rules().MaxAttempts, 1):
		j.s.Phase.Stuck = &trouble{Cap: capAttempts, Why: failedWords(t.Attempts, b)}
	default:
		t.Leave(&j.s.Ledger)
		return nil
	}
	return j.leave()
}

// settle books what a call consumed.
func (j *Job) settle(request string, u event.Usage) {
	j.s.Talked = j.s.Talked.Add(u)
	dialog.Settle(&j.s.Ledger, request, u)
}

func (j *Job) grant(b event.Granted) {
	e, ok := j.inbox.Take(b.Request)
	if !ok {
		return
	}
	q, ok := e.Body.(event.Requested)
	if !ok {
		return // a damaged log; Check says so
	}
	j.s.Ledger.Reserve(e.ID, q.Amount)
	if j.current(e.Agent, q.Turn) {
		j.s.Turn.Granted(e.ID, q.Amount)
	}
}
