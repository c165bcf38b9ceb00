package config_test

import (
	"strings"
	"testing"
)

// Every refusal and every warning, word for word and place for place.
func TestRefusals(t *testing.T) {
	t.Setenv("EMPTY", "")
	t.Setenv("THREE", "3")
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			if got := said(t, tt.src); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// inOrchestrator puts lines under orchestrator; the first is line 5 of the file.
func inOrchestrator(lines ...string) string {
	return team + "orchestrator:\n  " + strings.Join(lines, "\n  ") + "\n"
}

func inTimeouts(lines ...string) string {
	return team + "timeout_settings:\n  " + strings.Join(lines, "\n  ") + "\n"
}

var refusals = []struct{ name, src, want string }{
	{"nothing wrong", team, ""},
	{"empty", "", "team.yaml:1:1: the configuration is empty; it needs agents"},
	{"only comments", "# nothing\n", "team.yaml:1:1: the configuration is empty; it needs agents"},
	{"null", "~\n", "team.yaml:1:1: the configuration must be a mapping, not nothing"},
	{"a list", "- a\n", "team.yaml:1:1: the configuration must be a mapping, not a list"},
	{"a word", "agents\n", `team.yaml:1:1: the configuration must be a mapping, not "agents"`},
	{"two documents", team + "---\nagents: []\n", "team.yaml:4:1: a second document begins; a configuration is one"},

	// Keys.
	{"misspelt agents", "agnts:\n  - id: a\n", `team.yaml:1:1: unknown key "agnts"; did you mean "agents"?
team.yaml:1:1: agents is missing; a run needs at least one agent`},
	{"misspelt setting", inOrchestrator("max_answers_per_agent: 2"),
		`team.yaml:5:3: unknown key "max_answers_per_agent"; did you mean "max_new_answers_per_agent"?`},
	{"dashes", inOrchestrator("skip-voting: true"), `team.yaml:5:3: unknown key "skip-voting"; did you mean "skip_voting"?`},
	{"misspelt later", inOrchestrator("voting_sensitivty: strict"),
		`team.yaml:5:3: unknown key "voting_sensitivty"; did you mean "voting_sensitivity"?`},
	{"nothing near", team + "zebra: 1\n", `team.yaml:4:1: unknown key "zebra"`},
	{"misplaced", team + "skip_voting: true\n", `team.yaml:4:1: unknown key "skip_voting"; it belongs under orchestrator`},
	{"misplaced deep", inOrchestrator("enable_planning_mode: true"),
		`team.yaml:5:3: unknown key "enable_planning_mode"; it belongs under orchestrator.coordination`},
	{"own keys", team + "x-anything: {a: [b]}\n", ""},
	{"not yet", team + "memory: {enabled: true}\norchestrator:\n  voting_sensitivity: 3\n  coordination: {broadcast: human}\n",
		`team.yaml:4:1: "memory" is not supported yet and has no effect
team.yaml:6:3: "voting_sensitivity" is not supported yet and has no effect
team.yaml:7:18: "broadcast" is not supported yet and has no effect`},
	{"not yet, of a family", "agent:\n  id: a\n  main_agent: true\n  backend:\n    type: demo\n    persona: sceptic\n    image_generation_model: x\n    write_mode: y\n",
		`team.yaml:3:3: "main_agent" is not supported yet and has no effect
team.yaml:7:5: "image_generation_model" is not supported yet and has no effect
team.yaml:8:5: "write_mode" is not supported yet and has no effect; agents write in workspaces of their own, and the presenter alone in context paths`},
	{"twice", team + "orchestrator: {skip_voting: true, skip_voting: false}\n",
		`team.yaml:4:35: "skip_voting" is given twice; the first is at line 4`},
	{"number as key", team + "7: x\n", `team.yaml:4:1: unknown key "7"`},

	// Agents.
	{"no agents", "orchestrator: {skip_voting: true}\n", "team.yaml:1:1: agents is missing; a run needs at least one agent"},
	{"null agents", "agents:\n", "team.yaml:1:1: agents must be a list, not nothing"},
	{"empty agents", "agents: []\n", "team.yaml:1:9: agents is empty; a run needs at least one agent"},
	{"agents without dashes", "agents:\n  id: a\n", "team.yaml:2:3: agents must be a list, not a mapping; put a dash before each element"},
	{"an agent is text", "agents:\n  - openai\n", `team.yaml:2:5: an element of agents must be a mapping, not "openai"`},
	{"an agent is nothing", "agents:\n  -\n", "team.yaml:2:5: id is missing\nteam.yaml:2:5: backend is missing"},
	{"both", team + "agent: {id: b, backend: {type: demo, persona: sceptic}}\n",
		"team.yaml:4:1: agent and agents cannot both be given; list every agent under agents"},
	{"both the other way", "agent: {id: b, backend: {type: demo, persona: sceptic}}\n" + team,
		"team.yaml:2:1: agent and agents cannot both be given; list every agent under agents"},
	{"no id", "agents:\n  - backend: {type: demo, persona: sceptic}\n", "team.yaml:2:5: id is missing"},
	{"empty id", "agents:\n  - id: ''\n    backend: {type: demo, persona: sceptic}\n",
		`team.yaml:2:9: id must be a name of up to 64 characters without slashes, not ""`},
	{"null id", "agents:\n  - id:\n    backend: {type: demo, persona: sceptic}\n",
		`team.yaml:2:5: id has no value; it must be a name of up to 64 characters without slashes`},
	{"odd id", "agents:\n  - {id: ../b, backend: {type: demo, persona: sceptic}}\n",
		`team.yaml:2:10: id must be a name of up to 64 characters without slashes, not "../b"`},
	{"numeric id", "agents:\n  - {id: 7, backend: {type: demo, persona: sceptic}}\n",
		`team.yaml:2:10: id must be a name of up to 64 characters without slashes, not 7; write "7"`},
	{"list as id", "agents:\n  - {id: [a], backend: {type: demo, persona: sceptic}}\n",
		`team.yaml:2:10: id must be a name of up to 64 characters without slashes, not a list`},
	{"same id", team + "  - id: b\n    backend: {type: demo, persona: sceptic}\n  - id: a\n    backend: {type: demo, persona: sceptic}\n",
		`team.yaml:6:9: two agents are called "a"; the first is at line 2`},
	{"system message", "agents:\n  - {id: a, system_message: [x], backend: {type: demo, persona: sceptic}}\n",
		`team.yaml:2:29: system_message must be text, not a list`},

	// Backends.
	{"no backend", "agents:\n  - id: a\n", "team.yaml:2:5: backend is missing"},
	{"null backend", "agents:\n  - id: a\n    backend:\n", "team.yaml:3:5: type is missing; it is claude, openai, gemini or another that conclave explain type lists"},
	{"backend is text", "agents:\n  - id: a\n    backend: openai\n", `team.yaml:3:14: backend must be a mapping, not "openai"`},
	{"no type", "agents:\n  - id: a\n    backend: {model: gpt-5}\n", `team.yaml:3:15: type is missing; "gpt-5" is taken to be a model of openai; write type: openai`},
	{"type of a later version", "agents:\n  - id: a\n    backend:\n      type: gemini_cli\n",
		`team.yaml:4:13: the agent "a" cannot run: the backend "gemini_cli" is not supported by this version; type: gemini asks the same models by their API; shell: true lets the agent run commands`},
	{"misspelt type", "agents:\n  - id: a\n    backend:\n      type: scrpt\n", `team.yaml:4:13: unknown backend "scrpt"; did you mean "script"?`},
	{"unheard-of type", "agents:\n  - id: a\n    backend:\n      type: crystalball\n", `team.yaml:4:13: unknown backend "crystalball"; it is claude, openai, gemini or another that conclave explain type lists`},
	{"type is a number", "agents:\n  - id: a\n    backend:\n      type: 3\n", `team.yaml:4:13: type must be the name of a backend such as claude, openai or gemini, not 3; write "3"`},
	{"no script", "agents:\n  - id: a\n    backend: {type: script}\n", `team.yaml:3:14: script is missing; a script backend needs it: text on one line`},
	{"no persona", "agents:\n  - id: a\n    backend: {type: demo}\n",
		`team.yaml:3:14: persona is missing; a demo backend needs it: pragmatist, theorist, sceptic, host, planner, companion, leader, pm, architect, designer, front-end, back-end, qa or member`},
	{"wrong persona", "agents:\n  - id: a\n    backend: {type: demo, persona: skeptic}\n",
		`team.yaml:3:36: persona must be pragmatist, theorist, sceptic, host, planner, companion, leader, pm, architect, designer, front-end, back-end, qa or member, not "skeptic"; did you mean "sceptic"?`},
	{"key of another backend", "agents:\n  - id: a\n    backend: {type: demo, persona: sceptic, script: a.yaml}\n",
		`team.yaml:3:45: script has no effect: it is for script backends`},
	{"script is empty", "agents:\n  - id: a\n    backend: {type: script, script: ''}\n", `team.yaml:3:37: script must be text on one line, not ""`},
	{"model is a number", "agents:\n  - id: a\n    backend: {type: demo, persona: sceptic, model: 4.1}\n",
		`team.yaml:3:52: model must be text on one line, not 4.1; write "4.1"`},
	{"pace", "agents:\n  - id: a\n    backend: {type: demo, persona: sceptic, pace: -1}\n", `team.yaml:3:51: pace must be a number from 0 to 1000, not -1`},
	{"quoted pace", "agents:\n  - id: a\n    backend: {type: demo, persona: sceptic, pace: '1'}\n",
		`team.yaml:3:51: pace must be a number from 0 to 1000, not "1"; leave the quotation marks out`},
	{"pace without end", "agents:\n  - id: a\n    backend: {type: demo, persona: sceptic, pace: .inf}\n", `team.yaml:3:51: pace must be a number from 0 to 1000, not .inf`},

	// Values of settings.
	{"section is text", team + "orchestrator: fast\n", `team.yaml:4:15: orchestrator must be a mapping, not "fast"`},
	{"section is empty", team + "orchestrator:\n  # skip_voting: true\ntimeout_settings:\n", ""},
	{"not a number", inOrchestrator("max_new_answers_per_agent: three"),
		`team.yaml:5:30: max_new_answers_per_agent must be a whole number from 1 up, not "three"`},
	{"too small", inOrchestrator("max_new_answers_per_agent: 0", "max_new_answers_global: 0", "max_attempts_per_round: 0", "max_calls_per_round: -3", "max_tokens: -1"),
		`team.yaml:5:30: max_new_answers_per_agent must be a whole number from 1 up, not 0
team.yaml:6:27: max_new_answers_global must be a whole number from 1 up, not 0
team.yaml:7:27: max_attempts_per_round must be a whole number from 1 up, not 0
team.yaml:8:24: max_calls_per_round must be a whole number from 1 up, not -3
team.yaml:9:15: max_tokens must be a whole number from 0 up, not -1`},
	{"too large", inOrchestrator("max_tokens: 99999999999999999999"),
		`team.yaml:5:15: max_tokens must be a whole number from 0 up, not 99999999999999999999; that is too large`},
	{"not whole", inOrchestrator("max_tokens: 1.5"), `team.yaml:5:15: max_tokens must be a whole number from 0 up, not 1.5`},
	{"not decimal", inOrchestrator("max_tokens: 0x10", "max_calls_per_round: 007"),
		`team.yaml:5:15: max_tokens must be a whole number from 0 up, not 0x10
team.yaml:6:24: max_calls_per_round must be a whole number from 1 up, not 007`},
	{"null limit", inOrchestrator("max_new_answers_per_agent: null", "max_new_answers_global: null"),
		`team.yaml:5:3: max_new_answers_per_agent is null: there is always a limit, and the default applies`},
	{"null flag", inOrchestrator("skip_voting:"), `team.yaml:5:3: skip_voting has no value; it must be true or false`},
	{"not a truth value", inOrchestrator("skip_voting: maybe", "fairness_enabled: 1", "disable_injection: 'true'", "refinement: []"),
		`team.yaml:5:16: skip_voting must be true or false, not "maybe"
team.yaml:6:21: fairness_enabled must be true or false, not 1
team.yaml:7:22: disable_injection must be true or false, not "true"; leave the quotation marks out
team.yaml:8:15: refinement must be true or false, not a list`},
	{"words", inOrchestrator("agent_mode: both", "answer_novelty_requirement: ballanced", "voting_rule: [borda]", "final_answer_strategy: synthesise"),
		`team.yaml:5:15: agent_mode must be single or multi, not "both"
team.yaml:6:31: answer_novelty_requirement must be lenient, balanced or strict, not "ballanced"; did you mean "balanced"?
team.yaml:7:16: voting_rule must be plurality or borda, not a list
team.yaml:8:26: final_answer_strategy must be winner_reuse, winner_present or synthesize, not "synthesise"; did you mean "synthesize"?`},
	{"lock-step", inOrchestrator("fairness_lead_cap_answers: 0"),
		`team.yaml:5:30: fairness_lead_cap_answers must be a whole number from 1 up, not 0; lock-step is not supported; fairness_enabled: false switches the check off`},
	{"override", inOrchestrator("override: on"), `team.yaml:5:13: override must be off, wait or a number of seconds above 0, not "on"`},
	{"override with a unit", inOrchestrator("override: 1m"), `team.yaml:5:13: override must be off, wait or a number of seconds above 0, not "1m"; did you mean 60?`},
	{"override misspelt", inOrchestrator("override: wiat"), `team.yaml:5:13: override must be off, wait or a number of seconds above 0, not "wiat"; did you mean "wait"?`},
	{"override of zero", inOrchestrator("override: 0"), `team.yaml:5:13: override must be off, wait or a number of seconds above 0, not 0`},
	{"money", inOrchestrator("max_cost: $2.50"),
		`team.yaml:5:13: max_cost must be an amount in dollars such as 2.50, with up to six decimals, not "$2.50"; did you mean 2.50?`},
	{"fine money", inOrchestrator("max_cost: 0.0000001"),
		`team.yaml:5:13: max_cost must be an amount in dollars such as 2.50, with up to six decimals, not 0.0000001`},
	{"negative money", inOrchestrator("max_cost: -1"),
		`team.yaml:5:13: max_cost must be an amount in dollars such as 2.50, with up to six decimals, not -1`},
	{"quoted money", inOrchestrator("max_cost: '1'"),
		`team.yaml:5:13: max_cost must be an amount in dollars such as 2.50, with up to six decimals, not "1"; leave the quotation marks out`},
	{"times", inTimeouts("orchestrator_timeout_seconds: 5m", "initial_round_timeout_seconds: 0", "subsequent_round_timeout_seconds: -1", "round_timeout_grace_seconds: soon"),
		`team.yaml:5:33: orchestrator_timeout_seconds must be a number of seconds above 0, not "5m"; did you mean 300?
team.yaml:6:34: initial_round_timeout_seconds must be a number of seconds above 0, not 0
team.yaml:7:37: subsequent_round_timeout_seconds must be a number of seconds above 0, not -1
team.yaml:8:32: round_timeout_grace_seconds must be a number of seconds from 0 up, not "soon"`},
	{"null time", inTimeouts("orchestrator_timeout_seconds: null"),
		`team.yaml:5:3: orchestrator_timeout_seconds has no value; it must be a number of seconds above 0`},
	{"for ever", inTimeouts("orchestrator_timeout_seconds: 1e12"),
		`team.yaml:5:33: orchestrator_timeout_seconds must be a number of seconds above 0, not 1e12; the longest is a year, 31536000`},

	// Context paths.
	{"context paths", inOrchestrator("context_paths:", "  - path: /a", "    permission: wirte", "  - 3", "  - {permission: read}", "  - path: /a", "  - /a", "  - /b:rw"),
		`team.yaml:7:19: permission must be read or write, not "wirte"; did you mean "write"?
team.yaml:8:7: an element of context_paths must be a mapping, not 3
team.yaml:9:7: path is missing
team.yaml:10:13: the context path "/a" is given twice
team.yaml:11:7: the context path "/a" is given twice
team.yaml:12:7: what may be written is not said by :rw here; write {path: /b, permission: write}`},
	{"context paths are a mapping", inOrchestrator("context_paths:", "  path: /a"),
		`team.yaml:6:5: context_paths must be a list, not a mapping; put a dash before each element`},
	{"protected outside", inOrchestrator("context_paths:", "  - path: /a", "    protected_paths: [x, ../b, /a-evil, 3]"),
		`team.yaml:7:24: "../b" is not inside the path it is to be protected in
team.yaml:7:24: "/a-evil" is not inside the path it is to be protected in
team.yaml:7:43: an element of protected_paths must be text on one line, not 3; write "3"`},

	// More than one key.
	{"execute without a plan", inOrchestrator("coordination:", "  execute_after_planning: true"),
		`team.yaml:6:29: execute_after_planning needs enable_planning_mode; set enable_planning_mode: true beside it`},
	{"execute without a plan, said", inOrchestrator("coordination: {execute_after_planning: true, enable_planning_mode: false}"),
		`team.yaml:5:42: execute_after_planning needs enable_planning_mode; set enable_planning_mode: true beside it`},
	{"do not execute", inOrchestrator("coordination: {execute_after_planning: false}"), ""},
	{"two ways to present", inOrchestrator("skip_final_presentation: true", "final_answer_strategy: synthesize"),
		`team.yaml:5:3: skip_final_presentation has no effect: final_answer_strategy is synthesize`},
	{"quick and patient", inOrchestrator("agent_mode: multi", "refinement: false", "max_new_answers_per_agent: 3", "disable_injection: false", "defer_voting_until_all_answered: false", "skip_voting: true", "final_answer_strategy: winner_reuse"),
		`team.yaml:7:3: max_new_answers_per_agent has no effect: refinement is off, which settles it
team.yaml:8:3: disable_injection has no effect: refinement is off, which settles it
team.yaml:9:3: defer_voting_until_all_answered has no effect: refinement is off, which settles it`},
	{"quick and agreed", inOrchestrator("agent_mode: multi", "refinement: false", "max_new_answers_per_agent: 1", "disable_injection: true"), ""},
	{"quick and alone", inOrchestrator("refinement: false", "skip_voting: false", "final_answer_strategy: winner_present", "disable_injection: true"),
		`team.yaml:6:3: skip_voting has no effect: refinement is off, which settles it
team.yaml:7:3: final_answer_strategy has no effect: refinement is off, which settles it`},

	// Anchors.
	{"alias of nothing", "agents:\n  - *a\n", "team.yaml:2:5: this alias has no anchor before it"},
	{"alias of what comes later", "agent: *a\nx-a: &a {id: a, backend: {type: demo, persona: sceptic}}\n", "team.yaml:1:8: this alias has no anchor before it"},
	{"an agent in a circle", "agents:\n  - &a\n    id: a\n    backend: *a\n",
		"team.yaml:3:5: unknown key \"id\"; it belongs under agents[]\nteam.yaml:3:5: type is missing; it is claude, openai, gemini or another that conclave explain type lists\nteam.yaml:4:5: unknown key \"backend\"; it belongs under agents[]"},
	{"an anchor of itself", "agents:\n  - &a\n  *a\n", "team.yaml:2:5: this stands for itself"},
	{"a list in a circle", "agents: &a\n  - *a\n", "team.yaml:2:3: an element of agents must be a mapping, not a list"},
	{"a merge in a circle", "x-a: &a {<<: *a, id: a}\nagent: {<<: *a, backend: {type: demo, persona: sceptic}}\n", "team.yaml:1:9: this mapping merges itself"},
	{"a merge of a list", team + "orchestrator:\n  <<: [1]\n", "team.yaml:5:8: only mappings can be merged"},
	{"the same agent again", "agents:\n  - &a\n    id: a\n    backend: {type: demo, persona: sceptic}\n  - *a\n",
		`team.yaml:3:9: the agent "a" is listed twice, by way of an alias; give the second an id of its own`},
	{"one mistake behind two aliases", "x-b: &b {type: dmo}\nagents:\n  - {id: a, backend: *b}\n  - {id: b, backend: *b}\n",
		`team.yaml:1:16: unknown backend "dmo"; did you mean "demo"?`},
	{"tags", "agents: !!seq []\nmemory: !mine x\n", "team.yaml:1:9: YAML tags mean nothing here; remove it\nteam.yaml:2:1: \"memory\" is not supported yet and has no effect"},

	// Variables.
	{"no such variable", "agents:\n  - id: a-${NO_SUCH_THING}\n    backend: {type: demo, persona: '${EMPTY}'}\n",
		`team.yaml:2:11: the environment variable NO_SUCH_THING is not set; set it where you start the program (export NO_SUCH_THING=…), or take the reference out
team.yaml:3:36: persona must be pragmatist, theorist, sceptic, host, planner, companion, leader, pm, architect, designer, front-end, back-end, qa or member, not "${EMPTY}"`},
	{"no such variable in a block", "agents:\n  - id: a\n    system_message: |\n      one ${THREE}\n      zwölf ${NO_SUCH_THING}\n    backend: {type: demo, persona: sceptic}\n",
		`team.yaml:5:13: the environment variable NO_SUCH_THING is not set; set it where you start the program (export NO_SUCH_THING=…), or take the reference out`},
	{"not a variable", "agents:\n  - id: a\n    system_message: 'Use ${A:-b} and ${'\n    backend: {type: demo, persona: sceptic}\n",
		`team.yaml:3:26: this is not a variable such as ${HOME}; write $${ for a literal ${`},
	{"variable out of range", inOrchestrator("max_calls_per_round: ${EMPTY}"),
		`team.yaml:5:24: max_calls_per_round must be a whole number from 1 up, not "${EMPTY}"`},
	{"variables of what is not read", team + "memory: ${NO_SUCH_THING}\nx-mine: ${NO_SUCH_THING}\n",
		`team.yaml:4:1: "memory" is not supported yet and has no effect`},
}
