package launch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/launch"

	"github.com/google/go-cmp/cmp"
)

// team is who can be set to work in these tests.
func team(names ...string) []event.Teammate {
	var out []event.Teammate
	for _, n := range names {
		out = append(out, event.Teammate{Agent: event.AgentID(n), Backend: "demo"})
	}
	return out
}

var three = team("ada", "bob", "cyd")

func read(t *testing.T, team []event.Teammate, input string) event.Launch {
	t.Helper()
	p, err := launch.Parse(json.RawMessage(input))
	if err != nil {
		t.Fatalf("parse %s: %v", input, err)
	}
	l, err := p.Launch(team)
	if err != nil {
		t.Fatalf("launch %s: %v", input, err)
	}
	return l
}

func agents(names ...event.AgentID) []event.AgentID { return names }

// What is left out is filled in, and what that is depends on agent_mode.
//
// IM-02.1 DZ-01
func TestDefaults(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		team        []event.Teammate
		want        event.Launch
	}{
		{"the task alone", `{"task":"x"}`, three, event.Launch{Agents: agents("ada", "bob", "cyd")}},
		{"null is not said", `{"task":"x","agents":null,"refinement":null,"coordination_overrides":null}`, three, event.Launch{Agents: agents("ada", "bob", "cyd")}},
		{"quick single", `{"task":"x","agent_mode":"single"}`, three, event.Launch{Single: true, Quick: true, Agents: agents("ada")}},
		{"single and refine", `{"task":"x","agent_mode":"single","refinement":true,"agents":["cyd"]}`, three, event.Launch{Single: true, Agents: agents("cyd")}},
		{"multi no-refine", `{"task":"x","agent_mode":"multi","refinement":false}`, three, event.Launch{Quick: true, Agents: agents("ada", "bob", "cyd")}},
		{"multi and refine", `{"task":"x","agent_mode":"multi","agents":["cyd","ada"]}`, three, event.Launch{Agents: agents("cyd", "ada")}},
		{"plan only", `{"task":"x","planning_mode":true}`, three, event.Launch{Plan: true, Agents: agents("ada", "bob", "cyd")}},
		{"plan and execute", `{"task":"x","planning_mode":true,"execute_after_planning":true}`, three, event.Launch{Plan: true, Execute: true, Agents: agents("ada", "bob", "cyd")}},
		{"one agent named is alone", `{"task":"x","agents":["bob"]}`, three, event.Launch{Single: true, Quick: true, Agents: agents("bob")}},
		{"a team of one", `{"task":"x"}`, team("ada"), event.Launch{Single: true, Quick: true, Agents: agents("ada")}},
	} {
		tt.want.Task = event.Inline("x")
		if diff := cmp.Diff(tt.want, read(t, tt.team, tt.input)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// Everything a call can say arrives.
//
// IM-02.1
func TestEverythingSaid(t *testing.T) {
	got := read(t, three, `{
		"task": "Fix it.", "context": "It broke on Monday.", "agent_mode": "multi", "agents": ["ada", "bob"],
		"refinement": true, "planning_mode": true, "execute_after_planning": false,
		"context_paths": [{"path": "/src/", "permission": "write"}, {"path": "/doc"}],
		"agent_system_prompts": {"bob": "Doubt everything.", "ada": " "},
		"coordination_overrides": {"voting_rule": "borda", "max_cost": 2.50, "require_approval": true, "max_new_answers_per_agent": 2}
	}`)
	want := event.Launch{
		Task: event.Inline("Fix it."), Context: event.Inline("It broke on Monday."), Agents: agents("ada", "bob"), Plan: true,
		Paths:     []event.ContextPath{{Path: "/src", Write: true}, {Path: "/doc"}},
		Prompts:   map[event.AgentID]string{"bob": "Doubt everything."},
		Overrides: json.RawMessage(`{"max_new_answers_per_agent":2,"voting_rule":"borda","max_cost":2.50}`),
		Approve:   true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is refused is refused in words that say what to do.
//
// IM-02.1 IM-16.6
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{}`, "task is missing"},
		{`{"task":"  \n"}`, "task is empty; say what"},
		{``, "the call is empty"},
		{`[1]`, "the call is a list and not an object"},
		{`"{\"task\": "`, "the call is text and not an object"},
		{`{"task":"x"`, "not valid JSON"},
		{`{"task":1}`, "task must be text, not the number 1"},
		{`{"task":"x","task":"y"}`, "task is given twice"},
		{`{"task":"x","Task":"y"}`, `no parameter "Task". Did you mean "task"?`},
		{`{"task":"x","agent-modes":"multi"}`, `no parameter "agent-modes". Did you mean "agent_mode"? It takes task, context,`},
		{`{"task":"x","voting_rule":"borda"}`, "It belongs into coordination_overrides."},
		{`{"task":"x","require_approval":false}`, "It belongs into coordination_overrides."},
		{`{"task":"x","refinement":"true"}`, "refinement must be true or false, not text"},
		{`{"task":"x","agents":"ada"}`, "agents must be a list of names of agents, not text"},
		{`{"task":"x","agents":[1]}`, "agents must be a list of names of agents"},
		{`{"task":"x","agents":["ada","bop"]}`, `there is no agent "bop". Did you mean "bob"? The agents are ada, bob and cyd.`},
		{`{"task":"x","agents":["ada","ada"]}`, "agents names ada twice"},
		{`{"task":"x","agent_mode":"many"}`, `agent_mode must be single or multi, not "many"`},
		{`{"task":"x","agent_mode":"single","agents":["ada","bob"]}`, "agent_mode is single and agents names 2; name one of them, or set agent_mode to multi."},
		{`{"task":"x","agent_mode":"multi","agents":["ada"]}`, "name at least two, or set agent_mode to single"},
		{`{"task":"x","execute_after_planning":true}`, "set planning_mode to true as well"},
		{`{"task":"x","context_paths":["/src"]}`, `context_paths[0] is text and not an object; write it as {"path": "/…"`},
		{`{"task":"x","context_paths":{}}`, "context_paths must be a list of objects"},
		{`{"task":"x","context_paths":[{"permission":"read"}]}`, "an entry of context_paths has no path"},
		{`{"task":"x","context_paths":[{"path":"src"}]}`, `the path "src" of context_paths is relative; write the absolute path`},
		{`{"task":"x","context_paths":[{"path":"~/src"}]}`, "is relative"},
		{`{"task":"x","context_paths":[{"path":"/src","permission":"writ"}]}`, `must be read or write, not "writ". Did you mean "write"?`},
		{`{"task":"x","context_paths":[{"path":"/src","permision":"write"}]}`, `unknown key "permision". Did you mean "permission"?`},
		{`{"task":"x","context_paths":[{"path":7}]}`, "context_paths[0].path must be text, not the number 7"},
		{`{"task":"x","context_paths":[{"path":"/a"},{"path":"/a/"}]}`, "names /a twice"},
		{`{"task":"x","agents":["ada","bob"],"agent_system_prompts":{"cyd":"y"}}`, `agent_system_prompts has text for "cyd", which does not take part. In this run: ada and bob.`},
		{`{"task":"x","agent_system_prompts":{"ada":true}}`, "agent_system_prompts must be an object of names of agents and text"},
		{`{"task":"x","coordination_overrides":[]}`, "coordination_overrides must be an object of settings, not a list"},
		{`{"task":"x","coordination_overrides":{"context_paths":[]}}`, "it is a parameter of launch_run itself"},
		{`{"task":"x","coordination_overrides":{"agent_system_prompts":{}}}`, "it is a parameter of launch_run itself"},
		{`{"task":"x","coordination_overrides":{"enable_planning_mode":true}}`, "use the parameter planning_mode"},
		{`{"task":"x","coordination_overrides":{"votingrule":"borda"}}`, `no setting "votingrule". Did you mean "voting_rule"?`},
		{`{"task":"x","coordination_overrides":{"api_key":"k"}}`, `no setting "api_key"`},
		{`{"task":"x","coordination_overrides":{"voting_rule":"most"}}`, "coordination_overrides.voting_rule must be plurality or borda, not \"most\"."},
		{`{"task":"x","coordination_overrides":{"max_new_answers_per_agent":0}}`, "must be a whole number from 1 up, not 0"},
		{`{"task":"x","coordination_overrides":{"max_cost":-1}}`, "must be an amount in dollars"},
		{`{"task":"x","coordination_overrides":{"orchestrator_timeout_seconds":0}}`, "must be a number of seconds above 0, not 0"},
		{`{"task":"x","coordination_overrides":{"skip_voting":"yes"}}`, "must be true or false"},
		{`{"task":"x","coordination_overrides":{"require_approval":false}}`, "only the user decides that nobody is asked"},
		{`{"task":"x","coordination_overrides":{"require_approval":"no"}}`, "require_approval must be true, not text"},
		{`{"task":"x","coordination_overrides":{"skip_voting":true,"skip_voting":false}}`, "skip_voting twice"},
		{`{"task":"x","refinement":false,"coordination_overrides":{"max_new_answers_per_agent":3}}`, "cannot be 3 while refinement is off; leave it out, or set refinement to true"},
		{`{"task":"x","agent_mode":"single","coordination_overrides":{"final_answer_strategy":"synthesize"}}`, "while refinement is off"},
	} {
		p, err := launch.Parse(json.RawMessage(tt.input))
		if err == nil {
			_, err = p.Launch(three)
		}
		var why *launch.Problem
		if !errors.As(err, &why) || !strings.Contains(why.Why, tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.input, err, tt.want)
		}
	}
}

func TestRefusedForATeam(t *testing.T) {
	for _, tt := range []struct {
		team []event.Teammate
		p    launch.Params
		want string
	}{
		{nil, launch.Params{Task: "x"}, "no agents are configured"},
		{team("ada"), launch.Params{Task: "x", AgentMode: "multi"}, "ada is the only agent there is; set agent_mode to single"},
		{three, launch.Params{Task: "x", Prompts: map[string]string{"ada": strings.Repeat("y", 33<<10)}}, "put what is long into context"},
		{three, launch.Params{Task: "x", ContextPaths: make([]launch.Path, 101)}, "at most 100"},
		{three, launch.Params{Task: "x", Overrides: json.RawMessage(`{`)}, "coordination_overrides is not valid JSON"},
	} {
		if _, err := tt.p.Launch(tt.team); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// Whoever made a call learns everything that is wrong with it at once.
func TestAllProblemsAtOnce(t *testing.T) {
	_, err := launch.Params{Agents: []string{"dan"}, Execute: new(true), Overrides: json.RawMessage(`{"x":1}`)}.Launch(three)
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("want four problems, got %v", err)
	}
}

// A title is one short line of what was wanted, and cannot play tricks on a
// terminal.
func TestSummary(t *testing.T) {
	for _, tt := range [][2]string{
		{"Fix it", "Fix it"},
		{"\n\n## Plan the\trefactoring\nof everything", "Plan the refactoring"},
		{"- \x1b[31mred\u202e text", "[31mred text"},
		{strings.Repeat("word ", 30), strings.TrimSpace(strings.Repeat("word ", 12)) + "…"},
		{strings.Repeat("ä", 100), strings.Repeat("ä", 60) + "…"},
		{"", ""},
	} {
		if got := launch.Summary(tt[0]); got != tt[1] {
			t.Errorf("%q: %q, want %q", tt[0], got, tt[1])
		}
	}
}
