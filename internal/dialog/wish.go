package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"conclave/internal/event"
)

// A Wish is an agent's question whether it may carry out a tool call, put to a
// person.
type Wish struct {
	event.Asked
	Agent  event.AgentID `json:"agent"`
	Turn   event.Turn    `json:"turn"`
	Hash   event.Hash    `json:"hash"`
	Since  time.Duration `json:"since"`          // on the flow's clock
	Held   bool          `json:"held,omitempty"` // somebody is reading it
	Closed *event.Closed `json:"closed,omitempty"`
}

// Open reports whether it is being asked.
func (w *Wish) Open() bool { return w.Closed == nil }

// Expires reports whether it is answered by itself once its time has come.
func (w *Wish) Expires() bool { return w.Open() && w.Wait > 0 && !w.Held }

// Deadline is when it is, on the flow's clock.
func (w *Wish) Deadline() time.Duration { return w.Since + time.Duration(w.Wait) }

// Wishes are permissions that were asked for: all that are open, and the last of
// the others, to tell whoever answers second. Allowed is what was given for the
// rest of the flow.
type Wishes struct {
	Wishes  []*Wish      `json:"wishes,omitempty"`
	Allowed []event.Hash `json:"allowed,omitempty"`
}

// kept is how many answers are remembered.
const kept = 16

// Pass has time go by, which does not count for what somebody is reading.
func (w *Wishes) Pass(d time.Duration) {
	for _, x := range w.Wishes {
		if x.Open() && x.Held {
			x.Since += d
		}
	}
}

// Asking reports whether anything is being asked.
func (w *Wishes) Asking() bool { return slices.ContainsFunc(w.Wishes, (*Wish).Open) }

// Question is the wish that is being asked about under that name, or nil.
func (w *Wishes) Question(gate string) *Wish {
	for _, x := range w.Wishes {
		if x.Open() && x.Gate == gate {
			return x
		}
	}
	return nil
}

// Permission is the question that the wish in e becomes.
func Permission(e event.Event, b event.Wished, choices []event.Choice, wait event.Duration) event.Fact {
	a := event.Asked{
		Gate: "permission/" + e.ID, Kind: event.GatePermission, Revision: 1,
		Title: fmt.Sprintf("May %s use %s?", e.Agent, b.Tool),
		Text:  b.Action, Choices: choices, Default: event.PermitDeny, Wait: wait, Ref: e.ID,
	}
	return event.Fact{ID: "asked/" + a.Gate, Agent: e.Agent, Body: a}
}

// Ask opens the question that the wish in e has become.
func (w *Wishes) Ask(e event.Event, b event.Wished, a event.Asked, now time.Duration) {
	w.Wishes = append(w.Wishes, &Wish{Asked: a, Agent: e.Agent, Turn: b.Turn, Hash: b.Hash, Since: now})
}

// Decide ends a question; nil if it is not asked. What is said to the agent that
// waits for it is the text, or how it ended.
func (w *Wishes) Decide(b event.Closed) (x *Wish, text string) {
	if x = w.Question(b.Gate); x == nil {
		return nil, ""
	}
	x.Closed = &b
	if b.Choice == event.PermitRun || b.Choice == event.PermitAlways {
		w.Allowed = append(w.Allowed, x.Hash)
	}
	w.Wishes = Newest(w.Wishes, kept, (*Wish).Open)
	return x, cmp.Or(b.Text, b.How)
}

// Lapsed is the end of a question that nobody waits for any more, or that has been
// open for too long by the clock.
func (w *Wishes) Lapsed(c Clock, waits func(*Wish) bool) (event.Fact, bool) {
	for _, x := range w.Wishes {
		switch {
		case !x.Open():
		case !waits(x):
			return Closing(event.Closed{Gate: x.Gate, Choice: x.Default, How: "ending"}), true
		case x.Expires() && c.Rung >= x.Deadline():
			return Closing(event.Closed{Gate: x.Gate, Choice: x.Default, How: "expired"}), true
		}
	}
	return event.Fact{}, false
}

// Closing is the fact that ends a gate, which happens once.
func Closing(c event.Closed) event.Fact {
	return event.Fact{ID: "closed/" + c.Gate, Body: c}
}

// Newest keeps of a list what must be kept and the last n of the rest.
func Newest[T any](list []T, n int, must func(T) bool) []T {
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
