package job

import (
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// tick has time pass. The job works while nobody is asked and it is not over.
func (j *Job) tick(e event.Event) {
	passed := j.s.Clock.Tick(e)
	j.s.Pass(passed)
	if !j.Frozen() && !j.Over() && !j.s.Asking() {
		j.s.Worked += passed
	}
	if _, ok := e.Body.(event.TimerFired); ok {
		j.s.Rung = j.s.Worked
	}
}

// apply changes the state by one event and returns the commands that follow from
// it. Facts about a take that is no longer current change the account and nothing
// else.
func (j *Job) apply(e event.Event) []flow.Command {
	if _, first := e.Body.(event.JobStarted); j.s.Started == nil && !first {
		return nil // a damaged log; Check says so
	}
	switch b := e.Body.(type) {
	case event.JobStarted:
		*j = Job{s: state{Flow: e.Flow, Started: &b, Title: b.Title, Clock: j.s.Clock}}
		j.s.Ledger.Ceiling = b.Rules.Budget
		return []flow.Command{Prepare{Started: b}}
	case event.Prepared:
		j.s.Prepared, j.s.Commit, j.s.Files = &b, b.Commit, b.Files
	case event.Resumed:
		if t := j.s.Turn; t != nil && t.Live {
			t.Cut = true
		}
		for _, w := range j.s.Wishes.Wishes {
			w.Held = false // who still reads says so again
		}
	case event.TimerFired:
		return j.overrun()

	// What people and the agent put forward waits for a verdict.
	case event.Replied, event.Edited, event.Commented, event.Resolved, event.Responded, event.Drafted,
		event.Corrected, event.Renamed, event.CancelRequested, event.Held,
		event.TodosStaged, event.TodosDone, event.TodosRewound, event.Completing, event.Addressed,
		event.Requested, event.Wished:
		j.inbox = append(j.inbox, e)

	case event.Refused, event.Admitted, event.Granted, event.Asked, event.Closed, event.Launched,
		event.Assigned, event.Interrupted, event.PhaseBegun, event.PhaseEnded, event.JobEnded:
		return j.decided(e)
	case event.Kept:
		return j.kept(b)
	case event.Returned:
		j.returned(b)
	default:
		return j.report(e)
	}
	return nil
}

// decided takes in what the job itself has decided.
func (j *Job) decided(e event.Event) []flow.Command {
	switch b := e.Body.(type) {
	case event.Refused:
		return j.refuse(b)
	case event.Admitted:
		return j.admit(b)
	case event.Granted:
		j.grant(b)
	case event.Asked:
		j.asked(b)
	case event.Closed:
		return j.closed(e, b)
	case event.Launched:
		return j.launched(b)
	case event.Assigned:
		return j.assign(e.Agent, b)
	case event.Interrupted:
		return j.interrupt(e.Agent, b)
	case event.PhaseBegun:
		j.begun(e, b)
	case event.PhaseEnded:
		return j.ended(b)
	case event.JobEnded:
		j.s.Ended, j.s.Cancel = &b, nil
		j.s.Ends++
	}
	return nil
}

// report takes in what the agent says of its turn.
func (j *Job) report(e event.Event) []flow.Command {
	switch b := e.Body.(type) {
	case event.Briefed:
		if j.current(e.Agent, b.Turn) {
			j.s.Remember(dialog.Entry{ID: e.ID, At: e.At, Turn: b.Turn, Briefed: &b})
		}
	case event.Called:
		j.called(e, b)
	case event.ToolCalled:
		if j.current(e.Agent, b.Turn) {
			j.s.Turn.Using(b.Tool)
		}
	case event.ToolReturned:
		j.toolReturned(e, b)
	case event.Compacted:
		j.compacted(e, b)
	case event.Concluded:
		if j.current(e.Agent, b.Turn) {
			return j.leave()
		}
	case event.Failed:
		return j.fail(e, b)
	}
	return nil
}

// refuse turns something down, and with it the turn if that is over.
func (j *Job) refuse(b event.Refused) []flow.Command {
	e, ok := j.inbox.Take(b.Ref)
	if !ok {
		return nil
	}
	t, call, theirs := put(e.Body)
	if !theirs || !j.current(e.Agent, t) {
		return nil
	}
	if dialog.Proposes(e.Body) {
		j.s.Turn.judged(Verdict{ID: e.ID, Call: call, Why: b.Why, Over: b.Over})
	}
	if !b.Over {
		return nil
	}
	if b.Code == codeBudget {
		j.s.Phase.Stuck = &trouble{capBudget, b.Why}
	}
	return j.leave()
}

// put is the turn and the call with which an agent puts something forward; ok is
// false if it is not of an agent.
func put(b event.Body) (t event.Turn, call string, ok bool) {
	switch b := b.(type) {
	case event.TodosStaged:
		return b.Turn, b.Call, true
	case event.TodosDone:
		return b.Turn, b.Call, true
	case event.TodosRewound:
		return b.Turn, b.Call, true
	case event.Completing:
		return b.Turn, b.Call, true
	case event.Addressed:
		return b.Turn, b.Call, true
	case event.Requested:
		return b.Turn, "", true
	case event.Wished:
		return b.Turn, b.Call, true
	}
	return event.Turn{}, "", false
}

func (j *Job) admit(a event.Admitted) []flow.Command {
	e, ok := j.inbox.Take(a.Ref)
	if !ok {
		return nil // a damaged log; Check says so
	}
	if t, call, theirs := put(e.Body); theirs {
		if !j.current(e.Agent, t) || !j.goesOn() {
			return nil
		}
		do := j.proposed(e)
		if dialog.Proposes(e.Body) {
			j.s.Turn.judged(Verdict{ID: e.ID, Call: call, Over: j.ending()})
		}
		return do
	}
	switch b := e.Body.(type) {
	case event.Edited:
		if j.s.Gate == nil {
			return nil // a damaged log; Check says so
		}
		j.s.Gate.Revision = j.s.Gate.Asked.Revision + 1
		return j.keep(Keep{Ref: e.ID, Message: "Edit " + b.Path, By: who(b.By), Edit: &b})
	case event.Commented:
		j.comment(e.ID, b)
	case event.Resolved:
		j.resolve(b)
	case event.Responded:
		j.respond(b)
	case event.Corrected:
		return j.corrected(e.ID, b)
	case event.Renamed:
		j.s.Title = b.Title
	case event.CancelRequested:
		return j.cancel(&Cancel{ID: e.ID, CancelRequested: b})
	case event.Held:
		if w := j.s.Question(b.Gate); w != nil {
			w.Held = b.On
		}
	}
	return nil
}

// who is the author of what a person does: never nobody, which is the agent.
func who(by string) string {
	if by == "" {
		return "somebody"
	}
	return by
}

// proposed takes in what the agent has put forward and was admitted.
func (j *Job) proposed(e event.Event) []flow.Command {
	p := j.s.Phase
	switch b := e.Body.(type) {
	case event.TodosStaged:
		p.Staged, p.StagedName, p.Anew = numbered(b.Todos), b.Name, true
		return j.keep(Keep{Ref: e.ID, Message: "Stage the todos of the next phase", Write: true, Name: b.Name, Todos: p.Staged})
	case event.TodosDone:
		ids := p.meant(b.Todos)
		p.done(ids, b.Note)
		j.s.Turn.Did = true
		k := Keep{Ref: e.ID, Message: "Done: " + p.texts(ids)}
		if !p.strategic() {
			k.Write, k.Name, k.Todos = true, p.Name, p.Todos
		}
		return j.keep(k)
	case event.TodosRewound:
		p.Issue = b.Issue
	case event.Completing:
		p.Outcome = &b.JobOutcome
		if n := len(p.Todos); n > 0 { // the last one asks for this
			p.done([]string{p.Todos[n-1].ID}, "")
		}
	case event.Addressed:
		if c := j.thread(b.Comment); c != nil {
			j.s.Turn.Did = j.s.Turn.Did || c.Answer == nil
			c.Answer = &b
		}
	}
	return nil
}

// ending reports whether the phase ends with what was just admitted.
func (j *Job) ending() bool {
	p := j.s.Phase
	return p.Outcome != nil || p.Issue != "" || len(open(p.Todos)) == 0
}

// cancel stops what goes on.
func (j *Job) cancel(c *Cancel) []flow.Command {
	j.s.Cancel = c
	switch t := j.s.Turn; {
	case j.s.Prepared == nil:
		return []flow.Command{flow.Stop{Work: Prepare{}.Key()}}
	case j.s.Run.going():
		return j.s.Run.end(c)
	case t != nil && t.Live:
		return j.stop()
	case t != nil:
		return j.leave()
	}
	return nil
}
