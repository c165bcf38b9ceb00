package tui

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// mail is what people have said to the agents of a run and who has read it: a
// fold of its events.
type mail struct {
	seats   []event.AgentID
	lost    map[event.AgentID]bool
	heard   map[string]event.Event // without a verdict
	letters []*letter              // oldest first
}

// A letter is one message that was taken.
type letter struct {
	id        string
	text      event.Content
	to        []event.AgentID // nil is all
	waits     []event.AgentID // have not read it
	read      []event.AgentID
	withdrawn bool
	changed   time.Time
}

func (x *mail) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.RunStarted:
		*x = mail{lost: map[event.AgentID]bool{}, heard: map[string]event.Event{}}
		for _, s := range b.Spec.Seats {
			x.seats = append(x.seats, s.Agent)
		}
	case event.Messaged, event.Withdrawn:
		if x.heard != nil {
			x.heard[e.ID] = e
		}
	case event.Refused:
		delete(x.heard, b.Ref)
	case event.Admitted:
		x.admit(b.Ref, e.At)
	case event.Assigned:
		x.reads(e, b.Messages)
	case event.Presenting:
		x.reads(e, b.Messages)
	case event.Told:
		x.reads(e, b.Messages)
	case event.Lost:
		if x.lost != nil {
			x.lost[e.Agent] = true
		}
		for _, l := range x.letters {
			l.waits = without(l.waits, e.Agent)
		}
	}
}

func (x *mail) admit(ref string, at time.Time) {
	e, ok := x.heard[ref]
	if !ok {
		return
	}
	delete(x.heard, ref)
	switch b := e.Body.(type) {
	case event.Messaged:
		l := &letter{id: e.ID, text: b.Text, to: b.To, changed: at}
		for _, a := range x.seats {
			if !x.lost[a] && (len(b.To) == 0 || slices.Contains(b.To, a)) {
				l.waits = append(l.waits, a)
			}
		}
		x.letters = append(x.letters, l)
	case event.Withdrawn:
		for _, l := range x.letters {
			if l.id == b.Message {
				l.withdrawn, l.changed = true, at
			}
		}
	}
}

func (x *mail) reads(e event.Event, ids []string) {
	for _, l := range x.letters {
		if slices.Contains(ids, l.id) && slices.Contains(l.waits, e.Agent) {
			l.waits, l.read, l.changed = without(l.waits, e.Agent), append(l.read, e.Agent), e.At
		}
	}
}

func without(all []event.AgentID, a event.AgentID) []event.AgentID {
	return slices.DeleteFunc(slices.Clone(all), func(b event.AgentID) bool { return b == a })
}
