package coord

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// apply changes the state by one event and returns the commands that follow
// from it. Facts about a take that is no longer current change the account and
// nothing else.
func (r *Run) apply(e event.Event) []flow.Command {
	m := r.member(e.Agent)
	if m == nil && aboutAgent(e.Body) {
		return nil // a damaged log; Check says so
	}
	switch b := e.Body.(type) {
	case event.RunStarted:
		r.start(b)
	case event.Resumed:
		for _, m := range r.s.Members {
			if m.Turn != nil {
				m.Turn.Cut, m.Turn.Calling = true, false
			}
		}
		r.closeAccounts(everyAccount) // nobody is left to give them
		r.release()

	// What agents and people put forward waits for a verdict.
	case event.Proposed, event.Requested, event.Presented, event.Wished, event.Replied, event.CancelRequested,
		event.Messaged, event.Withdrawn, event.WrapUpRequested, event.PauseRequested, event.ContinueRequested, event.StopRequested,
		event.Held:
		r.inbox = append(r.inbox, e.Fact)
		if p, ok := e.Body.(event.Proposed); ok && m.current(p.Turn) {
			m.Turn.Calling = p.Follows
		}

	case event.Assigned:
		return r.assign(m, b)
	case event.Presenting:
		return r.present(m, b)
	case event.Called:
		r.settle(b.Request, b.Usage)
		r.given(m, b.Turn)
		m.called(b)
	case event.ToolCalled:
		if m.current(b.Turn) {
			m.Turn.Open = append(m.Turn.Open, b.Tool)
		}
	case event.ToolReturned:
		m.returned(b)
	case event.Compacted:
		r.settle(b.Request, b.Usage)
		if !b.Outline {
			m.called(event.Called{Turn: b.Turn, Request: b.Request})
		}
	case event.Told:
		if m.current(b.Turn) {
			m.Turn.Seen = merge(m.Turn.Seen, b.Seen)
			m.Turn.job(b.Job)
			r.read(m, b.Messages)
		}
	case event.Failed:
		r.settle(b.Request, b.Usage)
		r.given(m, b.Turn)
		r.fail(m, b)
	case event.Interrupted:
		return r.interrupt(m, b)
	case event.Settled:
		r.s.Ledger.Settle(b.Request, b.Spent)

	case event.Answered:
		return r.answer(m, b)
	case event.Voted:
		r.taken(b.Proposal)
		m.Vote = &b
		r.outcome(m)
	case event.Refused:
		return r.refuse(m, b)
	case event.Granted:
		r.grant(b)
	case event.Admitted:
		return r.admit(b)

	case event.Warned:
		return r.warn(m)
	case event.Lost:
		return r.lose(m, b)
	case event.Ending:
		return r.end(b)
	case event.Chosen:
		r.s.Chosen = &b
	case event.Asked:
		if b.Kind == event.GatePermission && m != nil {
			r.wished(m, b)
			break
		}
		r.s.Gate = &gate{Asked: b, Since: r.s.Clock.open()}
	case event.Closed:
		r.taken(b.Reply)
		if g := r.s.Gate; g != nil && g.Gate == b.Gate {
			g.Closed = &b
		}
		return r.decided(b)
	case event.Finished:
		r.closeAccounts(everyAccount)
		r.s.Finished = &b
	}
	return nil
}

// aboutAgent reports whether a body makes sense only of a member of the run.
func aboutAgent(b event.Body) bool {
	switch b.(type) {
	case event.Assigned, event.Presenting, event.Called, event.ToolCalled, event.ToolReturned, event.Told, event.Failed,
		event.Interrupted, event.Compacted, event.Written, event.Wished, event.Noticed, event.Proposed, event.Presented, event.Answered, event.Voted, event.Lost:
		return true
	}
	return false
}

func (r *Run) start(b event.RunStarted) {
	*r = Run{s: state{Started: &b, Clock: r.s.Clock}}
	r.s.Ledger.Ceiling = b.Rules.Budget
	for _, seat := range b.Spec.Seats {
		r.s.Members = append(r.s.Members, &member{ID: seat.Agent, Label: seat.Label})
	}
}

func (r *Run) assign(m *member, b event.Assigned) []flow.Command {
	m.enter(b.Turn, r.s.Clock.Active)
	m.Turn = &turn{
		Turn: b.Turn, Role: event.RoleWork, Seen: b.Seen,
		MayAnswer: b.MayAnswer, MayVote: b.MayVote, Closing: b.Closing,
	}
	r.read(m, b.Messages)
	return []flow.Command{r.work(m)}
}

func (r *Run) present(m *member, b event.Presenting) []flow.Command {
	m.enter(b.Turn, r.s.Clock.Active)
	m.Turn = &turn{Turn: b.Turn, Role: event.RolePresent, Seen: r.revisions()}
	r.s.Present = &presenting{b, m.ID}
	r.read(m, b.Messages)
	return []flow.Command{r.presentation(m)}
}

// enter opens a round, or the next take of the one that is open.
func (m *member) enter(t event.Turn, now duration) {
	if m.Round.Open && m.Round.Round == t.Round {
		m.Round.Turn = t
		return
	}
	m.Round = round{Turn: t, Open: true, Since: now}
}

// current reports whether t is the take the member is in.
func (m *member) current(t event.Turn) bool {
	return m != nil && m.Turn != nil && m.Turn.Turn == t
}

func (m *member) called(b event.Called) {
	if !m.current(b.Turn) {
		return
	}
	m.Round.Calls++
	m.Turn.Calling = false
	m.Turn.Held = slices.DeleteFunc(m.Turn.Held, func(id string) bool { return id == b.Request })
	for _, c := range b.Tools {
		if !event.IsOutcome(c.Name) {
			m.Turn.Open = append(m.Turn.Open, c)
		}
	}
}

func (m *member) returned(b event.ToolReturned) {
	if !m.current(b.Turn) {
		return
	}
	for _, c := range m.Turn.Open {
		if c.ID == b.Call {
			m.Turn.Done = recent(append(m.Turn.Done, brief(c)))
		}
	}
	m.Turn.Open = slices.DeleteFunc(m.Turn.Open, func(c event.ToolCall) bool { return c.ID == b.Call })
	m.Turn.job(b.Job)
}

// An agent that takes a round again is told what it did: the last calls, and
// the beginning of what they were called with.
const (
	doneCalls = 50
	doneInput = 400
)

func recent(calls []event.ToolCall) []event.ToolCall {
	return slices.Clone(calls[max(0, len(calls)-doneCalls):])
}

// brief is a call with as much of its input as is worth keeping, which need not
// be JSON any more.
func brief(c event.ToolCall) event.ToolCall {
	if len(c.Input) > doneInput {
		cut, err := json.Marshal(strings.ToValidUTF8(string(c.Input[:doneInput]), "") + "…")
		if err == nil {
			c.Input = cut
		}
	}
	return c
}

// outcome ends a round.
func (r *Run) outcome(m *member) {
	r.leave(m)
	m.Round.Open = false
}

// leave ends a take. What it still holds may have been spent, unless that is said
// later.
func (r *Run) leave(m *member) {
	if m.Turn == nil {
		return
	}
	if m.Turn.Calling {
		r.s.Accounts = append(r.s.Accounts, account{m.ID, m.Turn.Turn, r.s.Clock.Up, m.Turn.Held})
		m.Turn = nil
		return
	}
	for _, id := range m.Turn.Held {
		r.s.Ledger.Forfeit(id)
	}
	m.Turn = nil
}

// settle books what a call consumed, whoever's turn it is by now. A reservation
// that is gone was counted as spent when its turn was cut.
func (r *Run) settle(request string, u event.Usage) {
	if _, held := r.s.Ledger.Held[request]; request != "" && !held {
		return
	}
	r.s.Ledger.Settle(request, u.Amount())
}

func (r *Run) fail(m *member, b event.Failed) {
	if !m.current(b.Turn) {
		return
	}
	m.Turn.Held = slices.DeleteFunc(m.Turn.Held, func(id string) bool { return id == b.Request })
	m.Turn.Calling = false
	m.Round.Unknown = append(m.Round.Unknown, m.Turn.Open...)
	m.Round.Done = recent(append(m.Round.Done, m.Turn.Done...))
	r.leave(m)
	if !r.asksToWait(b) {
		m.Round.Attempts++
	}
	m.Round.Trouble = b.Message
	m.Round.Rest = r.s.Clock.Active + max(duration(b.RetryAfter), 0)
	if b.Final {
		m.Round.Hopeless = b.Code
	}
}

// asksToWait reports whether a failure is a provider's wish to be left alone for
// a while, which is no fault of the agent's. The run's own time bounds it; what
// is too short to be a wish counts like any other failure.
func (r *Run) asksToWait(b event.Failed) bool {
	return r.rules().Version >= 2 && !b.Final && duration(b.RetryAfter) >= 10*time.Second
}

func (r *Run) interrupt(m *member, b event.Interrupted) []flow.Command {
	if !m.current(b.Turn) {
		return nil
	}
	key := b.Turn.Key(m.ID)
	m.Round.Done = recent(append(m.Round.Done, m.Turn.Done...))
	r.leave(m)
	m.Round.Unknown = append(m.Round.Unknown, b.Unknown...)
	return []flow.Command{flow.Stop{Work: key}}
}

func (r *Run) answer(m *member, b event.Answered) []flow.Command {
	r.taken(b.Proposal)
	r.s.Answers++
	m.Answers = append(m.Answers, answer{Content: b.Content, Print: b.Print, Serial: r.s.Answers, Snapshot: b.Snapshot})
	m.Vote = nil
	r.outcome(m)
	return r.news(m)
}

// refuse turns something down. What it was decides what follows: a proposal
// costs its author an attempt, a refused request ends the run.
func (r *Run) refuse(m *member, b event.Refused) []flow.Command {
	f, ok := r.taken(b.Ref)
	if !ok {
		return nil
	}
	switch p := f.Body.(type) {
	case event.Proposed:
		r.disappoint(m, p.Turn, b)
	case event.Presented:
		r.disappoint(m, p.Turn, b)
	case event.Requested:
		if b.Code == codeBudget && p.Child == "" && r.s.OverSpent == "" {
			r.s.OverSpent = b.Why
		}
		if b.Over && m.current(p.Turn) {
			r.leave(m)
		}
		if b.Code == codeWait && m.current(p.Turn) {
			m.Turn.Waits = &p.Amount
		}
	}
	return nil
}

func (r *Run) disappoint(m *member, t event.Turn, b event.Refused) {
	if !m.current(t) {
		return
	}
	if b.Over { // a limit was reached meanwhile: no fault of the agent's
		r.outcome(m)
		return
	}
	m.Round.Attempts++
	m.Round.Trouble = b.Why
	if m.Round.Calls >= r.rules().MaxCalls {
		m.Round.Hopeless = codeAttempts
		m.Round.Trouble = fmt.Sprintf("%s brought no outcome; the last: %s", many(m.Round.Calls, "model call"), b.Why)
	}
}

func (r *Run) grant(b event.Granted) {
	f, ok := r.taken(b.Request)
	if !ok {
		return
	}
	q := f.Body.(event.Requested)
	r.s.Ledger.Reserve(f.ID, q.Amount)
	if m := r.member(f.Agent); q.Child == "" && m.current(q.Turn) {
		m.Turn.Held = append(m.Turn.Held, f.ID)
	}
}

func (r *Run) admit(b event.Admitted) []flow.Command {
	f, ok := r.taken(b.Ref)
	if !ok {
		return nil
	}
	switch p := f.Body.(type) {
	case event.Messaged:
		return r.say(f.ID, p)
	case event.Withdrawn:
		return r.withdraw(p)
	case event.WrapUpRequested:
		r.s.WrapUp = true
	case event.PauseRequested:
		return r.pause(true)
	case event.ContinueRequested:
		return r.pause(false)
	case event.StopRequested:
		return r.stop(p)
	case event.Held:
		if g := r.question(p.Gate); g != nil {
			g.Held = p.On
		}
	case event.CancelRequested:
		if r.s.Cancelled == "" {
			r.s.Cancelled = cancelWords(p)
		}
	case event.Presented:
		r.s.Final = &p.Content
		if m := r.member(f.Agent); m.current(p.Turn) {
			r.outcome(m)
		}
	}
	return nil
}

// taken removes the input a verdict refers to and returns it.
func (r *Run) taken(id string) (event.Fact, bool) {
	i := slices.IndexFunc(r.inbox, func(f event.Fact) bool { return f.ID == id })
	if i < 0 {
		return event.Fact{}, false
	}
	f := r.inbox[i]
	r.inbox = slices.Delete(r.inbox, i, i+1)
	return f, true
}

func (r *Run) warn(m *member) []flow.Command {
	if m != nil {
		m.Round.Warned = true
		return r.wrapUp(m)
	}
	r.s.RunWarned = true
	var do []flow.Command
	for _, m := range r.s.Members {
		do = append(do, r.wrapUp(m)...)
	}
	return do
}

func (r *Run) lose(m *member, b event.Lost) []flow.Command {
	m.Lost = &b
	m.Round.Open = false
	if m.Turn == nil {
		return nil
	}
	key := m.Turn.Key(m.ID)
	r.leave(m)
	return []flow.Command{flow.Stop{Work: key}}
}

func (r *Run) end(b event.Ending) []flow.Command {
	r.s.Ending = &ending{b, r.s.Clock.Up}
	if !r.stopping() {
		return nil
	}
	var do []flow.Command
	for _, m := range r.s.Members {
		if m.Turn != nil {
			do = append(do, flow.Stop{Work: m.Turn.Key(m.ID)})
		}
	}
	return do
}

func merge(a, b event.Seen) event.Seen {
	out := event.Seen{}
	for k, v := range a { // order does not matter: it is a copy
		out[k] = v
	}
	for k, v := range b { // order does not matter: each agent for itself
		out[k] = max(out[k], v)
	}
	return out
}

func cancelWords(p event.CancelRequested) string {
	switch {
	case p.By == "" && p.Reason == "":
		return "cancelled"
	case p.Reason == "":
		return "cancelled by " + p.By
	case p.By == "":
		return "cancelled: " + p.Reason
	}
	return "cancelled by " + p.By + ": " + p.Reason
}
