package team

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// turn is a member at work, in as many takes as it needs.
type turn struct {
	dialog.Stint
	// Mail is what it began with; Questions are those it has heard in this turn.
	Mail      []Mail     `json:"mail,omitempty"`
	Questions []string   `json:"questions,omitempty"`
	Verdicts  []Verdict  `json:"verdicts,omitempty"`
	Reported  []reported `json:"reported,omitempty"`
	// Again is why the take before this one ended. Rests counts those that ended
	// because a provider asked to be left alone.
	Again string `json:"again,omitempty"`
	Rests int    `json:"rests,omitempty"`
	// Worked is how long this take has, without the time in which a person was asked
	// about something in it; Rung what of that had passed when a timer last fired.
	Worked time.Duration `json:"worked,omitempty"`
	Rung   time.Duration `json:"rung,omitempty"`
	Warned bool          `json:"warned,omitempty"`
	// Dying is a take that was cut and has not said yet that it has stopped: the next
	// one waits for that, for a while, so that there are not two in one tree.
	Dying *event.Turn `json:"dying,omitempty"`
	// Waits is what it needs and others hold.
	Waits *event.Amount `json:"waits,omitempty"`
}

// reported is what a turn has said of a task.
type reported struct {
	Task  string          `json:"task"`
	State event.TaskState `json:"state"`
}

// Codes of the Failed of a take.
const (
	// CodeStopped is that of one which was told to stop.
	CodeStopped = "stopped"
	// CodeLimit is that of one which has made all the calls it may: the turn is
	// over as if its member had nothing more to say.
	CodeLimit = "limit"
)

// maxRests is how often in one turn a provider may ask to be left alone before
// that counts as a failure.
const maxRests = 50

// tell gives the take that goes on a note.
func (u *turn) tell(n Note) flow.Command { return flow.Tell{Work: u.WorkKey(), Note: n} }

// listens reports whether the take can be told anything.
func (u *turn) listens() bool { return u.Live && !u.Cut && !u.Stopped }

// current is the member that is in that take; nil if none is.
func (t *Team) current(a event.AgentID, x event.Turn) *member {
	if m := t.member(a); m != nil && m.Turn != nil && m.Turn.Current(a, x) {
		return m
	}
	return nil
}

// resting reports whether the next take waits because a provider asked for it.
func (t *Team) resting(u *turn) bool { return !u.Live && t.s.Clock.Up < u.Rest }

// assign sets a member to work: on a turn, or on the next take of one.
func (t *Team) assign(a event.AgentID, b event.Assigned) []flow.Command {
	m := t.member(a)
	if m == nil {
		return nil // a damaged log; Check says so
	}
	u := m.Turn
	if u == nil || u.Round != b.Round {
		u = &turn{}
		m.Turn, m.Await, m.Question = u, nil, nil
		u.Mail = t.hear(m, b.Messages)
		t.s.Turns++
	}
	u.Begin(a, b.Turn)
	u.Dying = nil
	u.Worked, u.Rung, u.Warned, u.Waits = 0, 0, false, nil
	m.Last, m.Rounds = b.Turn, max(m.Rounds, b.Round)
	return append([]flow.Command{t.work(m)}, m.tellHeld()...)
}

// pause ends a take of a turn that goes on with another.
func (t *Team) pause(m *member, why string) {
	m.Turn.Leave(&t.s.Ledger)
	m.Turn.Again, m.Turn.Waits = why, nil
}

// conclude ends a turn.
func (t *Team) conclude(m *member) []flow.Command {
	u := m.Turn
	u.Leave(&t.s.Ledger)
	m.Turn = nil
	if m.Question != nil && m.Question.Answered {
		m.Question = nil
	}
	if t.leads(m) {
		t.chase(u)
		if t.s.Finish != nil && t.s.Ending == nil {
			return t.end(t.finished())
		}
		return nil
	}
	if len(u.Reported) > 0 {
		m.Reminded = 0
	}
	t.remind(m, u)
	return nil
}

// interrupt ends a take that was cut, because its driver went away, it ran for too
// long, or it did not stop when it was told to.
func (t *Team) interrupt(a event.AgentID, b event.Interrupted) []flow.Command {
	m := t.current(a, b.Turn)
	if m == nil {
		return nil
	}
	u := m.Turn
	do := []flow.Command{flow.Stop{Work: u.WorkKey()}}
	hung := !u.Cut && !u.Stopped
	if u.Stopped || t.s.Ending != nil {
		return append(do, t.conclude(m)...)
	}
	if t.pause(m, b.Why); !hung {
		return do
	}
	u.Attempts++
	u.Dying, u.Rest = &b.Turn, t.s.Clock.Up+stopGrace
	return append(do, t.tryAgain(m, CodeHung, b.Why)...)
}

// stopped notes that a take which was cut has stopped.
func (t *Team) stopped(a event.AgentID, x event.Turn) {
	m := t.member(a)
	if m == nil || m.Turn == nil || m.Turn.Dying == nil || *m.Turn.Dying != x {
		return
	}
	m.Turn.Dying, m.Turn.Rest = nil, 0
}

// tryAgain takes a turn again that has failed or hung, unless that was tried often
// enough.
func (t *Team) tryAgain(m *member, code, why string) []flow.Command {
	if m.Turn.Attempts < max(t.rules().MaxAttempts, 1) {
		t.restarts(m, why)
		return nil
	}
	return t.giveUp(m, event.Lost{Code: code, Message: why})
}

// giveUp loses a member. A leader that has finished is not needed any more; without
// one that has not, the team is in trouble.
func (t *Team) giveUp(m *member, b event.Lost) []flow.Command {
	switch {
	case !t.leads(m):
		m.Doom = &b
	case t.s.Finish != nil:
		return t.conclude(m)
	case t.s.Started.Asks:
		return t.stuck(trouble{capAttempts, "The leader cannot work: " + b.Message})
	default:
		m.Doom = &b
	}
	return nil
}

func (t *Team) fail(e event.Event, b event.Failed) []flow.Command {
	t.settle(b.Request, b.Usage)
	m := t.current(e.Agent, b.Turn)
	if m == nil {
		t.stopped(e.Agent, b.Turn)
		return nil
	}
	u := m.Turn
	u.Settled(b.Request)
	why := strings.TrimSpace(cmp.Or(b.Message, b.Code))
	switch {
	case u.Stopped || t.s.Ending != nil || b.Code == CodeLimit:
		return t.conclude(m)
	case b.RetryAfter > 0 && !b.Final && u.Rests < maxRests:
		u.Rests++
		t.pause(m, why)
		u.Rest = t.s.Clock.Up + time.Duration(b.RetryAfter)
		return nil
	}
	t.pause(m, why)
	u.Attempts++
	u.Rest = t.s.Clock.Up + max(time.Duration(b.RetryAfter), 0)
	if b.Final {
		return t.giveUp(m, event.Lost{Code: b.Code, Message: why})
	}
	return t.tryAgain(m, b.Code, why)
}

func (t *Team) called(e event.Event, b event.Called) {
	t.settle(b.Request, b.Usage)
	if m := t.current(e.Agent, b.Turn); m != nil {
		m.Turn.Called(b.Request, b.Tools)
		m.Remember(dialog.Entry{ID: e.ID, At: e.At, Turn: b.Turn, Called: &b})
	}
}

func (t *Team) compacted(e event.Event, b event.Compacted) {
	t.settle(b.Request, b.Usage)
	m := t.current(e.Agent, b.Turn)
	if m == nil {
		return
	}
	if !b.Outline {
		m.Turn.Called(b.Request, nil)
	}
	m.Compact(b)
}

// settle books what a call consumed, and has the leader told once when not much is
// left.
func (t *Team) settle(request string, u event.Usage) {
	t.s.Used = t.s.Used.Add(u)
	dialog.Settle(&t.s.Ledger, request, u)
	if !t.s.Nearly && t.nearlySpent() {
		id := fmt.Sprintf("budget/%d", t.s.Troubles)
		if id == t.s.Told { // the time before was while a person was asked for more
			id += "/again"
		}
		t.s.Nearly, t.s.Told = true, id
		t.owe(id, event.Notified{To: t.leader().ID, Code: event.NoticeBudget, Text: t.spentWords() +
			" Come to an end with what there is: have work in progress reported, merge it, and finish."})
	}
}

func (t *Team) grant(b event.Granted) {
	e, ok := t.inbox.Take(b.Request)
	if !ok {
		return
	}
	q, ok := e.Body.(event.Requested)
	if !ok {
		return // a damaged log; Check says so
	}
	t.s.Ledger.Reserve(e.ID, q.Amount)
	if m := t.current(e.Agent, q.Turn); m != nil {
		m.Turn.Granted(e.ID, q.Amount)
	}
}

// mayFit reports whether a request that does not fit now would if calls of the
// others, which hold more than they will cost, had ended.
func (t *Team) mayFit(m *member, a event.Amount) bool {
	if t.s.Ledger.Fits(a) {
		return false
	}
	free := t.s.Ledger
	free.Held = nil
	return free.Fits(a) && slices.ContainsFunc(t.s.Members, func(o *member) bool {
		return o != m && o.Turn != nil && o.Turn.Live && len(o.Turn.Reserved) > 0 && o.Turn.Waits == nil
	})
}

// released tells the takes that wait for others' calls when it is worth asking
// again: because it fits now, or because waiting cannot help any more.
func (t *Team) released() []flow.Command {
	var do []flow.Command
	for _, m := range t.s.Members {
		u := m.Turn
		if u == nil || !u.Live || u.Waits == nil || t.mayFit(m, *u.Waits) {
			continue
		}
		u.Waits = nil
		do = append(do, u.tell(Note{Kind: NoteBudget}))
	}
	return do
}
