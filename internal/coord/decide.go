package coord

import (
	"fmt"
	"slices"

	"conclave/internal/event"
)

// Due is what the state demands to be recorded next, at most one fact: first
// verdicts, then what time has brought about, then what the phase calls for.
func (r *Run) Due() []event.Fact {
	if r.s.Started == nil || r.s.Finished != nil {
		return nil
	}
	for _, next := range order {
		if f, ok := next(r); ok {
			return []event.Fact{f}
		}
	}
	return nil
}

// order is in which order a run looks for what is due.
var order = []func(*Run) (event.Fact, bool){
	(*Run).verdict, (*Run).dismissed, (*Run).cutOff, (*Run).moot, (*Run).overdue, (*Run).usedUp, (*Run).endEarly, (*Run).conclude, (*Run).coordinate,
}

// Decides reports whether a body is one that a run decides, not one that
// happens to it.
func (r *Run) Decides(b event.Body) bool {
	switch b.(type) {
	case event.Assigned, event.Granted, event.Answered, event.Voted, event.Refused, event.Admitted,
		event.Interrupted, event.Warned, event.Lost, event.Ending, event.Chosen, event.Asked, event.Closed,
		event.Presenting, event.Finished:
		return true
	}
	return false
}

// Hears reports whether a body may come from anybody: people cancel, reply, say
// something to agents and have the run go another way.
func (r *Run) Hears(b event.Body) bool {
	switch b.(type) {
	case event.CancelRequested, event.Replied, event.Messaged, event.Withdrawn, event.WrapUpRequested,
		event.PauseRequested, event.ContinueRequested, event.StopRequested, event.Held:
		return true
	}
	return false
}

// cutOff records takes whose driver went away.
func (r *Run) cutOff() (event.Fact, bool) {
	for _, m := range r.s.Members {
		if m.Turn != nil && m.Turn.Cut {
			return interrupted(m, "the program stopped in the middle of it"), true
		}
	}
	return event.Fact{}, false
}

// usedUp records the loss of agents that cannot bring their round to an end.
// One that is being stopped is not asked to.
func (r *Run) usedUp() (event.Fact, bool) {
	if r.stopping() {
		return event.Fact{}, false
	}
	for _, m := range r.s.Members {
		if m.Lost != nil || !m.Round.Open {
			continue
		}
		if code, why := r.exhausted(m); code != "" {
			return lost(m, code, why), true
		}
	}
	return event.Fact{}, false
}

// exhausted says whether and why m's open round cannot go on.
func (r *Run) exhausted(m *member) (code, why string) {
	ru := r.rules()
	switch {
	case m.Round.Hopeless != "":
		return m.Round.Hopeless, m.Round.Trouble
	case m.Round.Attempts >= ru.MaxAttempts:
		return codeAttempts, fmt.Sprintf("%s brought no outcome; the last: %s", many(m.Round.Attempts, "attempt"), m.Round.Trouble)
	case m.Round.Calls > ru.MaxCalls, m.Turn == nil && m.Round.Calls == ru.MaxCalls:
		return codeAttempts, many(m.Round.Calls, "model call") + " brought no outcome"
	}
	return "", ""
}

// many is "1 attempt" or "3 attempts".
func many(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// endEarly records that the run stops before its votes settle it. A stronger
// reason replaces a weaker one.
//
// One that has its result and waits for its accounts has nothing left to stop.
func (r *Run) endEarly() (event.Fact, bool) {
	if r.settling() {
		return event.Fact{}, false
	}
	by, why := r.causeToEnd()
	if by == "" || r.s.Ending != nil && strength[r.s.Ending.By] >= strength[by] {
		return event.Fact{}, false
	}
	return event.Fact{ID: "ending/" + string(by), Body: event.Ending{By: by, Why: why}}, true
}

var strength = map[event.StoppedBy]int{
	event.StoppedByFailure: 1, event.StoppedByBudget: 2, event.StoppedByDeadline: 3, event.StoppedByUser: 4,
}

func (r *Run) causeToEnd() (event.StoppedBy, string) {
	switch {
	case r.s.Cancelled != "":
		return event.StoppedByUser, r.s.Cancelled
	case r.pastDeadline():
		return event.StoppedByDeadline, fmt.Sprintf("the run's time of %s is over", r.rules().RunLimit)
	case r.s.OverSpent != "" && !r.s.Paused: // turns in flight could not use what they have paid for
		return event.StoppedByBudget, r.s.OverSpent
	case len(r.live()) == 0 && r.s.Chosen == nil && r.allStopped():
		return event.StoppedByUser, "every agent was stopped: " + r.losses()
	case len(r.live()) == 0 && r.s.Chosen == nil:
		return event.StoppedByFailure, "no agent is left: " + r.losses()
	case r.planStranded():
		return event.StoppedByFailure, "nobody could carry out the plan: " + r.losses()
	}
	return "", ""
}

// stopping reports whether turns in flight are being ended. At the budget's
// limit they may use what they have already paid for.
func (r *Run) stopping() bool {
	return r.s.Ending != nil && r.s.Ending.By != event.StoppedByBudget
}

// coordinate sets idle agents to work, and chooses when none is left to set to
// work and none is working.
func (r *Run) coordinate() (event.Fact, bool) {
	if r.s.Chosen != nil || r.paused() {
		return event.Fact{}, false
	}
	if r.s.Ending == nil {
		for _, m := range r.s.Members {
			if r.wanted(m) {
				return r.assignment(m), true
			}
		}
	}
	if r.working() || r.owing() || r.s.Ending == nil && slices.ContainsFunc(r.s.Members, r.resting) {
		return event.Fact{}, false
	}
	return r.choice(), true
}

// wanted reports whether m should be set to work now.
func (r *Run) wanted(m *member) bool {
	switch {
	case m.Lost != nil || m.Turn != nil:
		return false
	case r.rules().Version >= 2 && r.resting(m):
		return false
	case r.rules().SkipVoting: // a turn has no outcome but an answer
		return r.invited(m) && (len(m.Answers) == 0 || (m.Round.Open || r.unread(m)) && !r.parked(m))
	case m.Round.Open:
		return !r.resting(m)
	case r.parked(m) || r.fresh(m) || r.spent(m):
		return false
	}
	return true
}

// resting reports whether m's open round waits because a provider asked for it.
func (r *Run) resting(m *member) bool {
	return m.Lost == nil && m.Round.Open && m.Turn == nil && r.s.Clock.Active < m.Round.Rest
}

// spent reports whether a single agent has given all the answers it may: there
// is nothing left to refine and nobody else to vote for.
func (r *Run) spent(m *member) bool {
	return r.rules().Single && len(m.Answers) > 0 && !r.canAnswerMore(m)
}

// fresh reports whether m's vote counts as it stands: it has seen the newest
// revision of every agent, or was cast when no more could be seen; and whatever
// people have said to m, it had read.
func (r *Run) fresh(m *member) bool {
	return m.Vote != nil && r.heeds(m) && (m.Vote.Closing || r.rules().DisableInjection || m.Vote.Seen.Covers(r.revisions()))
}

// parked reports whether m, who has an answer, has to wait for the others: for
// everybody's first answer where voting is deferred, or for the slowest where
// it is too far ahead.
func (r *Run) parked(m *member) bool {
	if len(m.Answers) == 0 {
		return false
	}
	ru := r.rules()
	if (ru.DeferVoting || ru.DisableInjection) && !r.allAnswered() {
		return true
	}
	return r.tooFarAhead(m) && r.invited(m)
}

// allAnswered reports whether every agent that still can has answered.
func (r *Run) allAnswered() bool {
	if r.globalLimit() {
		return true
	}
	for _, m := range r.live() {
		if len(m.Answers) == 0 {
			return false
		}
	}
	return true
}

func (r *Run) globalLimit() bool {
	n := r.rules().MaxAnswersGlobal
	return n > 0 && r.s.Answers >= n
}

// canAnswerMore reports whether the limits leave room for an answer of m's.
func (r *Run) canAnswerMore(m *member) bool {
	return len(m.Answers) < r.rules().MaxAnswers && !r.globalLimit()
}

// invited reports whether a turn that begins now may bring an answer of m's,
// fairness aside. Once the run's end is near, whoever has an answer is asked for
// a vote; what is already being written is still taken.
func (r *Run) invited(m *member) bool {
	return r.canAnswerMore(m) && !(r.s.RunWarned && len(m.Answers) > 0)
}

// tooFarAhead reports whether one more answer would put m further ahead of the
// slowest active agent than is fair. A first answer never is. An agent is
// active until it is lost or has a vote that counts.
func (r *Run) tooFarAhead(m *member) bool {
	lead := r.rules().FairnessLead
	if lead == 0 || len(m.Answers) == 0 {
		return false
	}
	for _, o := range r.live() {
		if o != m && !r.fresh(o) && r.invited(o) && len(m.Answers)+1-len(o.Answers) > lead {
			return true
		}
	}
	return false
}

// assignment is the next take of m's open round, or the first of a new one.
func (r *Run) assignment(m *member) event.Fact {
	t := event.Turn{Round: m.Round.Round + 1, Take: 1}
	if m.Round.Open {
		t = event.Turn{Round: m.Round.Round, Take: m.Round.Take + 1}
	}
	seen := r.visible(m)
	return event.Fact{ID: "assigned/" + string(m.ID) + "/" + t.String(), Agent: m.ID, Body: event.Assigned{
		Turn:      t,
		Seen:      seen,
		MayAnswer: r.invited(m) && !r.tooFarAhead(m),
		MayVote:   r.mayVote(seen),
		Closing:   m.Round.Open && r.roundTime(m).cut(r.s.Clock.Rung.Active),
		Messages:  r.addressed(m),
	}}
}

// visible is what m is shown when a turn begins: everybody's newest answer, or,
// while agents work independently, its own alone.
func (r *Run) visible(m *member) event.Seen {
	if r.rules().DisableInjection && !r.allAnswered() {
		seen := event.Seen{}
		if n := len(m.Answers); n > 0 {
			seen[m.ID] = n
		}
		return seen
	}
	return r.revisions()
}

func (r *Run) mayVote(seen event.Seen) bool {
	ru := r.rules()
	if ru.SkipVoting || len(seen) == 0 {
		return false
	}
	return !ru.DeferVoting && !ru.DisableInjection || r.allAnswered()
}

func interrupted(m *member, why string) event.Fact {
	return event.Fact{ID: "interrupted/" + string(m.ID) + "/" + m.Turn.Turn.String(), Agent: m.ID, Body: event.Interrupted{
		Turn: m.Turn.Turn, Why: why, Unknown: m.Turn.Open,
	}}
}

func lost(m *member, code, why string) event.Fact {
	return event.Fact{ID: "lost/" + string(m.ID), Agent: m.ID, Body: event.Lost{Code: code, Message: why}}
}
