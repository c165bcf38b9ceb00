// Package launch is what launch_run takes, for whoever calls it: the agent of a
// session, a program that speaks MCP, or a person who edits what they are asked
// to approve.
//
// [Params] are the call as it is written, [Params.Launch] checks it against the
// team and fills in what was left out; what it refuses it refuses in words that a
// model can act on, everything that is wrong at once. [Of] is the way back, for
// whoever edits. [Schema] and [Description] are what a model is told of the tool;
// [Mode], [Rules] and [Paths] are what a launch makes of a run. The package is
// pure.
//
//	parse.go     a call as JSON, and the table of its parameters
//	launch.go    what a call means for a team
//	override.go  the table of coordination settings a call may change
//	path.go      files and folders of a run
//	schema.go    what a model is told of the tool; launch_run.md is its text
package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"conclave/internal/event"
)

// Params are the parameters of a call. A nil field was not said.
type Params struct {
	Task         string            `json:"task"`
	Context      string            `json:"context,omitempty"`
	AgentMode    string            `json:"agent_mode,omitempty"` // "single" or "multi"
	Agents       []string          `json:"agents,omitempty"`
	Refinement   *bool             `json:"refinement,omitempty"`
	PlanningMode *bool             `json:"planning_mode,omitempty"`
	Execute      *bool             `json:"execute_after_planning,omitempty"`
	ContextPaths []Path            `json:"context_paths,omitempty"`
	Prompts      map[string]string `json:"agent_system_prompts,omitempty"`
	Overrides    json.RawMessage   `json:"coordination_overrides,omitempty"`
}

// A Path is a file or folder of the user's.
type Path struct {
	Path       string `json:"path"`
	Permission string `json:"permission,omitempty"` // "read" or "write"; read if left out
}

// Words of parameters.
const (
	single = "single"
	multi  = "multi"
	reads  = "read"
	writes = "write"
)

// maxPrompts bounds what is appended to system prompts, in bytes: it travels in
// every event about the run.
const maxPrompts = 32 << 10

// A Problem is why a call is refused, in words for whoever made it: what is
// wrong, and what could be said instead. It is a sentence for each thing, on a
// line of its own.
type Problem struct{ Why string }

func (p *Problem) Error() string { return p.Why }

// problems collects what is wrong with a call.
type problems []string

func (ps *problems) add(format string, args ...any) { *ps = append(*ps, fmt.Sprintf(format, args...)) }

// err is nil, without a type, if there are none.
func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return &Problem{Why: strings.Join(ps, "\n")}
}

// Launch is the call with its defaults filled in, for a team of these agents. The
// texts are as they were written: whoever records them makes what is long fit for
// an event. Its error is a *Problem.
func (p Params) Launch(team []event.Teammate) (event.Launch, error) {
	var bad problems
	if strings.TrimSpace(p.Task) == "" {
		bad.add("task is empty; say what is to be accomplished.")
	}
	l := event.Launch{Task: event.Inline(p.Task)}
	if strings.TrimSpace(p.Context) != "" {
		l.Context = event.Inline(p.Context)
	}
	l.Agents, l.Single = p.staff(team, &bad)
	l.Quick = l.Single
	if p.Refinement != nil {
		l.Quick = !*p.Refinement
	}
	l.Plan, l.Execute = on(p.PlanningMode), on(p.Execute)
	if l.Execute && !l.Plan {
		bad.add("execute_after_planning is true and planning_mode is not; set planning_mode to true as well, or leave execute_after_planning out to have the task carried out at once.")
	}
	l.Paths = p.paths(&bad)
	l.Prompts = p.prompts(l.Agents, &bad)
	l.Overrides, l.Approve = overrides(p.Overrides, Mode(l), &bad)
	if err := bad.err(); err != nil {
		return event.Launch{}, err
	}
	return l, nil
}

// staff is who works, and whether it is one agent alone: a run of one agent is
// single, and nothing else is.
func (p Params) staff(team []event.Teammate, bad *problems) (agents []event.AgentID, alone bool) {
	known := ids(team)
	agents, sound := p.named(known, bad)
	mode := p.AgentMode
	switch {
	case mode != "" && mode != single && mode != multi:
		bad.add("agent_mode must be single or multi, not %q.%s", clip(mode), didYouMean(mode, []string{single, multi}))
		return agents, false
	case len(known) == 0:
		bad.add("no agents are configured, so no run can be launched; tell the user.")
		return nil, false
	case !sound:
		return agents, mode == single
	case len(agents) == 0 && mode == single:
		return known[:1], true
	case len(agents) == 0:
		agents = known
	}
	switch {
	case mode == single && len(agents) > 1:
		bad.add("agent_mode is single and agents names %d; name one of them, or set agent_mode to multi.", len(agents))
	case mode == multi && len(known) == 1:
		bad.add("agent_mode is multi and %s is the only agent there is; set agent_mode to single.", known[0])
	case mode == multi && len(agents) == 1:
		bad.add("agent_mode is multi and agents names only %s; name at least two, or set agent_mode to single.", agents[0])
	}
	return agents, len(agents) == 1
}

// named are the agents that the call names.
func (p Params) named(known []event.AgentID, bad *problems) (agents []event.AgentID, sound bool) {
	sound = true
	for _, name := range p.Agents {
		id := event.AgentID(name)
		switch {
		case !slices.Contains(known, id):
			bad.add("there is no agent %q.%s The agents are %s.", clip(name), didYouMean(name, texts(known)), list(texts(known)))
			sound = false
		case slices.Contains(agents, id):
			bad.add("agents names %s twice; name it once.", id)
			sound = false
		default:
			agents = append(agents, id)
		}
	}
	return agents, sound
}

// prompts are what is appended for agents of the run.
func (p Params) prompts(agents []event.AgentID, bad *problems) map[event.AgentID]string {
	out := map[event.AgentID]string{}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(p.Prompts)) {
		id, text := event.AgentID(name), p.Prompts[name]
		if !slices.Contains(agents, id) {
			bad.add("agent_system_prompts has text for %q, which does not take part.%s In this run: %s.", clip(name), didYouMean(name, texts(agents)), list(texts(agents)))
			continue
		}
		if size += len(text); strings.TrimSpace(text) != "" {
			out[id] = text
		}
	}
	if size > maxPrompts {
		bad.add("agent_system_prompts holds %d bytes and at most %d are taken; put what is long into context, or into a file under context_paths.", size, maxPrompts)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Of is the call that leads to a launch; its texts are given. It says everything,
// also what would be so by default.
func Of(l event.Launch, task, context string) Params {
	refine := !l.Quick
	p := Params{
		Task: task, Context: context, AgentMode: multi, Agents: texts(l.Agents),
		Refinement: &refine, PlanningMode: &l.Plan, Execute: &l.Execute,
		Overrides: withApproval(l.Overrides, l.Approve),
	}
	if l.Single {
		p.AgentMode = single
	}
	for _, c := range l.Paths {
		one := Path{Path: c.Path, Permission: reads}
		if c.Write {
			one.Permission = writes
		}
		p.ContextPaths = append(p.ContextPaths, one)
	}
	for _, id := range slices.Sorted(maps.Keys(l.Prompts)) {
		if p.Prompts == nil {
			p.Prompts = map[string]string{}
		}
		p.Prompts[string(id)] = l.Prompts[id]
	}
	return p
}

// summaryMax is how long a summary is at most, in characters.
const summaryMax = 60

// Summary is a task in one short line, for a title: its first line that says
// something, without marks of a heading or a list, cut between two words.
func Summary(task string) string {
	var line string
	for one := range strings.Lines(task) {
		one = strings.Map(printable, one)
		if line = strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(one), "#*->` ")), " "); line != "" {
			break
		}
	}
	r := []rune(line)
	if len(r) <= summaryMax {
		return line
	}
	cut := string(r[:summaryMax])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// printable leaves out what would move a cursor or turn the writing round.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return -1
	}
	return r
}

func on(b *bool) bool { return b != nil && *b }

func ids(team []event.Teammate) []event.AgentID {
	var out []event.AgentID
	for _, t := range team {
		out = append(out, t.Agent)
	}
	return out
}

func texts(ids []event.AgentID) []string {
	var out []string
	for _, id := range ids {
		out = append(out, string(id))
	}
	return out
}
