package view

import (
	"maps"
	"slices"

	"conclave/internal/event"
)

// CostVersion is the version of a marshalled [Cost].
const CostVersion = 4

// Cost is what a run has used, by agent and in all, and what is left of its
// budget. In a session with an agent it is what the conversation has used; the
// runs it launched are Children.
type Cost struct {
	Agents []Spending `json:"agents,omitempty"` // in label order
	Total  Spending   `json:"total"`

	// Ceiling is what may be spent, if that is limited.
	Ceiling event.Budget `json:"ceiling,omitzero"`
	// Spent is what counts against the ceiling: calls as they were reported,
	// child flows, and what is forfeited.
	Spent event.Amount `json:"spent,omitzero"`
	// Children is the part of Spent that went to child flows.
	Children event.Amount `json:"children,omitzero"`
	// Forfeited is the part of Spent that was reserved for calls of which
	// nobody knows whether they were made.
	Forfeited event.Amount `json:"forfeited,omitzero"`
	// Requests are those without an end, by their ids.
	Requests map[string]Hold `json:"requests,omitempty"`

	Turns Turns `json:"turns"`
	// Calling are turns whose outcome came out of a call that goes on: what they
	// hold when they are over is held until that has said what it cost.
	Calling []OpenTurn `json:"calling,omitempty"`
}

// Spending is the sum of some model calls.
type Spending struct {
	Agent event.AgentID `json:"agent,omitempty"`
	Label event.Label   `json:"label,omitempty"`
	Calls int           `json:"calls"` // of a model, those that failed after a start included
	event.Usage
	// Unpriced counts the calls of which nobody knows the cost.
	Unpriced int `json:"unpriced,omitempty"`
}

// A Hold is an amount that was asked for, and is held once it is Granted.
type Hold struct {
	OpenTurn
	Amount  event.Amount `json:"amount"`
	Child   event.FlowID `json:"child,omitempty"`
	Granted bool         `json:"granted,omitempty"`
}

// Held is the sum of what is reserved and not yet spent.
func (c Cost) Held() event.Amount {
	var sum event.Amount
	for _, h := range c.Requests {
		if h.Granted {
			sum = plus(sum, h.Amount)
		}
	}
	return sum
}

// Left is what may still be reserved; a nil field is not limited.
func (c Cost) Left() event.Budget {
	used := plus(c.Spent, c.Held())
	var b event.Budget
	if n := c.Ceiling.Tokens; n != nil {
		left := max(*n-used.Tokens, 0)
		b.Tokens = &left
	}
	if n := c.Ceiling.Cost; n != nil {
		left := max(*n-used.Cost, 0)
		b.Cost = &left
	}
	return b
}

// Agent is what one agent has used.
func (c Cost) Agent(a event.AgentID) Spending {
	if i := c.index(a); i >= 0 {
		return c.Agents[i]
	}
	return Spending{Agent: a}
}

// Apply returns c after e.
func (c Cost) Apply(e event.Event) Cost {
	switch f := e.Body.(type) {
	case event.RunStarted:
		c = Cost{Ceiling: f.Rules.Budget}
		for _, s := range f.Spec.Seats {
			c.Agents = append(c.Agents, Spending{Agent: s.Agent, Label: s.Label})
		}
	case event.JobStarted:
		c = Cost{Ceiling: f.Rules.Budget, Agents: []Spending{{Agent: f.Seat.Agent, Label: f.Seat.Label}}}
	case event.Proposed:
		if o := (OpenTurn{e.Agent, f.Turn}); f.Follows && c.Turns.Current(o) {
			c.Calling = append(slices.Clip(c.Calling), o)
		}
	case event.Resumed, event.Finished:
		for _, o := range c.Calling { // nobody is left to say it, or to hear it
			c = c.given(o)
		}
	case event.Requested:
		c = c.hold(e.ID, Hold{OpenTurn: OpenTurn{e.Agent, f.Turn}, Amount: f.Amount, Child: f.Child})
	case event.Granted:
		if h, ok := c.Requests[f.Request]; ok {
			h.Granted = true
			c = c.hold(f.Request, h)
		}
	case event.Refused:
		c, _ = c.release(f.Ref)
	case event.Called:
		if f.Unpriced {
			c = c.unpriced(e.Agent)
		}
		c = c.used(e.Agent, f.Usage).settle(f.Request, f.Usage.Amount()).given(OpenTurn{e.Agent, f.Turn})
	case event.Compacted:
		if !f.Outline {
			c = c.used(e.Agent, f.Usage).settle(f.Request, f.Usage.Amount())
		}
	case event.Failed:
		if f.Usage != (event.Usage{}) {
			c = c.used(e.Agent, f.Usage)
		}
		c = c.settle(f.Request, f.Usage.Amount()).given(OpenTurn{e.Agent, f.Turn})
	case event.Staffed:
		c.Ceiling = f.Rules.Budget
	case event.Launched:
		if f.Launch != nil {
			c = c.hold(childKey(f.Run), Hold{Amount: granted(f.Grant), Child: f.Run, Granted: true})
		}
	case event.Returned:
		if now, held := c.release(childKey(f.Run)); held {
			c = now
			spent := counted(f.Usage.Amount())
			c.Spent, c.Children = plus(c.Spent, spent), plus(c.Children, spent)
		}
	case event.Settled:
		c, _ = c.release(f.Request)
		spent := counted(f.Spent)
		c.Spent, c.Children = plus(c.Spent, spent), plus(c.Children, spent)
	}
	return c.turn(c.Turns.Apply(e))
}

// turn takes in who is on a turn now. What a turn that is over still holds may
// have been spent, so it counts as spent, unless that is said later.
func (c Cost) turn(now Turns) Cost {
	for _, o := range c.Turns.Open {
		if !now.Current(o) && !slices.Contains(c.Calling, o) {
			c = c.forfeit(o)
		}
	}
	c.Turns = now
	return c
}

// given is c when the call of a turn has said what it cost, or never will.
func (c Cost) given(o OpenTurn) Cost {
	if !slices.Contains(c.Calling, o) {
		return c
	}
	c.Calling = slices.DeleteFunc(slices.Clone(c.Calling), func(x OpenTurn) bool { return x == o })
	if !c.Turns.Current(o) {
		c = c.forfeit(o)
	}
	return c
}

// forfeit counts what a turn holds as spent.
func (c Cost) forfeit(o OpenTurn) Cost {
	for id, h := range c.Requests {
		if h.Granted && h.Child == "" && h.OpenTurn == o {
			c, _ = c.release(id)
			c.Spent = plus(c.Spent, h.Amount)
			c.Forfeited = plus(c.Forfeited, h.Amount)
		}
	}
	return c
}

// childKey is what a run of a session is held under.
func childKey(id event.FlowID) string { return "run/" + string(id) }

// settle ends a reservation with what was spent. One that is gone has been
// forfeited: its amount is counted already.
func (c Cost) settle(id string, spent event.Amount) Cost {
	c, held := c.release(id)
	if held || id == "" {
		c.Spent = plus(c.Spent, counted(spent))
	}
	return c
}

// counted is a as the ledger takes it: less than nothing cannot have been spent.
func counted(a event.Amount) event.Amount {
	return event.Amount{Tokens: max(a.Tokens, 0), Cost: max(a.Cost, 0)}
}

func (c Cost) hold(id string, h Hold) Cost {
	c.Requests = maps.Clone(c.Requests)
	if c.Requests == nil {
		c.Requests = map[string]Hold{}
	}
	c.Requests[id] = h
	return c
}

func (c Cost) release(id string) (Cost, bool) {
	h, ok := c.Requests[id]
	if ok {
		c.Requests = maps.Clone(c.Requests)
		delete(c.Requests, id)
	}
	return c, ok && h.Granted
}

// unpriced notes a call whose cost nobody knows.
func (c Cost) unpriced(a event.AgentID) Cost {
	c.Total.Unpriced++
	if i := c.index(a); i >= 0 {
		c.Agents = slices.Clone(c.Agents)
		c.Agents[i].Unpriced++
	}
	return c
}

// used adds a model call to its agent's account and to the total.
func (c Cost) used(a event.AgentID, u event.Usage) Cost {
	c.Total.Calls++
	c.Total.Usage = c.Total.Add(u)
	c.Agents = slices.Clone(c.Agents)
	i := c.index(a)
	if i < 0 {
		i = len(c.Agents)
		c.Agents = append(c.Agents, Spending{Agent: a, Label: event.Label(a)})
	}
	c.Agents[i].Calls++
	c.Agents[i].Usage = c.Agents[i].Add(u)
	return c
}

func (c Cost) index(a event.AgentID) int {
	return slices.IndexFunc(c.Agents, func(s Spending) bool { return s.Agent == a })
}

func plus(a, b event.Amount) event.Amount {
	return event.Amount{Tokens: a.Tokens + b.Tokens, Cost: a.Cost + b.Cost}
}
