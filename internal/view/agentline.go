package view

import (
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// An AgentLine is what one agent of a run does and has done.
type AgentLine struct {
	ID    event.AgentID `json:"id"`
	Label event.Label   `json:"label"`
	Model string        `json:"model,omitempty"`
	State AgentState    `json:"state"`
	Since time.Time     `json:"since,omitzero"` // when State began

	// The turn it is on, or was on last.
	Round     int  `json:"round,omitempty"`
	Take      int  `json:"take,omitempty"`
	MayAnswer bool `json:"may_answer,omitempty"`
	MayVote   bool `json:"may_vote,omitempty"`
	// Late: the soft deadline of the turn has passed.
	Late bool `json:"late,omitempty"`
	// Tools are the calls of the turn that have not returned, oldest first.
	// Proposing an outcome is not among them.
	Tools []OpenTool `json:"tools,omitempty"`

	Answers int `json:"answers"` // its newest revision
	Calls   int `json:"calls"`   // of its model
	// Filled is how many tokens of its model's Window the conversation takes;
	// both are zero where that is not known.
	Filled int64 `json:"filled,omitempty"`
	Window int   `json:"window,omitempty"`
	// VoteFor is the label it votes for, if it has a vote in.
	VoteFor   event.Label `json:"vote_for,omitempty"`
	VoteFresh bool        `json:"vote_fresh,omitempty"`
	// Lost is why it will not act again.
	Lost string `json:"lost,omitempty"`
	// Stopped: it will not, because a person has stopped it.
	Stopped bool `json:"stopped,omitempty"`
}

// Gone is why an agent will not act again, in words that follow its name:
// "stopped by ada", "lost: its model is gone". It is empty if it will.
func (l AgentLine) Gone() string {
	switch {
	case l.Stopped:
		return stopped(l.Lost)
	case l.Lost != "":
		return "lost: " + OneLine(l.Lost)
	}
	return ""
}

// stopped is "stopped by ada", from why an agent was.
func stopped(why string) string {
	if by, ok := strings.CutPrefix(OneLine(why), "it was stopped by "); ok {
		return "stopped by " + by
	}
	return "stopped"
}

// An OpenTool is a tool call that has not returned.
type OpenTool struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
}

// An AgentState is what an agent does at the moment.
type AgentState string

const (
	StateIdle       AgentState = "idle"       // has not been set to work yet
	StateWorking    AgentState = "working"    // on a turn
	StateWaiting    AgentState = "waiting"    // between turns, its vote not in
	StateVoted      AgentState = "voted"      // its vote is in and counts
	StatePresenting AgentState = "presenting" // writes the final answer
	StateLost       AgentState = "lost"       // will not act again
	StateDone       AgentState = "done"       // the choice is made without it, or the run is over
)

// Full is the part of its model's window that is taken, 0 to 1.
func (l AgentLine) Full() float64 {
	if l.Window <= 0 {
		return 0
	}
	return float64(l.Filled) / float64(l.Window)
}

// Tool is the tool call that has been open longest, if any is.
func (l AgentLine) Tool() (OpenTool, bool) {
	if len(l.Tools) == 0 {
		return OpenTool{}, false
	}
	return l.Tools[0], true
}

func (c Card) state(l AgentLine, v Voter) AgentState {
	switch {
	case v.Lost:
		return StateLost
	case c.Status != "":
		return StateDone
	case v.Busy && c.Presenter == l.ID:
		return StatePresenting
	case v.Busy:
		return StateWorking
	case c.Winner != "":
		return StateDone
	case v.Vote != nil && v.Vote.Fresh:
		return StateVoted
	case l.Round > 0 || v.Revision > 0 || v.Vote != nil:
		return StateWaiting
	}
	return StateIdle
}

// agents brings the lines up to e, in a copy: derived writes to it as well.
func (c Card) agents(e event.Event) Card {
	c.Agents = slices.Clone(c.Agents)
	for _, v := range c.Ballot.Voters[min(len(c.Agents), len(c.Ballot.Voters)):] {
		c.Agents = append(c.Agents, AgentLine{ID: v.Agent, Label: v.Label})
	}
	i := slices.IndexFunc(c.Agents, func(l AgentLine) bool { return l.ID == e.Agent })
	if i < 0 {
		return c
	}
	l := &c.Agents[i]
	switch f := e.Body.(type) {
	case event.Assigned:
		if l.Round != f.Round {
			c.Rounds++
		}
		l.turn(f.Turn)
		l.MayAnswer, l.MayVote = f.MayAnswer, f.MayVote
	case event.Presenting:
		l.turn(f.Turn)
	case event.Called:
		l.Calls++
		l.Filled, l.Window = f.Usage.Input+f.Usage.Output, f.Window
		l.opened(e.At, f.Tools...)
	case event.Compacted:
		if !f.Outline {
			l.Calls++
		}
		l.Filled = f.After
	case event.ToolCalled:
		l.opened(e.At, f.Tool)
	case event.ToolReturned:
		l.Tools = slices.DeleteFunc(slices.Clone(l.Tools), func(t OpenTool) bool { return t.ID == f.Call })
	case event.Warned:
		l.Late = true
	case event.Lost:
		l.Lost = f.Message
		if l.Lost == "" {
			l.Lost = f.Code
		}
		l.Stopped = f.Code == event.LostStopped
	}
	if v, _ := c.Ballot.voter(l.ID); !v.Busy {
		l.Tools, l.Late, l.MayAnswer, l.MayVote = nil, false, false, false
	}
	return c
}

// turn begins a turn.
func (l *AgentLine) turn(t event.Turn) {
	l.Round, l.Take = t.Round, t.Take
	l.Tools, l.Late, l.MayAnswer, l.MayVote = nil, false, false, false
}

// opened notes tool calls that are about to be carried out.
func (l *AgentLine) opened(at time.Time, tools ...event.ToolCall) {
	l.Tools = slices.Clip(l.Tools)
	for _, t := range tools {
		if !event.IsOutcome(t.Name) {
			l.Tools = append(l.Tools, OpenTool{ID: t.ID, Name: t.Name, Since: at})
		}
	}
}
