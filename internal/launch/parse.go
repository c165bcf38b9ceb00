package launch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"conclave/internal/event"

	"github.com/agnivade/levenshtein"
)

// A param is one parameter of a call.
type param struct {
	name string
	what string // the value, in words that follow "must be"
	doc  string // for a model
	read func(*Params, json.RawMessage, *problems) bool
	// schema are the keywords besides the description.
	schema func(team []event.Teammate) object
}

// params are all there are, in the order in which a model reads of them.
var params = []param{
	{"task", "text", "What the run is to accomplish. Whoever works on it has not seen this conversation, so it must stand on its own: goal, what counts as done, where things are.",
		into(func(p *Params) any { return &p.Task }), of("string")},
	{"context", "text", "Background the agents need besides: decisions already made, constraints, what earlier runs found. Filter and summarise; do not paste everything.",
		into(func(p *Params) any { return &p.Context }), of("string")},
	{"agent_mode", "text: single or multi", `"single": one agent works alone. "multi": several work on the whole task and choose between their answers. Default multi; single where only one agent takes part.`,
		into(func(p *Params) any { return &p.AgentMode }), words(single, multi)},
	{"agents", "a list of names of agents", "Which agents take part. Default: all of them with multi, the first with single.",
		into(func(p *Params) any { return &p.Agents }), agentsSchema},
	{"refinement", "true or false", "Whether agents improve on their answers, and on each other's, before one is chosen. Off is quicker and cheaper: one answer each. Default true with multi, false with single.",
		into(func(p *Params) any { return &p.Refinement }), of("boolean")},
	{"planning_mode", "true or false", "Whether the agents only look and plan. Nothing is changed and the plan is the result. Default false.",
		into(func(p *Params) any { return &p.PlanningMode }), of("boolean")},
	{"execute_after_planning", "true or false", "With planning_mode: the author of the chosen plan carries it out at once, in the same run. Default false: the plan comes back to you.",
		into(func(p *Params) any { return &p.Execute }), of("boolean")},
	{"context_paths", "a list of objects such as {\"path\": \"/home/me/src\", \"permission\": \"read\"}", "Files and folders of the user's for this run, besides those every run has. For a path that is given already this entry counts.",
		readPaths, pathsSchema},
	{"agent_system_prompts", "an object of names of agents and text", "Text to append to the system prompt of single agents, in this run alone: corrections, style, a point of view.",
		into(func(p *Params) any { return &p.Prompts }), promptsSchema},
	{"coordination_overrides", "an object of settings", "Settings of coordination to change in this run. Leave it out unless there is a reason.",
		readOverrides, overridesSchema},
}

// names are the parameters there are.
func names() []string {
	var out []string
	for _, k := range params {
		out = append(out, k.name)
	}
	return out
}

// into reads a value as JSON has it.
func into(at func(*Params) any) func(*Params, json.RawMessage, *problems) bool {
	return func(p *Params, raw json.RawMessage, _ *problems) bool { return json.Unmarshal(raw, at(p)) == nil }
}

// Parse reads a call. A parameter that is null was not said. Its error is a
// *Problem.
func Parse(input json.RawMessage) (Params, error) {
	var p Params
	var bad problems
	all, why := members(input)
	if why != "" {
		return Params{}, &Problem{Why: "the call " + why + "; its parameters are an object such as {\"task\": \"…\"}."}
	}
	given := map[string]bool{}
	for _, m := range all {
		switch k := find(m.name); {
		case given[m.name]:
			bad.add("%s is given twice; give it once.", m.name)
		case k == nil:
			bad.add("launch_run has no parameter %q.%s It takes %s.", clip(m.name), unknownHint(m.name), list(names()))
		case isNull(m.value):
		case !k.read(&p, m.value, &bad):
			bad.add("%s must be %s, not %s.", k.name, k.what, kind(m.value))
		}
		given[m.name] = true
	}
	if !given["task"] {
		bad.add("task is missing; say what is to be accomplished.")
	}
	if err := bad.err(); err != nil {
		return Params{}, err
	}
	return p, nil
}

// unknownHint is what was meant: another parameter, or a setting that belongs
// into coordination_overrides.
func unknownHint(name string) string {
	if findOverride(name) != nil || name == requireApproval {
		return " It belongs into coordination_overrides."
	}
	return didYouMean(name, names())
}

func find(name string) *param {
	for i := range params {
		if params[i].name == name {
			return &params[i]
		}
	}
	return nil
}

func readOverrides(p *Params, raw json.RawMessage, _ *problems) bool {
	if kind(raw) != "an object" {
		return false
	}
	p.Overrides = raw
	return true
}

// readPaths reads context_paths strictly: a misspelt permission must not pass for
// the default.
func readPaths(p *Params, raw json.RawMessage, bad *problems) bool {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return false
	}
	for i, item := range items {
		at := fmt.Sprintf("context_paths[%d]", i)
		all, why := members(item)
		if why != "" {
			bad.add("%s %s; write it as {\"path\": \"/…\", \"permission\": \"read\"}.", at, why)
			continue
		}
		var one Path
		for _, m := range all {
			to := map[string]*string{"path": &one.Path, "permission": &one.Permission}[m.name]
			switch {
			case to == nil:
				bad.add("%s has an unknown key %q.%s It takes path and permission.", at, clip(m.name), didYouMean(m.name, []string{"path", "permission"}))
			case isNull(m.value):
			case json.Unmarshal(m.value, to) != nil:
				bad.add("%s.%s must be text, not %s.", at, m.name, kind(m.value))
			}
		}
		p.ContextPaths = append(p.ContextPaths, one)
	}
	return true
}

// A member is a name and a value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// members are those of an object, in order; why says what it is instead.
func members(raw json.RawMessage) (all []member, why string) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil, "is empty"
	case !json.Valid(raw):
		return nil, "is not valid JSON"
	case raw[0] != '{':
		return nil, "is " + kind(raw) + " and not an object"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, "is not valid JSON"
	}
	for d.More() {
		var m member
		name, err := d.Token()
		m.name, _ = name.(string)
		if err != nil || d.Decode(&m.value) != nil {
			return nil, "is not valid JSON"
		}
		all = append(all, m)
	}
	return all, ""
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// kind is the type of a value, in words.
func kind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return string(raw)
	case 'n':
		return "null"
	}
	return "the number " + clip(string(raw))
}

// didYouMean is a suggestion with a space before it, or nothing.
func didYouMean(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	best, at := "", max(1, min(len(word), 30)/3)+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(word, strings.ToLower(k)); d < at {
			best, at = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}

// list is words for a sentence: "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// clip keeps what somebody has written from filling a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
