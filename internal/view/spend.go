package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"conclave/internal/event"
)

// SpendVersion is the version of a marshalled [Spend].
const SpendVersion = 2

// Spend is what a flow has used, told apart in every way people ask for: by phase,
// by agent, by model, by tool and by run. It is a fold like the others; what runs
// have used is taken from what they returned until [Spend.With] puts their own
// account in its place.
type Spend struct {
	Seq   uint64    `json:"seq"`
	Total SpendLine `json:"total"`
	// Phases are those of a job or of a team, in order; Agents, Models and Tools in the order
	// in which they first did something.
	Phases []SpendLine `json:"phases,omitempty"`
	Agents []SpendLine `json:"agents,omitempty"`
	Models []SpendLine `json:"models,omitempty"`
	Tools  []SpendLine `json:"tools,omitempty"`
	Runs   []SpendLine `json:"runs,omitempty"`

	// Phase is the one that goes on; Ran in which phase a run was launched; Using
	// the model that an agent used last.
	Phase string                   `json:"phase,omitempty"`
	Ran   map[string]string        `json:"ran,omitempty"`
	Using map[event.AgentID]string `json:"using,omitempty"`
	// Of a team: the phases of the roles, in which phase everybody works, and who
	// has no verdict yet on coming in.
	Stages  []event.TeamPhase        `json:"stages,omitempty"`
	Works   map[event.AgentID]string `json:"works,omitempty"`
	Joining []event.Event            `json:"joining,omitempty"`
}

// A SpendLine is one part of what was used.
type SpendLine struct {
	Name string `json:"name"`
	// Calls are those of models.
	Calls int `json:"calls,omitempty"`
	event.Usage
	// Unpriced counts the calls of which nobody knows the cost.
	Unpriced int `json:"unpriced,omitempty"`
	// Of tools: how often they were used, how often they failed, and how much text
	// they gave back, in bytes, which the model then read.
	Uses     int   `json:"uses,omitempty"`
	Failures int   `json:"failures,omitempty"`
	Returned int64 `json:"returned,omitempty"`
}

func (l SpendLine) add(m SpendLine) SpendLine {
	l.Calls, l.Usage, l.Unpriced = l.Calls+m.Calls, l.Add(m.Usage), l.Unpriced+m.Unpriced
	l.Uses, l.Failures, l.Returned = l.Uses+m.Uses, l.Failures+m.Failures, l.Returned+m.Returned
	return l
}

// maxSpendLines is how many of one sort are told apart: a model may call a tool by
// any name. The rest is one line.
const (
	maxSpendLines = 200
	spendRest     = "others"
)

// spent adds to the line of that name.
func spent(lines []SpendLine, name string, m SpendLine) []SpendLine {
	name = Shorten(name, auditNameWidth)
	is := func(l SpendLine) bool { return l.Name == name }
	i := slices.IndexFunc(lines, is)
	if i < 0 && len(lines) >= maxSpendLines {
		name = spendRest
		i = slices.IndexFunc(lines, is)
	}
	if i < 0 {
		m.Name = name
		return append(slices.Clip(lines), m)
	}
	lines = slices.Clone(lines)
	lines[i] = lines[i].add(m)
	return lines
}

// Apply returns s after e.
func (s Spend) Apply(e event.Event) Spend {
	s.Seq = e.Seq
	switch f := e.Body.(type) {
	case event.TeamStarted:
		s.Stages = f.Phases
		return s.joins(event.AgentID(f.Leader.Name), f.Leader.Name)
	case event.Spawned:
		s.Joining = newest(s.Joining, maxTeamPut, e)
	case event.Admitted:
		return s.joined(f.Ref, true)
	case event.Refused:
		return s.joined(f.Ref, false)
	case event.PhaseBegun:
		s.Phase = words(", ", fmt.Sprintf("phase %d", f.Phase), f.Kind)
		s.Phases = spent(s.Phases, s.Phase, SpendLine{})
	case event.Called:
		l := SpendLine{Calls: 1, Usage: f.Usage}
		if f.Unpriced {
			l.Unpriced = 1
		}
		for _, d := range f.Did {
			use := SpendLine{Uses: 1, Returned: int64(len(d.Result))}
			if d.Error {
				use.Failures = 1
			}
			s = s.uses(e.Agent, d.Name, use)
		}
		s.Using = maps.Clone(s.Using)
		if s.Using == nil {
			s.Using = map[event.AgentID]string{}
		}
		s.Using[e.Agent] = f.Model
		return s.calls(e.Agent, l)
	case event.Compacted:
		if !f.Outline {
			return s.calls(e.Agent, SpendLine{Calls: 1, Usage: f.Usage})
		}
	case event.Failed:
		if f.Usage != (event.Usage{}) {
			return s.calls(e.Agent, SpendLine{Calls: 1, Usage: f.Usage})
		}
	case event.ToolReturned:
		use := SpendLine{Uses: 1, Returned: int64(f.Result.Size)}
		if f.Error {
			use.Failures = 1
		}
		return s.uses(e.Agent, f.Name, use)
	case event.Launched:
		s.Ran = maps.Clone(s.Ran)
		if s.Ran == nil {
			s.Ran = map[string]string{}
		}
		s.Ran[string(f.Run)] = s.Phase
		s.Runs = spent(s.Runs, string(f.Run), SpendLine{})
	case event.Returned:
		return s.ran(f.Run, SpendLine{Usage: f.Usage})
	}
	return s
}

// calls adds a call of a model.
func (s Spend) calls(a event.AgentID, l SpendLine) Spend {
	s.Total = s.Total.add(l)
	s.Agents = spent(s.Agents, string(a), l)
	model := s.Using[a]
	if model == "" {
		model = "unknown"
	}
	s.Models = spent(s.Models, model, l)
	return s.during(s.phase(a), l)
}

// uses adds a use of a tool.
func (s Spend) uses(a event.AgentID, tool string, l SpendLine) Spend {
	s.Total = s.Total.add(l)
	s.Agents, s.Tools = spent(s.Agents, string(a), l), spent(s.Tools, tool, l)
	return s.during(s.phase(a), l)
}

// phase is the one an agent works in.
func (s Spend) phase(a event.AgentID) string { return cmp.Or(s.Phase, s.Works[a]) }

// joined takes in whether somebody comes into a team.
func (s Spend) joined(ref string, in bool) Spend {
	i := slices.IndexFunc(s.Joining, func(e event.Event) bool { return e.ID == ref })
	if i < 0 {
		return s
	}
	f, _ := s.Joining[i].Body.(event.Spawned)
	if s.Joining = dropped(s.Joining, i); in {
		return s.joins(f.Member, f.Role)
	}
	return s
}

// joins notes in which phase a member of a team works: what it uses is counted
// there.
func (s Spend) joins(a event.AgentID, role string) Spend {
	for _, p := range s.Stages {
		if slices.Contains(p.Roles, role) {
			s.Works = maps.Clone(s.Works)
			if s.Works == nil {
				s.Works = map[event.AgentID]string{}
			}
			s.Works[a] = p.Name
			return s
		}
	}
	return s
}

func (s Spend) during(phase string, l SpendLine) Spend {
	if phase != "" {
		s.Phases = spent(s.Phases, phase, l)
	}
	return s
}

// ran adds what a run has used.
func (s Spend) ran(run event.FlowID, l SpendLine) Spend {
	s.Total, s.Runs = s.Total.add(l), spent(s.Runs, string(run), l)
	return s.during(s.Ran[string(run)], l)
}

// With is s with the account of one of its runs in place of what that returned.
func (s Spend) With(run event.FlowID, of Spend) Spend {
	had := SpendLine{}
	if i := slices.IndexFunc(s.Runs, func(l SpendLine) bool { return l.Name == string(run) }); i >= 0 {
		had.Usage = s.Runs[i].Usage
	}
	l := of.Total
	l.Usage = minus(l.Usage, had.Usage)
	s = s.ran(run, l)
	for _, m := range of.Agents {
		s.Agents = spent(s.Agents, m.Name, m)
	}
	for _, m := range of.Models {
		s.Models = spent(s.Models, m.Name, m)
	}
	for _, m := range of.Tools {
		s.Tools = spent(s.Tools, m.Name, m)
	}
	return s
}
