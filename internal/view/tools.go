package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// ToolsVersion is the version of a marshalled [Tools].
const ToolsVersion = 1

// Tools is what agents are equipped with and how that fares. Proposing an outcome
// is no use of a tool.
type Tools struct {
	Agents []AgentTools `json:"agents,omitempty"` // in label order
	Turns  Turns        `json:"turns"`
	// Open are the calls that have not returned.
	Open []ToolOpen `json:"open,omitempty"`
}

// AgentTools is what one agent has at hand and has done with it.
type AgentTools struct {
	Agent event.AgentID `json:"agent"`
	Label event.Label   `json:"label"`
	Equipment
	// Tools are those it has used, in the order of their names, those of servers
	// behind the program's own.
	Tools []ToolLine `json:"tools,omitempty"`
	// Notices are what went wrong with its equipment.
	Notices []Notice `json:"notices,omitempty"`
}

// A Notice is something about an agent's equipment that its user should know.
type Notice struct {
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
	Server string    `json:"server,omitempty"` // which it is about, if any
}

// A ToolLine is how one tool fares.
type ToolLine struct {
	Name   string `json:"name"`             // as the agent calls it
	Server string `json:"server,omitempty"` // that it is of
	// Provider: the model's provider runs it, and nobody else sees how.
	Provider bool `json:"provider,omitempty"`
	Calls    int  `json:"calls"`
	Open     int  `json:"open,omitempty"`
	Failed   int  `json:"failed,omitempty"`
	Unknown  int  `json:"unknown,omitempty"` // cut off before they returned
	// Time is from asking to returning, of those that returned. Calls of one reply
	// that wait for one another all count from the reply.
	Time event.Duration `json:"time,omitempty"`
}

// Short is the name without that of the server.
func (l ToolLine) Short() string {
	if _, name, ok := serverTool(l.Name); ok {
		return name
	}
	return l.Name
}

// A ToolOpen is a tool call that has not returned.
type ToolOpen struct {
	OpenTurn
	Call  string    `json:"call"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	// Cut: its turn is over.
	Cut bool `json:"cut,omitempty"`
}

// Agent is what one agent has.
func (t Tools) Agent(a event.AgentID) AgentTools {
	if i := t.index(a); i >= 0 {
		return t.Agents[i]
	}
	return AgentTools{Agent: a, Label: event.Label(a)}
}

// Of are the tools of a server that were used; of none, the program's own.
func (a AgentTools) Of(server string) []ToolLine {
	return slices.DeleteFunc(slices.Clone(a.Tools), func(l ToolLine) bool { return l.Server != server })
}

// Sum adds lines up.
func Sum(lines []ToolLine) ToolLine {
	var sum ToolLine
	for _, l := range lines {
		sum.Calls += l.Calls
		sum.Open += l.Open
		sum.Failed += l.Failed
		sum.Unknown += l.Unknown
		sum.Time += l.Time
	}
	return sum
}

// Apply returns t after e.
func (t Tools) Apply(e event.Event) Tools {
	switch f := e.Body.(type) {
	case event.RunStarted:
		t = Tools{}
		for _, s := range f.Spec.Seats {
			t.Agents = append(t.Agents, AgentTools{Agent: s.Agent, Label: s.Label, Equipment: equipment(s.Gear)})
		}
	case event.Noticed:
		t = t.with(e.Agent, func(a *AgentTools) { a.notice(e.At, f.Text) })
	case event.Called:
		for _, d := range f.Did {
			t = t.did(e.Agent, d)
		}
		for _, c := range f.Tools {
			t = t.called(e, f.Turn, c)
		}
	case event.ToolCalled:
		t = t.called(e, f.Turn, f.Tool)
	case event.ToolReturned:
		t = t.returned(e, f)
	}
	return t.turn(t.Turns.Apply(e))
}

// did counts what a provider did by itself.
func (t Tools) did(a event.AgentID, d event.Step) Tools {
	return t.line(a, d.Name, func(l *ToolLine) {
		l.Provider = true
		l.Calls++
		if d.Error {
			l.Failed++
		}
	})
}

func (t Tools) called(e event.Event, turn event.Turn, c event.ToolCall) Tools {
	o := OpenTurn{e.Agent, turn}
	if event.IsOutcome(c.Name) || t.open(o, c.ID) >= 0 {
		return t
	}
	t.Open = append(slices.Clip(t.Open), ToolOpen{OpenTurn: o, Call: c.ID, Name: c.Name, Since: e.At})
	return t.line(e.Agent, c.Name, func(l *ToolLine) { l.Calls++; l.Open++ })
}

func (t Tools) open(o OpenTurn, call string) int {
	return slices.IndexFunc(t.Open, func(c ToolOpen) bool { return c.OpenTurn == o && c.Call == call })
}

func (t Tools) returned(e event.Event, f event.ToolReturned) Tools {
	if event.IsOutcome(f.Name) {
		return t
	}
	i := t.open(OpenTurn{e.Agent, f.Turn}, f.Call)
	call := ToolOpen{Name: f.Name, Since: e.At}
	if i >= 0 {
		call = t.Open[i]
		t.Open = slices.Delete(slices.Clone(t.Open), i, i+1)
	}
	t = t.line(e.Agent, call.Name, func(l *ToolLine) {
		switch {
		case i < 0: // the log has lost the call
			l.Calls++
		case call.Cut:
			l.Unknown--
		default:
			l.Open--
		}
		if f.Error {
			l.Failed++
		}
		l.Time += event.Duration(max(e.At.Sub(call.Since), 0))
	})
	if server, _, ok := serverTool(call.Name); ok && !f.Error {
		t = t.with(e.Agent, func(a *AgentTools) { a.answers(server) })
	}
	return t
}

// turn takes in who is on a turn now. What became of the calls of a turn that is
// over is not known, unless they return late.
func (t Tools) turn(now Turns) Tools {
	for _, o := range t.Turns.Open {
		if now.Current(o) {
			continue
		}
		t.Open = slices.Clone(t.Open)
		for i, c := range t.Open {
			if c.OpenTurn == o && !c.Cut {
				t.Open[i].Cut = true
				t = t.line(o.Agent, c.Name, func(l *ToolLine) { l.Open--; l.Unknown++ })
			}
		}
	}
	t.Turns = now
	return t
}

// line changes the line of a tool in a copy.
func (t Tools) line(a event.AgentID, name string, change func(*ToolLine)) Tools {
	return t.with(a, func(a *AgentTools) {
		a.Tools = slices.Clone(a.Tools)
		i := slices.IndexFunc(a.Tools, func(l ToolLine) bool { return l.Name == name })
		if i < 0 {
			l := ToolLine{Name: name, Server: a.server(name)}
			i, _ = slices.BinarySearchFunc(a.Tools, l, func(x, y ToolLine) int {
				return cmp.Or(cmp.Compare(x.Server, y.Server), strings.Compare(x.Name, y.Name))
			})
			a.Tools = slices.Insert(a.Tools, i, l)
		}
		change(&a.Tools[i])
	})
}

// with changes one agent in a copy; one that nobody has heard of gets a place.
func (t Tools) with(a event.AgentID, change func(*AgentTools)) Tools {
	if a == "" {
		return t
	}
	t.Agents = slices.Clone(t.Agents)
	i := t.index(a)
	if i < 0 {
		i = len(t.Agents)
		t.Agents = append(t.Agents, AgentTools{Agent: a, Label: event.Label(a)})
	}
	change(&t.Agents[i])
	return t
}

func (t Tools) index(a event.AgentID) int {
	return slices.IndexFunc(t.Agents, func(o AgentTools) bool { return o.Agent == a })
}
