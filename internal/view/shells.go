package view

import (
	"encoding/json"
	"slices"
	"time"

	"conclave/internal/event"
)

// ShellsVersion is the version of a marshalled [Shells].
const ShellsVersion = 1

// Shells are the commands that agents have going in the background, and those that
// have ended.
type Shells struct {
	All []Shell `json:"all,omitempty"` // in the order they were started

	Labels map[event.AgentID]event.Label `json:"labels,omitempty"` // never changed once made
	Turns  Turns                         `json:"turns,omitzero"`
	// Calls are those that may start or be about one and have not returned.
	Calls []jobCall `json:"calls,omitempty"`
}

// A Shell is a command that goes on, or went on, in the background of a turn.
type Shell struct {
	Agent event.AgentID `json:"agent"`
	Label event.Label   `json:"label"`
	Turn  event.Turn    `json:"turn"`
	ID    string        `json:"id"` // unique in its turn: "job1"
	// Command is the line as the agent wrote it; empty if the log does not say.
	Command string     `json:"command,omitempty"`
	Since   time.Time  `json:"since"`
	State   ShellState `json:"state"`
	// Ended is when it was known to have ended, and How in words.
	Ended time.Time `json:"ended,omitzero"`
	How   string    `json:"how,omitempty"`
}

// A ShellState is what is known of a job.
type ShellState string

const (
	// ShellRunning: it was started, and nothing says that it has ended. One that
	// ends by itself is found out when its agent looks.
	ShellRunning ShellState = "running"
	ShellEnded   ShellState = "ended"
	ShellUnknown ShellState = "unknown" // its turn was cut off
)

// A jobCall is a call whose input may be the command line of a job.
type jobCall struct {
	OpenTurn
	Call    string `json:"call"`
	Command string `json:"command,omitempty"`
}

// Running are the jobs that go on, of one agent or, with none, of all.
func (j Shells) Running(a event.AgentID) []Shell {
	var out []Shell
	for _, x := range j.All {
		if x.State == ShellRunning && (a == "" || x.Agent == a) {
			out = append(out, x)
		}
	}
	return out
}

// Apply returns j after e.
func (j Shells) Apply(e event.Event) Shells {
	switch f := e.Body.(type) {
	case event.RunStarted:
		j = Shells{Labels: map[event.AgentID]event.Label{}}
		for _, s := range f.Spec.Seats {
			j.Labels[s.Agent] = s.Label
		}
	case event.Called:
		j = j.called(e.Agent, f.Turn, f.Tools...)
	case event.ToolCalled:
		j = j.called(e.Agent, f.Turn, f.Tool)
	case event.ToolReturned:
		j = j.returned(e, f)
	case event.Told:
		if f.Job != nil {
			j = j.known(e, OpenTurn{e.Agent, f.Turn}, *f.Job, "")
		}
	}
	return j.turn(e)
}

// called keeps the command lines of calls: which of them starts a job is known
// when it returns.
func (j Shells) called(a event.AgentID, t event.Turn, calls ...event.ToolCall) Shells {
	j.Calls = slices.Clip(j.Calls)
	for _, c := range calls {
		var in struct {
			Command string `json:"command"`
		}
		if json.Unmarshal(c.Input, &in) == nil && in.Command != "" {
			j.Calls = append(j.Calls, jobCall{OpenTurn{a, t}, c.ID, in.Command})
		}
	}
	return j
}

func (j Shells) returned(e event.Event, f event.ToolReturned) Shells {
	turn, line := OpenTurn{e.Agent, f.Turn}, ""
	is := func(c jobCall) bool { return c.OpenTurn == turn && c.Call == f.Call }
	if i := slices.IndexFunc(j.Calls, is); i >= 0 {
		line = j.Calls[i].Command
		j.Calls = slices.Delete(slices.Clone(j.Calls), i, i+1)
	}
	if f.Job == nil {
		return j
	}
	return j.known(e, turn, *f.Job, line)
}

// known takes in what is known of a job, which may be that there is one.
func (j Shells) known(e event.Event, t OpenTurn, k event.Job, line string) Shells {
	j.All = slices.Clone(j.All)
	i := slices.IndexFunc(j.All, func(x Shell) bool { return x.Agent == t.Agent && x.Turn == t.Turn && x.ID == k.ID })
	if i < 0 {
		i = len(j.All)
		j.All = append(j.All, Shell{Agent: t.Agent, Label: j.label(t.Agent), Turn: t.Turn, ID: k.ID, Command: line, Since: e.At, State: ShellRunning})
	}
	if x := &j.All[i]; k.Ended != "" && x.How == "" {
		x.State, x.Ended, x.How = ShellEnded, e.At, k.Ended
	}
	return j
}

func (j Shells) label(a event.AgentID) event.Label {
	if l, ok := j.Labels[a]; ok && l != "" {
		return l
	}
	return event.Label(a)
}

// turn ends the jobs of a turn that is over: a turn ends whatever it has started
// before it says so. Of one that was cut off nobody knows.
func (j Shells) turn(e event.Event) Shells {
	now := j.Turns.Apply(e)
	_, cut := e.Body.(event.Interrupted)
	for _, o := range j.Turns.Open {
		if now.Current(o) {
			continue
		}
		j.Calls = slices.DeleteFunc(slices.Clone(j.Calls), func(c jobCall) bool { return c.OpenTurn == o })
		j.All = slices.Clone(j.All)
		for i, x := range j.All {
			if x.Agent != o.Agent || x.Turn != o.Turn || x.State != ShellRunning {
				continue
			}
			j.All[i].State, j.All[i].Ended, j.All[i].How = ShellEnded, e.At, "ended with its turn"
			if cut {
				j.All[i].State, j.All[i].How = ShellUnknown, "its turn was cut off"
			}
		}
	}
	j.Turns = now
	return j
}
