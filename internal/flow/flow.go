// Package flow is the shape every decider has, and the two things done with
// one: advancing it by what has just happened, and replaying what its log says.
//
// A [Decider] is a state machine. Step takes one event and gives back the facts
// it decides and the commands it wants carried out. What it decides is a
// function of its state alone: Due gives the next fact that has to be recorded,
// and stepping that fact changes the state so that the next one is due, until
// nothing is. A log may therefore be cut after any event and taken up again.
//
// The driving loop is
//
//	events, do := flow.Advance(decider, stamp, input)
//	commit(events)              // one transaction; on failure discard the decider
//	for _, c := range do { start(c) }
//
// Nothing here is safe for concurrent use; nothing here blocks.
package flow

import (
	"bytes"
	"fmt"
	"reflect"
	"time"

	"conclave/internal/event"
)

// A Decider decides what one flow does next. coord.Run is one.
type Decider interface {
	// Step advances the state by one event of the flow's log.
	Step(event.Event) Ready
	// Due is what the state demands to be recorded next; at most one fact.
	Due() []event.Fact
	// Pending lists the commands that were asked for and have no outcome in
	// the log yet: what a driver starts when it takes the flow up.
	Pending() []Command
	// Wake is when the decider wants to be stepped with a TimerFired if nothing
	// else happens before.
	Wake() (at time.Time, ok bool)
	// Done reports that the flow is over: no event follows.
	Done() bool
}

// Ready is what one Step leads to.
type Ready struct {
	Record []event.Fact // to be appended in one transaction with the event stepped
	Do     []Command    // to be started once that is durable
}

// A Command asks the shell for an effect. Key names the piece of work it is
// about; commands that are not [Stop] or [Tell] begin that piece.
type Command interface{ Key() string }

// Stop ends the piece of work named by Work, if it is still going on. The work
// answers with the fact that ends it.
type Stop struct{ Work string }

// Tell gives a note to the piece of work named by Work, which takes it in when
// it next can. Notes nobody takes in are dropped.
type Tell struct {
	Work string
	Note any
}

func (s Stop) Key() string { return s.Work }
func (t Tell) Key() string { return t.Work }

// maxDecisions bounds how many facts one input may lead to. A decider that
// passes it is not converging, which no log can be written about.
const maxDecisions = 10_000

// Advance steps d through the inputs and everything it decides because of them,
// and returns the events in order together with the commands to start once
// those are durable. Inputs that come after the flow's last event are left out.
func Advance(d Decider, stamp func(event.Fact) event.Event, inputs ...event.Fact) ([]event.Event, []Command) {
	var out []event.Event
	var do []Command
	step := func(f event.Fact) []event.Fact {
		e := stamp(f)
		out = append(out, e)
		rd := d.Step(e)
		do = append(do, rd.Do...)
		return rd.Record
	}
	due := d.Due()
	for {
		for n := 0; len(due) > 0; n++ {
			if n == maxDecisions {
				panic(fmt.Sprintf("flow: no end of decisions, last %d %+v", len(out), out[len(out)-1]))
			}
			due = step(due[0])
		}
		if len(inputs) == 0 || d.Done() {
			return out, do
		}
		due = step(inputs[0])
		inputs = inputs[1:]
	}
}

// Fold steps d through a log without looking at what it decides.
func Fold(d Decider, log []event.Event) {
	for _, e := range log {
		d.Step(e)
	}
}

// A Sorter is a Decider that can tell who may say what. Replay then reports a
// decision that nothing in the log leads to.
type Sorter interface {
	Decides(event.Body) bool
	// Hears reports whether anybody may say it through the inbox. What agents
	// and the driver report is not for others to say.
	Hears(event.Body) bool
}

// Replay steps d through a log and reports the first event that is not what d
// decides at that place.
func Replay(d Decider, log []event.Event) error {
	sorter, _ := d.(Sorter)
	due := d.Due()
	for _, e := range log {
		switch {
		case d.Done():
			return fmt.Errorf("event %d (%s) follows the end of the flow", e.Seq, event.Kind(e.Body))
		case len(due) > 0 && !Same(due[0], e.Fact):
			return fmt.Errorf("event %d is %s, but the log before it decides %s", e.Seq, describe(e.Fact), describe(due[0]))
		case len(due) == 0 && sorter != nil && sorter.Decides(e.Body):
			return fmt.Errorf("event %d is %s, which nothing in the log before it decides", e.Seq, describe(e.Fact))
		}
		due = d.Step(e).Record
	}
	return nil
}

// Same reports whether two facts are the same on the wire.
func Same(a, b event.Fact) bool {
	if a.ID != b.ID || a.Agent != b.Agent || event.Kind(a.Body) != event.Kind(b.Body) {
		return false
	}
	if reflect.DeepEqual(a.Body, b.Body) {
		return true
	}
	x, errX := event.EncodeBody(a.Body)
	y, errY := event.EncodeBody(b.Body)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func describe(f event.Fact) string {
	b, err := event.EncodeBody(f.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s %s", event.Kind(f.Body), f.ID, b)
}
