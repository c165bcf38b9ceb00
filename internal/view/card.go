package view

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// CardVersion is the version of a marshalled [Card].
const CardVersion = 6

// A Card is the summary of a run: what it is about, how far it is and what each
// agent does.
type Card struct {
	ID      event.FlowID  `json:"id"`
	Parent  event.FlowID  `json:"parent,omitempty"`
	Task    event.Content `json:"task"`
	Mode    string        `json:"mode"`
	Started time.Time     `json:"started,omitzero"`
	// Last is when the newest event was taken in.
	Last  time.Time `json:"last,omitzero"`
	Ended time.Time `json:"ended,omitzero"`

	Phase  Phase       `json:"phase"`
	Agents []AgentLine `json:"agents,omitempty"` // in label order

	Answers int `json:"answers"` // accepted, every revision
	Votes   int `json:"votes"`   // that count as things stand
	Rounds  int `json:"rounds"`  // begun, all agents together

	Winner    event.AgentID `json:"winner,omitempty"`
	Presenter event.AgentID `json:"presenter,omitempty"`
	// Stopping is why the run is being brought to its end early, in words.
	Stopping  string          `json:"stopping,omitempty"`
	Status    event.Status    `json:"status,omitempty"`
	StoppedBy event.StoppedBy `json:"stopped_by,omitempty"`
	Error     string          `json:"error,omitempty"`

	// Paused: a person has the run stand still.
	Paused bool `json:"paused,omitempty"`

	// Gates are the questions that wait for a person, oldest first.
	Gates []Gate `json:"gates,omitempty"`

	Resumed int            `json:"resumed,omitempty"` // times
	Down    event.Duration `json:"down,omitempty"`    // in total

	// Clock is the time that counts against deadlines; see TimeLeft.
	Clock Clock `json:"clock,omitzero"`

	// Ballot is the state of agreement; its Sentence is the line to show.
	Ballot Ballot `json:"ballot"`
}

// A Phase is how far a run is.
type Phase string

const (
	PhaseNone       Phase = ""           // no event yet
	PhaseStarting   Phase = "starting"   // nobody has been set to work
	PhaseWorking    Phase = "working"    // no vote counts so far
	PhaseVoting     Phase = "voting"     // a vote counts, or only votes are asked for
	PhaseEnding     Phase = "ending"     // stopped early, being brought to an end
	PhaseDeciding   Phase = "deciding"   // a winner is chosen and nobody presents yet
	PhasePresenting Phase = "presenting" // the final answer is being written
	PhaseFinished   Phase = "finished"   // see Status
)

// A Gate is an open question to a person.
type Gate struct {
	event.Asked
	Since time.Time `json:"since"`
	// Held: somebody is reading it, from HeldAt on, and it does not expire
	// meanwhile. Kept is for how long it was read before.
	Held   bool           `json:"held,omitempty"`
	HeldAt time.Time      `json:"held_at,omitzero"`
	Kept   event.Duration `json:"kept,omitempty"`
}

// Closes is when the gate takes its default; ok is false if it waits for ever, or
// for somebody who is reading it. Time without a driver does not count, so it can
// only be later than this.
func (g Gate) Closes() (at time.Time, ok bool) {
	return g.Since.Add(time.Duration(g.Wait + g.Kept)), g.Wait > 0 && !g.Held
}

// read is the gate while somebody reads it, or no longer does.
func (g Gate) read(on bool, at time.Time) Gate {
	switch {
	case on && !g.Held:
		g.HeldAt = at
	case !on && g.Held:
		g.Kept += event.Duration(max(at.Sub(g.HeldAt), 0))
		g.HeldAt = time.Time{}
	}
	g.Held = on
	return g
}

// reading returns c after somebody began to read the gates for which is is true,
// or ceased to.
func (c Card) reading(on bool, at time.Time, is func(Gate) bool) Card {
	c.Gates = reading(c.Gates, on, at, is)
	return c
}

func reading(gates []Gate, on bool, at time.Time, is func(Gate) bool) []Gate {
	gates = slices.Clone(gates)
	for i, g := range gates {
		if is(g) {
			gates[i] = g.read(on, at)
		}
	}
	return gates
}

// Elapsed is how long somebody has been driving the run, at the time now.
func (c Card) Elapsed(now time.Time) time.Duration {
	if c.Started.IsZero() {
		return 0
	}
	if !c.Ended.IsZero() {
		now = c.Ended
	}
	return max(now.Sub(c.Started)-time.Duration(c.Down), 0)
}

// Sentence is how the run stands, in plain words: that of its ballot, and before
// it that the run is paused.
func (c Card) Sentence() string {
	if !c.Paused {
		return c.Ballot.Sentence()
	}
	busy := c.Ballot.where(func(v Voter) bool { return v.Busy })
	if len(busy) == 0 {
		return "Paused. " + c.Ballot.Sentence()
	}
	return "Paused; " + c.Ballot.are(busy, "held before the next call") + ". " + c.Ballot.Sentence()
}

// Agent is the line of one agent.
func (c Card) Agent(a event.AgentID) (AgentLine, bool) {
	for _, l := range c.Agents {
		if l.ID == a {
			return l, true
		}
	}
	return AgentLine{}, false
}

// Apply returns c after e.
func (c Card) Apply(e event.Event) Card {
	switch s := e.Body.(type) {
	case event.RunStarted:
		c = begun(e, s)
	case event.JobStarted:
		c = Card{ID: e.Flow, Parent: s.Parent, Task: jobTitle(s), Mode: jobMode(s), Started: e.At}
	}
	c.Last = e.At
	c.Ballot = c.Ballot.Apply(e)
	c.Clock = c.Clock.Apply(e)
	switch f := e.Body.(type) {
	case event.Resumed:
		c.Resumed++
		c.Down += max(f.Down, 0)
		c = c.reading(false, e.At, func(Gate) bool { return true })
	case event.Answered:
		c.Answers++
	case event.Ending:
		c.Stopping = string(f.By)
		if f.Why != "" {
			c.Stopping += ": " + f.Why
		}
		c.StoppedBy = f.By
	case event.Asked:
		c.Gates = append(without(c.Gates, f.Gate), Gate{Asked: f, Since: e.At}) // it may be asked again
	case event.Held: // a question that is open is held at once
		c = c.reading(f.On, e.At, func(g Gate) bool { return g.Gate == f.Gate })
	case event.Closed:
		c.Gates = without(c.Gates, f.Gate)
	case event.Presenting:
		c.Presenter = e.Agent
	case event.Finished:
		c.Ended, c.Gates = e.At, nil
		c.Status, c.StoppedBy, c.Error = f.Status, f.StoppedBy, f.Error
		c.Presenter = f.Presenter
	case event.JobEnded:
		c.Ended, c.Gates, c.Status, c.Error = e.At, nil, f.Status, f.Why
	case event.PhaseBegun: // a job that was over goes on
		c.Ended, c.Status, c.Error = time.Time{}, "", ""
	}
	return c.agents(e).derived(e.At)
}

func begun(e event.Event, s event.RunStarted) Card {
	c := Card{
		ID: e.Flow, Parent: s.Spec.Parent, Task: s.Spec.Task,
		Mode: mode(s.Spec, s.Rules), Started: e.At,
	}
	for _, s := range s.Spec.Seats {
		c.Agents = append(c.Agents, AgentLine{ID: s.Agent, Label: s.Label, Model: s.Model, Since: e.At})
	}
	return c
}

func without(gates []Gate, id string) []Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g Gate) bool { return g.Gate == id })
}

// derived works out what follows from the facts: phase, winner, the votes, and
// the state of each agent.
func (c Card) derived(at time.Time) Card {
	c.Winner, c.Votes = c.Ballot.Winner, c.Ballot.Fresh
	c.Phase = c.phase()
	c.Paused = c.Clock.Paused && !c.Clock.Ending && !c.Clock.Over
	for i, l := range c.Agents {
		v, _ := c.Ballot.voter(l.ID)
		l.Answers, l.VoteFor, l.VoteFresh = v.Revision, "", false
		if v.Vote != nil {
			l.VoteFor, l.VoteFresh = v.Vote.ForLabel, v.Vote.Fresh
		}
		if s := c.state(l, v); s != l.State {
			l.State, l.Since = s, at
		}
		c.Agents[i] = l
	}
	return c
}

func (c Card) phase() Phase {
	busy := func(l AgentLine) bool { v, _ := c.Ballot.voter(l.ID); return v.Busy }
	choosing := func(l AgentLine) bool { return busy(l) && l.MayVote && !l.MayAnswer }
	switch {
	case c.Status != "":
		return PhaseFinished
	case c.Stopping != "":
		return PhaseEnding
	case c.Presenter != "":
		return PhasePresenting
	case c.Winner != "":
		return PhaseDeciding
	case c.Votes > 0, slices.ContainsFunc(c.Agents, choosing):
		return PhaseVoting
	case c.Rounds > 0, c.Answers > 0:
		return PhaseWorking
	}
	return PhaseStarting
}
