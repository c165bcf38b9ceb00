package coord_test

import (
	"fmt"
	"slices"
	"time"

	"conclave/internal/coord"
	"conclave/internal/event"
)

// people is what an oracle knows of what people say to a run.
type people struct {
	seats  []event.AgentID
	said   map[string]event.Body
	posts  []*post
	turns  map[event.AgentID]event.Turn
	paused bool
	ending bool
	warned bool
	chosen bool
	asked  map[string]*asked
	now    time.Time
}

// asked is an open question.
type asked struct {
	wait time.Duration
	open time.Duration // that counts
	held bool
}

// A post is a message that was taken in.
type post struct {
	id     string
	to     []event.AgentID
	read   map[event.AgentID]event.Turn
	denied map[event.AgentID]bool // taken back from
}

func newPeople(b event.RunStarted) people {
	p := people{said: map[string]event.Body{}, turns: map[event.AgentID]event.Turn{}, asked: map[string]*asked{}}
	for _, s := range b.Spec.Seats {
		p.seats = append(p.seats, s.Agent)
	}
	return p
}

// pass lets time pass: it counts for questions while a driver runs, the run is
// not paused and nobody is reading them.
func (p *people) pass(e event.Event) {
	passed := e.At.Sub(p.now)
	p.now = e.At
	if _, up := e.Body.(event.Resumed); up {
		for _, q := range p.asked {
			q.held = false
		}
		return
	}
	for _, q := range p.asked {
		if !q.held && (!p.paused || p.ending) {
			q.open += passed
		}
	}
}

// close: a question expires when it has been open for as long as it waits.
func (p *people) close(b event.Closed) error {
	q := p.asked[b.Gate]
	delete(p.asked, b.Gate)
	if b.How == "expired" && (q.held || q.open < q.wait) {
		return fmt.Errorf("%s expires after %s of %s, being read: %v", b.Gate, q.open, q.wait, q.held)
	}
	return nil
}

func (p *people) read(e event.Event, lost map[event.AgentID]bool) error {
	p.pass(e)
	switch b := e.Body.(type) {
	case event.Messaged, event.Withdrawn, event.PauseRequested, event.ContinueRequested, event.WrapUpRequested, event.StopRequested, event.Held:
		p.said[e.ID] = b
	case event.Admitted:
		return p.admit(b.Ref, lost)
	case event.Ending:
		p.ending = true
	case event.Warned:
		p.warned = p.warned || e.Agent == ""
	case event.Assigned:
		return p.begin(e.Agent, b.Turn, b.Messages)
	case event.Presenting:
		return p.begin(e.Agent, b.Turn, b.Messages)
	case event.Answered, event.Voted, event.Lost, event.Failed, event.Interrupted:
		if _, f := b.(event.Failed); f && b.(event.Failed).Turn != p.turns[e.Agent] {
			return nil
		}
		if _, lost := b.(event.Lost); lost && p.stops(e.Agent) != (b.(event.Lost).Code == "stopped") {
			return fmt.Errorf("%s is lost as %s", e.Agent, b.(event.Lost).Code)
		}
		delete(p.turns, e.Agent)
	case event.Told:
		if t, on := p.turns[e.Agent]; on && t == b.Turn {
			p.reads(e.Agent, b.Turn, b.Messages)
		}
	case event.Chosen:
		p.chosen = true
		return p.still("chosen")
	case event.Closed:
		return p.close(b)
	case event.Asked:
		p.asked[b.Gate] = &asked{wait: time.Duration(b.Wait)}
		if b.Kind == event.GateOverride {
			return p.still("a person is asked")
		}
	}
	return nil
}

// still: while a run is paused it does not go on.
func (p *people) still(what string) error {
	if p.paused && !p.ending {
		return fmt.Errorf("%s while the run is paused", what)
	}
	return nil
}

// stops: somebody has asked that an agent is stopped, and was heard.
func (p *people) stops(a event.AgentID) bool {
	_, ok := p.said["stopped/"+string(a)]
	return ok
}

func (p *people) admit(ref string, lost map[event.AgentID]bool) error {
	switch b := p.said[ref].(type) {
	case event.PauseRequested:
		p.paused = true
	case event.ContinueRequested:
		p.paused = false
	case event.Held:
		q := p.asked[b.Gate]
		if q == nil {
			return fmt.Errorf("%s is read and was not asked", b.Gate)
		}
		q.held = b.On
	case event.WrapUpRequested:
		if p.warned {
			return fmt.Errorf("everybody is told to finish again")
		}
	case event.StopRequested:
		if b.Job == "" {
			p.said["stopped/"+string(b.Target)] = b
		}
	case event.Withdrawn:
		for _, x := range p.posts {
			for _, a := range x.to {
				if _, has := x.read[a]; x.id == b.Message && !has {
					x.denied[a] = true
				}
			}
		}
	case event.Messaged:
		x := &post{id: ref, read: map[event.AgentID]event.Turn{}, denied: map[event.AgentID]bool{}}
		for _, a := range p.seats {
			if named := slices.Contains(b.To, a); named || len(b.To) == 0 && !lost[a] {
				x.to = append(x.to, a)
			}
			if slices.Contains(b.To, a) && lost[a] {
				return fmt.Errorf("a message to %s, who is lost, is taken in", a)
			}
		}
		p.posts = append(p.posts, x)
		if p.ending {
			return fmt.Errorf("a message is taken in though the run is ending")
		}
	}
	return nil
}

// begin: a turn begins with every message to the agent, in order.
func (p *people) begin(a event.AgentID, t event.Turn, got []string) error {
	var want []string
	for _, x := range p.posts {
		if slices.Contains(x.to, a) && !x.denied[a] {
			want = append(want, x.id)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s begins %s with the messages %v, not %v", a, t, got, want)
	}
	p.turns[a] = t
	p.reads(a, t, got)
	return p.still(string(a) + " is set to work")
}

func (p *people) reads(a event.AgentID, t event.Turn, ids []string) {
	for _, x := range p.posts {
		if _, again := x.read[a]; slices.Contains(ids, x.id) && slices.Contains(x.to, a) && !x.denied[a] && !again {
			x.read[a] = t
		}
	}
}

// heeded: a vote cast in that turn knew of every message to the voter.
func (p *people) heeded(a event.AgentID, t event.Turn) bool {
	for _, x := range p.posts {
		r, has := x.read[a]
		if slices.Contains(x.to, a) && !x.denied[a] && (!has || r.Round > t.Round || r.Round == t.Round && r.Take > t.Take) {
			return false
		}
	}
	return true
}

// note: nobody is told what was not said to it, or was taken back.
func (p *people) note(n coord.Note, who event.AgentID) error {
	if n.Kind != coord.NoteMessage {
		return nil
	}
	for _, x := range p.posts {
		if x.id == n.Said.ID && slices.Contains(x.to, who) && !x.denied[who] {
			return nil
		}
	}
	return fmt.Errorf("%s is told of %q, which was not said to it", who, n.Said.ID)
}
