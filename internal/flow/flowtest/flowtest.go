// Package flowtest is what the tests of deciders share: the player of their
// transcripts, and what must hold of any decider whatever its log says.
//
//	flowtest.go  a decider on a stage: what happens to it, and what is written of it
//	scenario.go  transcripts are played, and compared with what they were
//	line.go      the words of a line
//	property.go  how many random worlds, and what holds in all of them
//
// A package with a decider has a stage of its own around a [Stage]: what its lines
// mean, and how its decisions and commands read.
package flowtest

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Decider is one that can be played: it knows its own decisions, and can be taken
// up from a checkpoint.
type Decider interface {
	flow.Decider
	flow.Sorter
	Checkpoint() ([]byte, error)
	Restore([]byte) error
}

// A Stage is one decider under the hand of a transcript. Everybody's lines are
//
//	wait 30s    nothing happens, and then the timer fires
//	crash       the program dies and is back
//	pending     show what is asked for
//
// and Act knows all others.
type Stage[D Decider] struct {
	D   D
	New func() D
	// Flow is what it is called; Tick is how much time passes with each line.
	Flow event.FlowID
	Tick time.Duration

	Act      func(verb string, a Args) error
	Decision func(event.Event) string
	Command  func(flow.Command) string
	// Rest, if it is there, writes at the end of a block what has changed; Crashed
	// forgets what was going on.
	Rest    func()
	Crashed func()

	// Together: facts of all kinds are counted together.
	Together bool

	Log []event.Event
	Now time.Time
	Out strings.Builder

	ids map[string]int
}

// Open is a stage on which nothing has happened yet.
func Open[D Decider](id event.FlowID, tick time.Duration, fresh func() D) *Stage[D] {
	return &Stage[D]{D: fresh(), New: fresh, Flow: id, Tick: tick, Now: Curtain(), ids: map[string]int{}}
}

// Curtain is when everything begins.
func Curtain() time.Time { return time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC) }

// ErrNot is what Act says of a line it knows nothing of.
var ErrNot = fmt.Errorf("not understood")

// Happen has happen what a line says.
func (s *Stage[D]) Happen(line string) error {
	w, err := Words(line)
	if err != nil || len(w) == 0 {
		return fmt.Errorf("%w: %v", ErrNot, err)
	}
	s.Now = s.Now.Add(s.Tick)
	a := Parse(w[1:])
	switch w[0] {
	case "wait":
		d, err := time.ParseDuration(a.Word(0))
		s.Now = s.Now.Add(d - s.Tick)
		s.Submit(s.Fact("timer", event.TimerFired{}))
		return err
	case "crash":
		s.crash()
	case "pending":
		s.Commands(s.D.Pending())
	default:
		return s.Act(w[0], a)
	}
	return nil
}

// ID is the next name of its kind.
func (s *Stage[D]) ID(what string) string {
	of := what
	if s.Together {
		of = ""
	}
	s.ids[of]++
	return fmt.Sprintf("%s/%d", what, s.ids[of])
}

// Fact is a fact under the next name of its kind.
func (s *Stage[D]) Fact(what string, b event.Body) event.Fact {
	return event.Fact{ID: s.ID(what), Body: b}
}

// Submit puts a fact before the decider and writes down what comes of it.
func (s *Stage[D]) Submit(f event.Fact) { s.Commands(s.advance(f)) }

// Printf writes something down.
func (s *Stage[D]) Printf(format string, args ...any) { fmt.Fprintf(&s.Out, format, args...) }

// Commands writes down what the shell is asked to do.
func (s *Stage[D]) Commands(do []flow.Command) {
	for _, c := range do {
		s.Printf("%s\n", s.Command(c))
	}
}

// advance writes down what is decided because of a fact.
func (s *Stage[D]) advance(f event.Fact) []flow.Command {
	seq := uint64(len(s.Log))
	events, do := flow.Advance(s.D, func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: s.Flow, Seq: seq, At: s.Now, Fact: f}
	}, f)
	s.Log = append(s.Log, events...)
	for _, e := range events {
		if s.D.Decides(e.Body) {
			s.Printf("%s\n", s.Decision(e))
		}
	}
	return do
}

// crash folds the log anew and begins again what is pending.
func (s *Stage[D]) crash() {
	if s.Crashed != nil {
		s.Crashed()
	}
	_ = s.refold()
	s.advance(s.Fact("resumed", event.Resumed{}))
	s.Commands(s.D.Pending())
}

// restore goes on with a decider taken up from a checkpoint.
func (s *Stage[D]) restore() error {
	p, err := s.D.Checkpoint()
	if err != nil {
		return err
	}
	s.D = s.New()
	return s.D.Restore(p)
}

// refold goes on with a decider folded from its log.
func (s *Stage[D]) refold() error {
	s.D = s.New()
	flow.Fold(s.D, s.Log)
	return nil
}
