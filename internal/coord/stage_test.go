package coord_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// stage is one run under the hand of a scenario. These things can happen:
//
//	start agents=a,b,c [settings]     see setting in setting_test.go
//	a answers "text" [like=0.9]       new_answer in a's turn; like is the similarity;
//	                                  "calling" after it: the call goes on
//	a votes b [because "why"] [ranking=b,a]
//	a proposes [answer "text"] [vote b] [nothing] [nonsense]   any number of outcomes
//	a presents "text"                 the final answer
//	a calls [tool …]                  a model call, with the tools it asks for
//	a uses tool                       a tool call of a backend with its own loop
//	a returns tool                    a tool has come back
//	a hears                           a takes in the oldest note it was told
//	a fails code "message" [final]
//	a requests 500 [cost=2000]        leave to spend tokens and millionths of a dollar
//	a spends 400 [cost=1000]          a model call that settles a's last request
//	a@1.2 …                           any of these, from another turn than a's own
//	child id requests 500             a grant for a child flow
//	child id spent 300                its end
//	time +90s                         time passes; timers fire when they are due
//	cancel [by] ["reason"]
//	reply b [revision=1] [gate=override] [of=a] [saying=no]
//	a wishes shell "make"   a compacts 100
//	message "text" [to=a,b] [by=ada]  somebody says something to agents
//	withdraw "text"                   and takes it back
//	wrap-up, pause, continue [by=ada]
//	hold, unhold [of=a]               somebody reads the override, or the question of a
//	stop a [job=job1] [by=ada]
//	a returns tool [job=job1] [ended]
//	crash [1h]                        the program dies and is back after an hour
//	pending, wake                     show what is asked for, and the next timer
type stage struct {
	run   *coord.Run
	log   []event.Event
	now   time.Time
	out   strings.Builder
	start event.RunStarted
	ids   int
	turns map[event.AgentID]event.Turn
	notes map[string][]coord.Note // by turn
	asked map[event.AgentID]string
	child map[string]string
	said  map[string]string // messages by id
}

var curtain = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newStage() *stage {
	return &stage{
		run: &coord.Run{}, now: curtain,
		turns: map[event.AgentID]event.Turn{}, notes: map[string][]coord.Note{},
		asked: map[event.AgentID]string{}, child: map[string]string{}, said: map[string]string{},
	}
}

// happen lets one line happen.
func (s *stage) happen(line string) error {
	w, err := words(line)
	if err != nil || len(w) == 0 {
		return errors.Join(fmt.Errorf("not understood"), err)
	}
	rest := w[1:]
	switch w[0] {
	case "start":
		return s.open(rest)
	case "time":
		return s.pass(rest)
	case "cancel":
		return s.cancel(rest)
	case "reply":
		return s.reply(rest)
	case "crash":
		return s.crash(rest)
	case "child":
		return s.children(rest)
	case "message", "withdraw", "wrap-up", "pause", "continue", "stop", "hold", "unhold":
		return s.steer(w[0], rest)
	case "pending":
		s.commands(s.run.Pending())
		return nil
	case "wake":
		s.wake()
		return nil
	}
	return s.act(w[0], rest)
}

func (s *stage) id(what string) string {
	s.ids++
	return fmt.Sprintf("%s/%d", what, s.ids)
}

// submit puts facts before the run and writes down what comes of them.
func (s *stage) submit(facts ...event.Fact) {
	events, do := flow.Advance(s.run, s.stamp(), facts...)
	s.log = append(s.log, events...)
	for _, e := range events {
		s.note(e)
		if s.run.Decides(e.Body) {
			fmt.Fprintln(&s.out, s.fact(e))
		}
	}
	s.commands(do)
	if len(events) == 0 {
		fmt.Fprintln(&s.out, "(the run is over)")
	}
}

func (s *stage) stamp() func(event.Fact) event.Event {
	seq := uint64(len(s.log))
	return func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "run-1", Seq: seq, At: s.now, Fact: f}
	}
}

// note keeps what the stage itself needs to know.
func (s *stage) note(e event.Event) {
	switch b := e.Body.(type) {
	case event.Assigned:
		s.turns[e.Agent] = b.Turn
	case event.Presenting:
		s.turns[e.Agent] = b.Turn
	}
}

// restore goes on with a run taken up from a checkpoint.
func (s *stage) restore() error {
	p, err := s.run.Checkpoint()
	if err != nil {
		return err
	}
	s.run = &coord.Run{}
	return s.run.Restore(p)
}

// pass lets time go by. A timer that falls due fires at its moment.
func (s *stage) pass(w []string) error {
	if len(w) != 1 || !strings.HasPrefix(w[0], "+") {
		return fmt.Errorf("time wants one duration like +90s")
	}
	d, err := time.ParseDuration(w[0][1:])
	if err != nil {
		return err
	}
	until := s.now.Add(d)
	for {
		at, ok := s.run.Wake()
		if !ok || at.After(until) {
			s.now = until
			return nil
		}
		s.now = at
		fmt.Fprintf(&s.out, "at %s\n", s.now.Sub(curtain))
		s.submit(event.Fact{ID: s.id("timer"), Body: event.TimerFired{}})
	}
}

func (s *stage) wake() {
	if at, ok := s.run.Wake(); ok {
		fmt.Fprintf(&s.out, "wakes in %s\n", at.Sub(s.now))
	} else {
		fmt.Fprintln(&s.out, "sleeps until something happens")
	}
}

func (s *stage) cancel(w []string) error {
	var c event.CancelRequested
	for _, x := range w {
		if reason, ok := strings.CutPrefix(x, `"`); ok {
			c.Reason = reason
		} else {
			c.By = x
		}
	}
	s.submit(event.Fact{ID: s.id("cancel"), Body: c})
	return nil
}

func (s *stage) reply(w []string) error {
	p := event.Replied{Gate: event.GateOverride, Revision: 1, By: "somebody"}
	for _, x := range w {
		switch k, v, _ := strings.Cut(x, "="); k {
		case "revision":
			n, err := strconv.Atoi(v)
			if err != nil {
				return err
			}
			p.Revision = n
		case "gate":
			p.Gate = v
		case "of": // the newest question of that agent's
			p.Gate = s.questionOf(v)
		case "saying":
			p.Text = v
		default:
			p.Choice = x
		}
	}
	s.submit(event.Fact{ID: s.id("reply"), Body: p})
	return nil
}

// crash forgets everything but the log, which goes over the wire, and takes the
// run up again.
func (s *stage) crash(w []string) error {
	down := time.Duration(0)
	if len(w) > 0 {
		var err error
		if down, err = time.ParseDuration(w[0]); err != nil {
			return err
		}
	}
	p, err := json.Marshal(s.log)
	if err != nil {
		return err
	}
	s.log, s.run, s.notes = nil, &coord.Run{}, map[string][]coord.Note{}
	if err := json.Unmarshal(p, &s.log); err != nil {
		return err
	}
	flow.Fold(s.run, s.log)
	s.now = s.now.Add(down)
	s.submit(event.Fact{ID: s.id("resumed"), Body: event.Resumed{Down: event.Duration(down), Epoch: uint64(s.ids)}})
	return nil
}

func (s *stage) children(w []string) error {
	if len(w) != 3 {
		return fmt.Errorf("child wants a name, requests or spent, and a number")
	}
	n, err := strconv.ParseInt(w[2], 10, 64)
	if err != nil {
		return err
	}
	switch w[1] {
	case "requests":
		s.child[w[0]] = s.id("grant")
		s.submit(event.Fact{ID: s.child[w[0]], Body: event.Requested{Amount: event.Amount{Tokens: n}, Child: event.FlowID(w[0])}})
	case "spent":
		s.submit(event.Fact{ID: s.id("settled"), Body: event.Settled{Request: s.child[w[0]], Spent: event.Amount{Tokens: n}}})
	default:
		return fmt.Errorf("a child requests or has spent")
	}
	return nil
}
