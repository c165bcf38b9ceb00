package team

import (
	"fmt"
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

func duration(d event.Duration) time.Duration { return time.Duration(d) }

// tick has time pass: for the team unless it waits for a person, and for each take
// unless a person is asked about it. Deadlines are measured when a timer fires, so
// that what comes in together is judged together.
func (t *Team) tick(e event.Event) {
	passed := t.s.Clock.Tick(e)
	t.s.Pass(passed)
	if !t.standsStill() {
		t.s.Worked += passed
	}
	_, rings := e.Body.(event.TimerFired)
	for _, m := range t.s.Members {
		if u := m.Turn; u != nil && u.Live {
			if !t.asking(m) {
				u.Worked += passed
			}
			if rings {
				u.Rung = u.Worked
			}
		}
	}
	if rings {
		t.s.Rung = t.s.Worked
	}
}

// standsStill reports whether the team's time does: it is over, it is in trouble,
// or everybody who works waits for a person.
func (t *Team) standsStill() bool {
	if t.s.Started == nil || t.s.Ended != nil || t.s.Gate != nil {
		return true
	}
	works := slices.ContainsFunc(t.s.Members, func(m *member) bool { return m.Turn != nil && !t.asking(m) })
	return !works && t.s.Asking()
}

// limits are the two moments of something that may last for so long: there is a
// warning, and it is over.
type limits struct{ soft, hard time.Duration }

func (r limits) on() bool { return r.hard > 0 }

func within(limit, grace event.Duration) limits {
	l := limits{hard: duration(limit)}
	switch l.soft = l.hard - duration(grace); {
	case grace <= 0:
		l.soft = l.hard
	case l.soft <= 0:
		l.soft = l.hard / 2
	}
	return l
}

func (t *Team) turnTime() limits { return within(t.rules().Turn, t.rules().Grace) }
func (t *Team) teamTime() limits { return within(t.rules().Time, t.rules().Grace) }

// stopGrace is how long a take that was told to stop has until nobody waits for it
// any more: it ends what it has started and keeps its tree.
const stopGrace = 30 * time.Second

// late reports whether the time of the team is over.
func (t *Team) late() bool { return t.teamTime().on() && t.s.Rung >= t.teamTime().hard }

// overrun has everything stopped when the team's time is over.
func (t *Team) overrun() []flow.Command {
	if t.s.Ending != nil || !t.late() {
		return nil
	}
	return t.end(ending{
		Status: event.StatusTimeout, By: event.StoppedByDeadline,
		Why: fmt.Sprintf("The team has worked for %s, which is all the time it has.", t.teamTime().hard),
	})
}

// overdue records what time has brought about.
func (t *Team) overdue() (event.Fact, bool) {
	for _, m := range t.s.Members {
		u := m.Turn
		if u == nil || !u.Live {
			continue
		}
		l := t.turnTime()
		switch {
		case u.Stopped && t.s.Ending != nil && t.s.Clock.Rung >= t.s.Ending.Since+stopGrace:
			return cutShort(u, "it did not stop when it was told to"), true
		case u.Stopped || !l.on():
		case u.Rung >= l.hard:
			return cutShort(u, fmt.Sprintf("the turn took longer than %s", l.hard)), true
		case u.Rung >= l.soft && !u.Warned:
			return event.Fact{ID: "warned/" + string(m.ID) + "/" + u.Turn.String(), Agent: m.ID, Body: event.Warned{Turn: u.Turn}}, true
		}
	}
	if l := t.teamTime(); l.on() && t.s.Rung >= l.soft && !t.s.Warned && t.s.Ending == nil {
		return event.Fact{ID: "warned/team", Body: event.Warned{}}, true
	}
	return t.waitOver()
}

// waitOver tells the leader that it has waited for long enough.
func (t *Team) waitOver() (event.Fact, bool) {
	m := t.leader()
	w := m.Await
	if w == nil || w.For == 0 || m.Turn != nil || t.s.Clock.Rung < w.Since+w.For || t.s.Ending != nil {
		return event.Fact{}, false
	}
	return notice("waited/"+w.ID, event.Notified{To: m.ID, Code: event.NoticeWaited, Text: fmt.Sprintf("You have waited for %s, and what you wait for has not come. %s", w.For, t.whoWorks())}), true
}

// cutShort ends a take that does not end by itself.
func cutShort(u *turn, why string) event.Fact {
	b := event.Interrupted{Turn: u.Turn, Why: why}
	for _, c := range u.Open {
		if !Owns(c.Name) {
			b.Unknown = append(b.Unknown, c)
		}
	}
	return event.Fact{ID: "interrupted/" + string(u.Agent) + "/" + u.Turn.String(), Agent: u.Agent, Body: b}
}

// warned has those know whose time is nearly over.
func (t *Team) warned(a event.AgentID, b event.Warned) []flow.Command {
	if m := t.current(a, b.Turn); m != nil {
		m.Turn.Warned = true
		return []flow.Command{m.Turn.tell(Note{Kind: NoteWrapUp})}
	}
	if a == "" {
		t.s.Warned = true
		left := max(t.teamTime().hard-t.s.Worked, 0).Round(time.Second)
		t.owe("time", event.Notified{To: t.leader().ID, Code: event.NoticeTime, Text: fmt.Sprintf("The time of the team is over in %s, and then everything is stopped. Set nothing new going: merge what is there, and finish with it.", left)})
	}
	return nil
}

// Wake is the next moment at which time alone changes what is due.
func (t *Team) Wake() (time.Time, bool) {
	if t.s.Started == nil || t.s.Ended != nil {
		return time.Time{}, false
	}
	var next time.Duration
	ok := false
	in := func(d time.Duration) {
		if !ok || d < next {
			next, ok = d, true
		}
	}
	for _, w := range t.s.Wishes.Wishes {
		if w.Expires() {
			in(w.Deadline() - t.s.Clock.Up)
		}
	}
	for _, m := range t.s.Members {
		t.wakes(m, in)
	}
	if l := t.teamTime(); l.on() && t.s.Ending == nil && !t.standsStill() {
		if !t.s.Warned {
			in(l.soft - t.s.Worked)
		}
		in(l.hard - t.s.Worked)
	}
	if !ok {
		return time.Time{}, false
	}
	return t.s.Clock.Now.Add(next), true
}

// wakes is when time alone changes something for a member.
func (t *Team) wakes(m *member, in func(time.Duration)) {
	u, l := m.Turn, t.turnTime()
	switch {
	case u == nil:
		if w := m.Await; w != nil && w.For > 0 && t.s.Ending == nil {
			in(w.Since + w.For - t.s.Clock.Up)
		}
	case u.Stopped && t.s.Ending != nil:
		in(t.s.Ending.Since + stopGrace - t.s.Clock.Up)
	case !u.Live:
		if t.resting(u) {
			in(u.Rest - t.s.Clock.Up)
		}
	case l.on() && !t.asking(m):
		if !u.Warned {
			in(l.soft - u.Worked)
		}
		in(l.hard - u.Worked)
	}
}
