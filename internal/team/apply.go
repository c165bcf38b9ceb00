package team

import (
	"slices"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// apply changes the state by one event and returns the commands that follow from
// it. Facts about a take that is no longer current change the account and nothing
// else.
func (t *Team) apply(e event.Event) []flow.Command {
	if _, first := e.Body.(event.TeamStarted); t.s.Started == nil && !first {
		return nil // a damaged log; Check says so
	}
	switch b := e.Body.(type) {
	case event.TeamStarted:
		t.start(e, b)
	case event.Resumed:
		t.cut()
	case event.TimerFired:
		return t.overrun()

	// What people and members put forward waits for a verdict.
	case event.Messaged, event.Withdrawn, event.Replied, event.CancelRequested, event.WrapUpRequested,
		event.StopRequested, event.Renamed, event.Held,
		event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing,
		event.Requested, event.Wished:
		t.inbox = append(t.inbox, e)

	case event.Refused, event.Admitted, event.Granted, event.Asked, event.Closed, event.Assigned,
		event.Interrupted, event.Warned, event.Notified, event.Lost, event.TeamEnded:
		return t.decided(e)
	default:
		return t.report(e)
	}
	return nil
}

// start has the team begin: its leader is told what the person wants.
func (t *Team) start(e event.Event, b event.TeamStarted) {
	*t = Team{s: state{Flow: e.Flow, Started: &b, Title: b.Title, Clock: t.s.Clock}}
	t.s.Ledger.Ceiling = b.Rules.Budget
	t.s.Members = []*member{{
		ID: event.AgentID(b.Leader.Name), Role: b.Leader,
		Box: []Mail{{ID: e.ID, At: e.At, Kind: MailGoal, By: b.By, Text: b.Task}},
	}}
}

// cut notes that the driver is gone which had turns in hand.
func (t *Team) cut() {
	for _, m := range t.s.Members {
		switch u := m.Turn; {
		case u == nil:
		case u.Live:
			u.Cut = true
		case u.Dying != nil: // went with it
			u.Dying, u.Rest = nil, 0
		}
	}
	for _, w := range t.s.Wishes.Wishes {
		w.Held = false // who still reads says so again
	}
}

// decided takes in what the team itself has decided.
func (t *Team) decided(e event.Event) []flow.Command {
	switch b := e.Body.(type) {
	case event.Refused:
		return t.refuse(b)
	case event.Admitted:
		return t.admit(b)
	case event.Granted:
		t.grant(b)
	case event.Asked:
		t.asked(b)
	case event.Closed:
		return t.closed(b)
	case event.Assigned:
		return t.assign(e.Agent, b)
	case event.Interrupted:
		return t.interrupt(e.Agent, b)
	case event.Warned:
		return t.warned(e.Agent, b)
	case event.Notified:
		return t.notified(e, b)
	case event.Lost:
		return t.lose(e.Agent, b)
	case event.TeamEnded:
		t.s.Ended = &b
	}
	return nil
}

// report takes in what a member says of its turn, and what is known of its tree.
func (t *Team) report(e event.Event) []flow.Command {
	switch b := e.Body.(type) {
	case event.Briefed:
		if m := t.current(e.Agent, b.Turn); m != nil && m.unread(b.Messages) {
			m.Remember(dialog.Entry{ID: e.ID, At: e.At, Turn: b.Turn, Briefed: &b})
		}
	case event.Called:
		t.called(e, b)
	case event.ToolCalled:
		if m := t.current(e.Agent, b.Turn); m != nil {
			m.Turn.Using(b.Tool)
		}
	case event.ToolReturned:
		if m := t.current(e.Agent, b.Turn); m != nil {
			m.Turn.Returned(b.Call)
			m.Remember(dialog.Entry{ID: e.ID, At: e.At, Turn: b.Turn, Returned: &b})
		}
	case event.Compacted:
		t.compacted(e, b)
	case event.Told:
		if m := t.current(e.Agent, b.Turn); m != nil {
			t.hear(m, b.Messages)
		}
	case event.Concluded:
		if m := t.current(e.Agent, b.Turn); m != nil {
			return t.conclude(m)
		}
		t.stopped(e.Agent, b.Turn)
	case event.Failed:
		return t.fail(e, b)
	default:
		t.recorded(e)
	}
	return nil
}

// recorded takes in what was done with trees.
func (t *Team) recorded(e event.Event) {
	m := t.member(e.Agent)
	if m == nil {
		return
	}
	switch b := e.Body.(type) {
	case event.Rooted:
		t.rooted(m, b)
	case event.Synced:
		m.Head = b.Commit
	case event.Committed:
		t.committed(m, b)
	case event.Merged:
		if t.leads(m) {
			t.merged(b)
		}
	}
}

// refuse turns something down, and with it the take if that is over. A take that
// the budget has ended is taken again if a person allows more.
func (t *Team) refuse(b event.Refused) []flow.Command {
	e, ok := t.inbox.Take(b.Ref)
	if !ok {
		return nil
	}
	x, call, theirs := put(e.Body)
	m := t.current(e.Agent, x)
	if !theirs || m == nil {
		return nil
	}
	if dialog.Proposes(e.Body) {
		m.Turn.judged(Verdict{ID: e.ID, Call: call, Why: b.Why})
	}
	if q, ok := e.Body.(event.Requested); ok && b.Code == event.RefusedWait {
		m.Turn.Waits = &q.Amount
	}
	switch {
	case !b.Over:
		return nil
	case b.Code == codeBudget && t.s.Finish == nil:
		t.pause(m, b.Why)
		return t.stuck(trouble{capBudget, b.Why})
	}
	return t.conclude(m)
}

// judged notes a verdict on something the turn has put forward.
func (u *turn) judged(v Verdict) { u.Verdicts = append(slices.Clip(u.Verdicts), v) }

// put is the turn and the call with which a member puts something forward; ok is
// false if it is not of a member.
func put(b event.Body) (x event.Turn, call string, ok bool) {
	switch b := b.(type) {
	case event.Spawned:
		return b.Turn, b.Call, true
	case event.Tasked:
		return b.Turn, b.Call, true
	case event.Mailed:
		return b.Turn, b.Call, true
	case event.Reported:
		return b.Turn, b.Call, true
	case event.Awaited:
		return b.Turn, b.Call, true
	case event.Finishing:
		return b.Turn, b.Call, true
	case event.Requested:
		return b.Turn, "", true
	case event.Wished:
		return b.Turn, b.Call, true
	}
	return event.Turn{}, "", false
}

func (t *Team) admit(a event.Admitted) []flow.Command {
	e, ok := t.inbox.Take(a.Ref)
	if !ok {
		return nil // a damaged log; Check says so
	}
	if x, call, theirs := put(e.Body); theirs {
		m := t.current(e.Agent, x)
		if m == nil {
			return nil // a damaged log; Check says so
		}
		if dialog.Proposes(e.Body) {
			m.Turn.judged(Verdict{ID: e.ID, Call: call})
		}
		return t.proposed(m, e)
	}
	switch b := e.Body.(type) {
	case event.Messaged:
		t.s.Idle = 0
		return t.messaged(e, b)
	case event.Withdrawn:
		return t.withdraw(b.Message)
	case event.CancelRequested:
		return t.end(ending{Status: event.StatusCancelled, By: event.StoppedByUser, Why: b.Reason})
	case event.WrapUpRequested:
		t.s.WrapUp = true
		t.owe("wrap_up", event.Notified{To: t.leader().ID, Code: event.NoticeWrapUp, Text: "A person wants the team to come to its end now. Set nothing new going: have work in progress reported, merge it, and finish with what there is."})
	case event.StopRequested:
		if m := t.member(b.Target); m != nil {
			m.Doom = &event.Lost{Code: event.LostStopped, Message: t.stoppedWords(b.By)}
		}
	case event.Renamed:
		t.s.Title = b.Title
	case event.Held:
		if w := t.s.Question(b.Gate); w != nil {
			w.Held = b.On
		}
	}
	return nil
}

// proposed takes in what a member has put forward and was admitted.
func (t *Team) proposed(m *member, e event.Event) []flow.Command {
	if _, waits := e.Body.(event.Awaited); dialog.Proposes(e.Body) && !waits {
		t.s.Idle = 0
	}
	switch b := e.Body.(type) {
	case event.Spawned:
		role, _ := t.role(b.Role)
		t.s.Members = append(t.s.Members, &member{ID: b.Member, Role: role})
	case event.Tasked:
		return t.tasked(e, b)
	case event.Mailed:
		return t.mailed(e, b)
	case event.Reported:
		return t.reported(m, e, b)
	case event.Awaited:
		m.Await = &await{ID: e.ID, Members: once(b.Members), All: b.All, For: max(0, duration(b.For)), Since: t.s.Clock.Up}
	case event.Finishing:
		t.s.Finish = &b
	}
	return nil
}

// lose takes a member out of the team. What it was not told it will not be.
func (t *Team) lose(a event.AgentID, b event.Lost) []flow.Command {
	m := t.member(a)
	if m == nil {
		return nil // a damaged log; Check says so
	}
	var do []flow.Command
	if u := m.Turn; u != nil {
		if u.Live {
			do = append(do, flow.Stop{Work: u.WorkKey()})
		}
		u.Leave(&t.s.Ledger)
	}
	m.Lost, m.Doom, m.Turn, m.Box, m.Await, m.Question = &b, nil, nil, nil, nil, nil
	if !t.leads(m) {
		t.lostWords(m)
		return do
	}
	if t.s.Ending != nil {
		return do
	}
	if b.Code == event.LostStopped {
		return append(do, t.end(ending{Status: event.StatusCancelled, By: event.StoppedByUser, Why: "The leader is gone: " + b.Message + "."})...)
	}
	return append(do, t.end(ending{Status: event.StatusError, By: event.StoppedByFailure, Why: "The leader is lost: " + b.Message})...)
}
