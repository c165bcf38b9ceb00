package coord

import (
	"slices"
	"time"

	"conclave/internal/event"
)

type duration = time.Duration

// clock keeps the run's times. Up runs while a driver does; Active stands still
// besides while a person is being asked or the run is paused. Nobody times out
// while the program was not running or somebody was thinking. Held is how much of
// Up the run was paused: what is left of it measures how long a question is open.
//
// Deadlines are measured against what the clock said when a timer last fired:
// what an agent brings in late, but before the timer, is not too late, and the
// facts it brings in together are judged together.
type clock struct {
	Now    time.Time `json:"now,omitzero"` // of the last event
	Up     duration  `json:"up,omitempty"`
	Active duration  `json:"active,omitempty"`
	Held   duration  `json:"held,omitempty"`
	Rung   rung      `json:"rung,omitzero"` // at the last TimerFired
}

type rung struct {
	Up     duration `json:"up,omitempty"`
	Active duration `json:"active,omitempty"`
	Open   duration `json:"open,omitempty"`
}

// open is the time by which questions expire.
func (c *clock) open() duration { return c.Up - c.Held }

func (r *Run) tick(e event.Event) {
	c := &r.s.Clock
	passed := e.At.Sub(c.Now)
	if _, down := e.Body.(event.Resumed); down || c.Now.IsZero() || passed < 0 {
		passed = 0
	}
	c.Now = e.At
	c.Up += passed
	switch {
	case r.paused():
		c.Held += passed
	case !r.asking():
		c.Active += passed
	default:
		r.hold(passed)
	}
	if _, ok := e.Body.(event.TimerFired); ok {
		c.Rung = rung{c.Up, c.Active, c.open()}
	}
}

func (r *Run) asking() bool { return len(r.questions()) > 0 }

// limits are the three moments of a round on the active clock: the agent is
// told to wrap up, its turn is cut for one closing take, and it is lost.
type limits struct {
	on                bool
	soft, hard, final duration
}

func (l limits) cut(now duration) bool { return l.on && now >= l.hard }

func (r *Run) roundTime(m *member) limits {
	ru := r.rules()
	limit := ru.LaterRounds
	if m.Round.Round == 1 {
		limit = ru.FirstRound
	}
	if limit <= 0 {
		return limits{}
	}
	soft := m.Round.Since + duration(limit)
	grace := duration(ru.RoundGrace)
	return limits{true, soft, soft + grace, soft + 2*grace}
}

func (r *Run) pastDeadline() bool {
	return r.s.Clock.Rung.Active >= duration(r.rules().RunLimit)
}

func (r *Run) runSoft() duration {
	return duration(r.rules().RunLimit - r.rules().RunGrace)
}

// overdue records what time has brought about.
func (r *Run) overdue() (event.Fact, bool) {
	if r.settling() {
		return event.Fact{}, false
	}
	now, up := r.s.Clock.Rung.Active, r.s.Clock.Rung.Up
	if f, ok := r.expired(r.s.Clock.Rung.Open); ok {
		return f, true
	}
	if !r.s.RunWarned && r.s.Ending == nil && (r.s.WrapUp || now >= r.runSoft()) {
		return event.Fact{ID: "warned/run", Body: event.Warned{}}, true
	}
	for _, m := range r.s.Members {
		if m.Turn == nil {
			continue
		}
		if r.stopping() {
			if up >= r.s.Ending.Since+duration(r.rules().StopGrace) {
				return interrupted(m, "it did not stop when it was told to"), true
			}
			continue
		}
		l := r.roundTime(m)
		switch {
		case !l.on:
		case now >= l.final:
			return lost(m, codeDeadline, "its time was over"), true
		case now >= l.hard && !m.Turn.Closing && m.Turn.Role == event.RoleWork:
			return interrupted(m, "its time was over"), true
		case now >= l.soft && !m.Round.Warned:
			return event.Fact{ID: "warned/" + string(m.ID) + "/" + m.Turn.Turn.String(), Agent: m.ID, Body: event.Warned{Turn: m.Turn.Turn}}, true
		}
	}
	return event.Fact{}, false
}

// Wake is the next moment at which time alone changes what is due.
func (r *Run) Wake() (time.Time, bool) {
	if r.s.Started == nil || r.s.Finished != nil {
		return time.Time{}, false
	}
	c := &r.s.Clock
	var left []duration
	for _, a := range r.s.Accounts {
		if r.expected(a) && (r.waiting() || r.owing()) {
			left = append(left, r.patience(a)-c.Up)
		}
	}
	if r.owing() { // no other time matters any more
		return c.Now.Add(slices.Max(left)), true
	}
	active := func(d duration) {
		if !r.asking() && !r.paused() {
			left = append(left, d-c.Active)
		}
	}
	for _, g := range r.questions() {
		if g.Wait > 0 && !g.Held && !r.paused() {
			left = append(left, g.Since+duration(g.Wait)-c.open())
		}
	}
	if r.s.Ending == nil && !r.s.RunWarned {
		active(r.runSoft())
	}
	if r.s.Ending == nil || strength[r.s.Ending.By] < strength[event.StoppedByDeadline] {
		active(duration(r.rules().RunLimit))
	}
	for _, m := range r.s.Members {
		if r.resting(m) && r.s.Ending == nil {
			active(m.Round.Rest)
		}
		if m.Turn == nil {
			continue
		}
		if r.stopping() {
			left = append(left, r.s.Ending.Since+duration(r.rules().StopGrace)-c.Up)
			continue
		}
		l := r.roundTime(m)
		switch {
		case !l.on:
		case !m.Round.Warned:
			active(l.soft)
		case m.Turn.Closing || m.Turn.Role == event.RolePresent:
			active(l.final)
		default:
			active(l.hard)
		}
	}
	if len(left) == 0 {
		return time.Time{}, false
	}
	first := left[0]
	for _, d := range left[1:] {
		first = min(first, d)
	}
	return c.Now.Add(first), true
}
