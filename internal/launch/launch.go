// Package launch is what launch_run takes, for whoever calls it: the agent of a
// session, a program that speaks MCP, or a person who edits what they are asked
// to approve.
//
// [Params] are the call as it is written, [Params.Launch] checks it against the
// team and fills in what was left out; what it refuses it refuses in words that a
// model can act on. [Of] is the way back, for whoever edits. [Schema] and
// [Description] are what a model is told of the tool. The package is pure.
package launch

import (
	"encoding/json"

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

// A Problem is why a call is refused, in words for whoever made it: what is
// wrong, and what could be said instead.
type Problem struct{ Why string }

func (p *Problem) Error() string { return p.Why }

// Parse reads a call. Its error is a *Problem.
func Parse(input json.RawMessage) (Params, error) { panic("not written") }

// Launch is the call with its defaults filled in, for a team of these agents. The
// texts are as they were written: whoever records them makes what is long fit for
// an event. Its error is a *Problem.
func (p Params) Launch(team []event.Teammate) (event.Launch, error) { panic("not written") }

// Of is the call that leads to a launch; its texts are given.
func Of(l event.Launch, task, context string) Params { panic("not written") }

// Rules are the rules of a run with the overrides of a launch put over them. They
// were checked by Launch.
func Rules(l event.Launch, r event.Rules) event.Rules { panic("not written") }

// Schema is the JSON Schema of a call, with the agents of a team named in it.
func Schema(team []event.Teammate) json.RawMessage { panic("not written") }

// Description is what a model is told of the tool.
func Description() string { panic("not written") }
