package view

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// ClockVersion is the version of a marshalled [Clock].
const ClockVersion = 1

// A Clock is the time that counts against the deadlines of a run, by the same
// reckoning as the decider's: it stands still while nobody drives the run, while
// a person is being asked and while the run is paused.
//
// Between two events it runs on, as far as the log can tell. What the log cannot
// tell is that a driver died: then more time is left than is shown, and the next
// event puts it right.
type Clock struct {
	// Limits of the run and of a round, first and later; zero is none.
	Limit event.Duration `json:"limit,omitempty"`
	First event.Duration `json:"first,omitempty"`
	Later event.Duration `json:"later,omitempty"`
	Grace event.Duration `json:"grace,omitempty"`

	Now    time.Time      `json:"now,omitzero"` // of the newest event
	Active event.Duration `json:"active,omitempty"`
	Rounds []RoundClock   `json:"rounds,omitempty"`

	// Why it stands still. Asking are the open gates, Wishes what was asked for
	// and has no verdict.
	Asking []string `json:"asking,omitempty"`
	Paused bool     `json:"paused,omitempty"`
	Ending bool     `json:"ending,omitempty"`
	Wishes []Wish   `json:"wishes,omitempty"`
	Over   bool     `json:"over,omitempty"`
}

// A RoundClock is when a round of an agent's began, on the active clock.
type RoundClock struct {
	Agent event.AgentID  `json:"agent"`
	Round int            `json:"round"`
	Since event.Duration `json:"since"`
	// Last: a turn that is cut is not taken again.
	Last bool `json:"last,omitempty"`
}

// A Wish asks for a pause, or for the end of one.
type Wish struct {
	ID    string `json:"id"`
	Pause bool   `json:"pause,omitempty"`
}

// Stands reports whether no time counts at the moment.
func (c Clock) Stands() bool {
	return c.Over || c.Now.IsZero() || c.Paused && !c.Ending || len(c.Asking) > 0
}

// Used is the time that counts so far.
func (c Clock) Used(now time.Time) time.Duration {
	used := time.Duration(c.Active)
	if !c.Stands() {
		used += max(now.Sub(c.Now), 0)
	}
	return used
}

// Left is how long the run may still go on; ok is false if there is no limit, or
// it no longer matters.
func (c Clock) Left(now time.Time) (left time.Duration, ok bool) {
	if c.Limit <= 0 || c.Over || c.Ending {
		return 0, false
	}
	return max(time.Duration(c.Limit)-c.Used(now), 0), true
}

// Apply returns c after e.
func (c Clock) Apply(e event.Event) Clock {
	c = c.tick(e)
	switch f := e.Body.(type) {
	case event.RunStarted:
		r := f.Rules
		c = Clock{Limit: r.RunLimit, First: r.FirstRound, Later: r.LaterRounds, Grace: r.RoundGrace, Now: e.At}
	case event.Assigned:
		c = c.enter(e.Agent, f.Turn, f.Closing)
	case event.Presenting:
		c = c.enter(e.Agent, f.Turn, true)
	case event.Asked:
		c.Asking = append(slices.Clip(c.Asking), f.Gate)
	case event.Closed:
		c.Asking = slices.DeleteFunc(slices.Clone(c.Asking), func(g string) bool { return g == f.Gate })
	case event.PauseRequested:
		c.Wishes = append(slices.Clip(c.Wishes), Wish{e.ID, true})
	case event.ContinueRequested:
		c.Wishes = append(slices.Clip(c.Wishes), Wish{e.ID, false})
	case event.Admitted:
		c = c.judged(f.Ref, true)
	case event.Refused:
		c = c.judged(f.Ref, false)
	case event.Ending:
		c.Ending = true
	case event.Finished:
		c.Over, c.Asking, c.Wishes = true, nil, nil
	}
	return c
}

// tick lets the time since the last event pass.
func (c Clock) tick(e event.Event) Clock {
	passed := e.At.Sub(c.Now)
	if _, down := e.Body.(event.Resumed); passed > 0 && !down && !c.Stands() {
		c.Active += event.Duration(passed)
	}
	c.Now = e.At
	return c
}

// enter notes when a round began; another take of it does not begin anew.
func (c Clock) enter(a event.AgentID, t event.Turn, last bool) Clock {
	c.Rounds = slices.Clone(c.Rounds)
	i := c.round(a)
	if i < 0 {
		i, c.Rounds = len(c.Rounds), append(c.Rounds, RoundClock{Agent: a})
	}
	if c.Rounds[i].Round != t.Round {
		c.Rounds[i] = RoundClock{Agent: a, Round: t.Round, Since: c.Active}
	}
	c.Rounds[i].Last = last
	return c
}

func (c Clock) round(a event.AgentID) int {
	return slices.IndexFunc(c.Rounds, func(r RoundClock) bool { return r.Agent == a })
}

func (c Clock) judged(ref string, yes bool) Clock {
	i := slices.IndexFunc(c.Wishes, func(w Wish) bool { return w.ID == ref })
	if i < 0 {
		return c
	}
	if yes {
		c.Paused = c.Wishes[i].Pause
	}
	c.Wishes = slices.Delete(slices.Clone(c.Wishes), i, i+1)
	return c
}

// TimeLeft is how long the run may still go on, as [Clock.Left] has it.
func (c Card) TimeLeft(now time.Time) (left time.Duration, ok bool) { return c.Clock.Left(now) }

// RoundLeft is how long an agent still has for its round: until it is told to
// finish, and when it was (its line is Late), until its turn is ended. It is not
// ok if the agent is on no turn or its rounds have no limit.
func (c Card) RoundLeft(a event.AgentID, now time.Time) (left time.Duration, ok bool) {
	l, known := c.Agent(a)
	i := c.Clock.round(a)
	if !known || i < 0 || !c.Ballot.Turns.Busy(a) || c.Clock.Ending || c.Clock.Over {
		return 0, false
	}
	r := c.Clock.Rounds[i]
	limit, grace := c.Clock.Later, c.Clock.Grace
	if r.Round == 1 {
		limit = c.Clock.First
	}
	if limit <= 0 {
		return 0, false
	}
	switch {
	case !l.Late:
		grace = 0
	case r.Last:
		grace *= 2
	}
	return max(time.Duration(r.Since+limit+grace)-c.Clock.Used(now), 0), true
}
