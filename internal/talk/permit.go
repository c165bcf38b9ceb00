package talk

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// A wish is an agent's question whether it may carry out a tool call, put to a
// person.
type wish struct {
	event.Asked
	Agent  event.AgentID `json:"agent"`
	Turn   event.Turn    `json:"turn"`
	Hash   event.Hash    `json:"hash"`
	Since  time.Duration `json:"since"`          // on the session's clock
	Held   bool          `json:"held,omitempty"` // somebody is reading it
	Closed *event.Closed `json:"closed,omitempty"`
}

func (w *wish) open() bool { return w.Closed == nil }

// clock keeps the session's time, which runs while a driver does. Deadlines are
// measured against what it said when a timer last fired, so that facts which come
// in together are judged together.
type clock struct {
	Now  time.Time     `json:"now,omitzero"` // of the last event
	Up   time.Duration `json:"up,omitempty"`
	Rung time.Duration `json:"rung,omitempty"` // at the last TimerFired
}

func (s *Session) tick(e event.Event) {
	c := &s.s.Clock
	passed := e.At.Sub(c.Now)
	if _, down := e.Body.(event.Resumed); down || c.Now.IsZero() || passed < 0 {
		passed = 0
	}
	c.Now = e.At
	c.Up += passed
	for _, w := range s.s.Wishes {
		if w.open() && w.Held { // it goes on with what was left
			w.Since += passed
		}
	}
	if _, ok := e.Body.(event.TimerFired); ok {
		c.Rung = c.Up
	}
}

// Wake is the next moment at which time alone changes what is due: a question
// expires, or a provider has been left alone for long enough.
func (s *Session) Wake() (time.Time, bool) {
	var next time.Duration
	ok := false
	at := func(d time.Duration) {
		if !ok || d < next {
			next, ok = d, true
		}
	}
	for _, w := range s.s.Wishes {
		if w.expires() {
			at(w.Since + time.Duration(w.Wait))
		}
	}
	if s.resting() {
		at(s.s.Turn.Rest)
	}
	if !ok {
		return time.Time{}, false
	}
	return s.s.Clock.Now.Add(next - s.s.Clock.Up), true
}

func (w *wish) expires() bool { return w.open() && w.Wait > 0 && !w.Held }

// judgeWish allows what a person has allowed for the whole session, and asks about
// everything else, where there is somebody to ask.
func (s *Session) judgeWish(e event.Event, b event.Wished) (event.Fact, *verdict) {
	switch {
	case !s.current(e.Agent, b.Turn):
		return event.Fact{}, &verdict{codeSuperseded, "This turn is over; nothing more is taken from it.", true}
	case s.s.Turn.Stopped:
		return event.Fact{}, &verdict{codeStopped, "The person has stopped this turn.", true}
	case slices.Contains(s.s.Allowed, b.Hash):
		return admitted(e), nil
	case !s.rules().Permission.On:
		return event.Fact{}, &verdict{code: codeDenied, why: "This needs the permission of a person, and there is nobody to ask."}
	}
	a := event.Asked{
		Gate: "permission/" + e.ID, Kind: event.GatePermission, Revision: 1,
		Title:   fmt.Sprintf("May %s use %s?", e.Agent, b.Tool),
		Text:    b.Action,
		Choices: permissionChoices, Default: event.PermitDeny, Wait: s.rules().Permission.Wait, Ref: e.ID,
	}
	return event.Fact{ID: "asked/" + a.Gate, Agent: e.Agent, Body: a}, nil
}

var permissionChoices = []event.Choice{
	{ID: event.PermitOnce, Text: "allow this once"},
	{ID: event.PermitRun, Text: "allow exactly this for the rest of the conversation"},
	{ID: event.PermitAlways, Text: "allow exactly this from now on"},
	{ID: event.PermitDeny, Text: "deny it"},
}

// wished opens the question that a wish has become.
func (s *Session) wished(a event.Asked) {
	e, ok := s.taken(a.Ref)
	if !ok {
		return
	}
	if b, ok := e.Body.(event.Wished); ok {
		s.s.Wishes = append(s.s.Wishes, &wish{Asked: a, Agent: e.Agent, Turn: b.Turn, Hash: b.Hash, Since: s.s.Clock.Up})
	}
}

// keptWishes is how many answers are remembered, to tell whoever answers second.
const keptWishes = 16

// decided ends a question and tells the agent that waits for it.
func (s *Session) decided(b event.Closed) []flow.Command {
	w := s.question(b.Gate)
	if w == nil {
		return nil
	}
	w.Closed = &b
	if b.Choice == event.PermitRun || b.Choice == event.PermitAlways {
		s.s.Allowed = append(s.s.Allowed, w.Hash)
	}
	s.s.Wishes = newest(s.s.Wishes, keptWishes, (*wish).open)
	return []flow.Command{flow.Tell{Work: w.Turn.Key(w.Agent), Note: Note{
		Kind: NotePermission, Gate: b.Gate, Choice: b.Choice, Text: cmp.Or(b.Text, b.How),
	}}}
}

// question is the wish that is being asked about under that name, or nil.
func (s *Session) question(gate string) *wish {
	for _, w := range s.s.Wishes {
		if w.open() && w.Gate == gate {
			return w
		}
	}
	return nil
}

// lapsed closes questions whose take has ended, since nobody waits for the answer,
// and those that have been open for too long.
func (s *Session) lapsed() (event.Fact, bool) {
	for _, w := range s.s.Wishes {
		switch {
		case !w.open():
		case !s.current(w.Agent, w.Turn) || s.s.Turn.Stopped:
			return closed(event.Closed{Gate: w.Gate, Choice: w.Default, How: "ending"}), true
		case w.expires() && s.s.Clock.Rung >= w.Since+time.Duration(w.Wait):
			return closed(event.Closed{Gate: w.Gate, Choice: w.Default, How: "expired"}), true
		}
	}
	return event.Fact{}, false
}

// closed is the fact that ends a gate, which happens once.
func closed(c event.Closed) event.Fact {
	return event.Fact{ID: "closed/" + c.Gate, Body: c}
}

// newest keeps of a list what must be kept and the last n of the rest.
func newest[T any](list []T, n int, must func(T) bool) []T {
	spare := -n
	for _, x := range list {
		if !must(x) {
			spare++
		}
	}
	return slices.DeleteFunc(list, func(x T) bool {
		if spare <= 0 || must(x) {
			return false
		}
		spare--
		return true
	})
}
