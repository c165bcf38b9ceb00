package job

import (
	"fmt"
	"slices"
	"time"

	"conclave/internal/event"
)

// Due is what the state demands to be recorded next, at most one fact: first
// verdicts, then what a crash or time has brought about, then the end of a phase,
// then what follows it, then turns.
func (j *Job) Due() []event.Fact {
	if j.s.Started == nil {
		return nil
	}
	for _, next := range order {
		if f, ok := next(j); ok {
			return []event.Fact{f}
		}
	}
	return nil
}

// order is in which order a job looks for what is due.
var order = []func(*Job) (event.Fact, bool){
	(*Job).verdict, (*Job).cutOff, (*Job).lapsed, (*Job).over, (*Job).next, (*Job).begin,
}

// Decides reports whether a body is one that a job decides, not one that happens
// to it.
func (j *Job) Decides(b event.Body) bool {
	switch b.(type) {
	case event.Admitted, event.Refused, event.Granted, event.Asked, event.Closed, event.Launched,
		event.Assigned, event.Interrupted, event.PhaseBegun, event.PhaseEnded, event.JobEnded:
		return true
	}
	return false
}

// Hears reports whether a body may come from anybody.
func (j *Job) Hears(b event.Body) bool {
	switch b.(type) {
	case event.Replied, event.Edited, event.Commented, event.Resolved, event.Responded, event.Drafted,
		event.Corrected, event.Renamed, event.CancelRequested, event.Held:
		return true
	}
	return false
}

// Wake is the next moment at which time alone changes what is due: a question
// expires, a provider has been left alone for long enough, or the job has worked
// for as long as it may.
func (j *Job) Wake() (time.Time, bool) {
	var next time.Duration
	ok := false
	in := func(d time.Duration) {
		if !ok || d < next {
			next, ok = d, true
		}
	}
	for _, w := range j.s.Wishes.Wishes {
		if w.Expires() {
			in(w.Deadline() - j.s.Clock.Up)
		}
	}
	if j.resting() {
		in(j.s.Turn.Rest - j.s.Clock.Up)
	}
	if j.goesOn() && j.rules().Time > 0 && !j.late() && !j.s.Asking() {
		in(j.limit() - j.s.Worked)
	}
	if !ok {
		return time.Time{}, false
	}
	return j.s.Clock.Now.Add(next), true
}

// cutOff ends the take whose driver went away. Of what the tools of the job itself
// have put forward nothing is unknown: the log has it.
func (j *Job) cutOff() (event.Fact, bool) {
	t := j.s.Turn
	if t == nil || !t.Cut {
		return event.Fact{}, false
	}
	b := event.Interrupted{Turn: t.Turn, Why: "the program stopped in the middle of it"}
	for _, c := range t.Open {
		if !Owns(c.Name) {
			b.Unknown = append(b.Unknown, c)
		}
	}
	return event.Fact{ID: "interrupted/" + string(t.Agent) + "/" + t.Turn.String(), Agent: t.Agent, Body: b}, true
}

// Owns reports whether a tool is one of the job itself: what it puts forward is in
// the log, with its verdict.
func Owns(tool string) bool { return slices.Contains(ownTools, tool) }

var ownTools = []string{
	event.ToolNextPhaseTodos, event.ToolTodoComplete, event.ToolTodoList,
	event.ToolTodoRewind, event.ToolJobComplete, event.ToolAddressComment,
}

// begin sets the agent to work, or launches the run that does.
func (j *Job) begin() (event.Fact, bool) {
	if !j.goesOn() || j.Over() || j.s.Cancel != nil {
		return event.Fact{}, false
	}
	if j.byRun() {
		if j.s.Run != nil {
			return event.Fact{}, false
		}
		return j.launch(), true
	}
	b := event.Assigned{Turn: event.Turn{Round: j.s.Rounds + 1, Take: 1}}
	switch t := j.s.Turn; {
	case t != nil && (t.Live || j.resting()):
		return event.Fact{}, false
	case t != nil:
		b.Turn = event.Turn{Round: t.Round, Take: t.Take + 1}
	}
	a := j.s.Started.Seat.Agent
	return event.Fact{ID: "assigned/" + string(a) + "/" + b.Turn.String(), Agent: a, Body: b}, true
}

// next is what follows once nothing goes on and everything is kept.
func (j *Job) next() (event.Fact, bool) {
	p := j.s.Phase
	if j.Over() || j.s.Turn != nil || j.s.Run.going() || len(j.s.Keeps) > 0 || j.goesOn() || p != nil && !p.Kept {
		return event.Fact{}, false
	}
	switch {
	case j.s.Cancel != nil && j.Frozen():
		return j.calledOff(), true
	case j.s.Cancel != nil:
		return j.end(event.JobEnded{Status: event.StatusCancelled, Why: j.s.Cancel.Reason}), true
	case j.s.Prepared == nil:
		return event.Fact{}, false
	case j.s.Corrected != "":
		return j.opening(j.strategic(event.PurposeCorrect, j.s.Corrected)), true
	case p == nil:
		return j.opening(j.strategic(event.PurposeInitial, "")), true
	case p.Outcome != nil:
		return j.end(event.JobEnded{Status: event.StatusSuccess, JobOutcome: *p.Outcome}), true
	case j.s.Gate != nil:
		return j.afterGate()
	case p.Ended.How == event.EndedTrouble:
		return j.troubled(*p.Stuck), true
	case !p.strategic():
		return j.opening(j.strategic(event.PurposeTransition, "")), true
	}
	return j.planned(), true
}

// planned is what follows a strategic phase that has planned another one.
func (j *Job) planned() event.Fact {
	p := j.s.Phase
	if why := planProblem(j.s.Plan); why != "" {
		if p.Mends >= max(j.rules().MaxIdle, 1) {
			return j.troubled(trouble{capPlan, "The agent has planned nothing that can be carried out. " + why})
		}
		return j.opening(j.again(p.Purpose, template(mend), ""))
	}
	if reasons, ok := j.reviewed(); ok && !p.Approved {
		return j.review(reasons)
	}
	return j.opening(j.tactical(""))
}

// afterGate is what follows what a person was asked.
func (j *Job) afterGate() (event.Fact, bool) {
	g, p := j.s.Gate, j.s.Phase
	if g.Closed == nil {
		if g.Revision == g.Asked.Revision {
			return event.Fact{}, false
		}
		return j.anew(), true
	}
	ref := g.Closed.Reply
	switch g.Closed.Choice {
	case event.ReviewApprove, event.ReviewSkip:
		return j.opening(j.tactical(ref)), true
	case event.TroubleRetry:
		if !p.strategic() {
			b := j.again(p.Purpose, j.s.Plan.Todos, ref)
			b.Name = j.s.Plan.Name
			return j.opening(b), true
		}
		return j.opening(j.again(p.Purpose, p.Todos, ref)), true
	case event.ReviewChange:
		if p.strategic() {
			return j.opening(j.again(event.PurposeRevise, template(event.PurposeRevise), ref)), true
		}
		return j.opening(j.strategic(event.PurposeCorrect, ref)), true
	}
	e := event.JobEnded{Status: event.StatusCancelled, Why: g.Closed.Text}
	if g.Kind == event.GateTrouble {
		e.Status, e.Why = event.StatusError, g.Why
	}
	return j.end(e), true
}

// strategic is the strategic phase that comes next.
func (j *Job) strategic(purpose, ref string) event.PhaseBegun {
	return event.PhaseBegun{Phase: j.count() + 1, Iteration: 1, Kind: event.PhaseStrategic, Purpose: purpose, Todos: template(purpose), Ref: ref}
}

// tactical is the phase that carries out todos.yaml as it was kept last.
func (j *Job) tactical(ref string) event.PhaseBegun {
	return event.PhaseBegun{
		Phase: j.count() + 1, Iteration: 1, Kind: event.PhaseTactical, Purpose: event.PurposeTactical,
		Name: j.s.Plan.Name, Todos: j.s.Plan.Todos, Ref: ref,
	}
}

// again is another iteration of the phase.
func (j *Job) again(purpose string, todos []event.Todo, ref string) event.PhaseBegun {
	b := j.s.Phase.PhaseBegun
	b.Iteration++
	b.Purpose, b.Todos, b.Ref = purpose, todos, ref
	return b
}

// count is how many phases there were.
func (j *Job) count() int {
	if j.s.Phase == nil {
		return 0
	}
	return j.s.Phase.Phase
}

// opening begins a phase, or asks a person if there were too many.
func (j *Job) opening(b event.PhaseBegun) event.Fact {
	if t := j.mayBegin(b.Phase); t != nil {
		return j.troubled(*t)
	}
	return event.Fact{ID: b.Key(), Body: b}
}

func (j *Job) end(b event.JobEnded) event.Fact {
	return event.Fact{ID: fmt.Sprintf("job/ended/%d", j.s.Ends+1), Body: b}
}
