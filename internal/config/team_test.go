package config_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/config"
	"conclave/internal/event"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const smallTeam = "roles: [{name: pm}]\n"

func mustParseTeam(t *testing.T, src string) *config.Team {
	t.Helper()
	team, err := config.ParseTeam("team.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return team
}

// Everything that can be said of a team.
//
// SR-06
func TestTeam(t *testing.T) {
	got := mustParseTeam(t, `
name: product
title: Product team
about: Makes products.
leader: {name: boss, title: Boss, avatar: 🧭, prompt: Lead., agent: ada}
roles:
  - {name: pm, title: Product manager, avatar: 📋, about: Requirements., prompt: Write them., agent: bob}
  - {name: front-end, most: 2, prompt: Build.}
phases:
  - {name: Requirements, roles: [pm]}
  - {name: Building, roles: [front-end]}
limits:
  turn_timeout: 20m
  session_timeout: 2h
  warn_before: 90s
  max_members: 5
  max_turns: 50
  max_calls_per_turn: 30
  max_attempts: 2
  max_idle: 4
  max_cost: 2.50
  max_tokens: 1000
agents:
  - {id: ada, backend: {type: demo, persona: sceptic}}
  - {id: bob, backend: {type: claude, model: claude-x}}
`)
	if len(got.Agents) != 2 || got.Agents[1].Backend != "claude" {
		t.Errorf("agents %+v", got.Agents)
	}
	if len(got.Warnings) > 0 {
		t.Errorf("warnings %v", got.Warnings)
	}
	got.Agents, got.Sum = nil, ""
	cost, tokens, grace := event.Money(2_500_000), int64(1000), event.Duration(90*time.Second)
	want := &config.Team{
		Path: "team.yaml", Name: "product", Title: "Product team", About: "Makes products.",
		Leader: config.TeamRole{Name: "boss", Title: "Boss", Avatar: "🧭", Prompt: "Lead.", Agent: "ada"},
		Roles: []config.TeamRole{
			{Name: "pm", Title: "Product manager", Avatar: "📋", About: "Requirements.", Prompt: "Write them.", Agent: "bob"},
			{Name: "front-end", Most: 2, Prompt: "Build."},
		},
		Phases: []event.TeamPhase{{Name: "Requirements", Roles: []string{"pm"}}, {Name: "Building", Roles: []string{"front-end"}}},
		Limits: config.TeamLimits{
			Turn: event.Duration(20 * time.Minute), Time: event.Duration(2 * time.Hour), Grace: &grace,
			MaxMembers: 5, MaxTurns: 50, MaxCalls: 30, MaxAttempts: 2, MaxIdle: 4,
			Budget: event.Budget{Cost: &cost, Tokens: &tokens},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What is wrong is said with its place and with what was probably meant.
func TestTeamRefusals(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"name: x\n", "team.yaml:1:1: roles is missing"},
		{"roles: []\n", "team.yaml:1:8: roles is empty; a leader alone is no team"},
		{"roles: [{title: x}]\n", "name is missing"},
		{"roles:\n  - {name: Front End}\n", `team.yaml:2:12: name must be a name of small letters, digits and dashes such as front-end, not "Front End"; did you mean front-end?`},
		{"roles: [{name: all}]\n", "all means everybody"},
		{"roles: [{name: pm}, {name: pm}]\n", `two roles are called "pm"; the first is at line 1; for several members of one role write most: 2`},
		{"roles: [{name: leader}]\n", `"leader" is what the leader is called`},
		{"leader: {name: pm}\n" + smallTeam, `"pm" is what the leader is called`},
		{smallTeam + "phases:\n  - {name: A, roles: [pn]}\n", `team.yaml:3:23: there is no role "pn"; did you mean "pm"?`},
		{smallTeam + "phases: [{name: A, roles: [writer]}]\n", `there is no role "writer"; the only role is pm`},
		{"roles: [{name: pm}, {name: qa}, {name: pm}]\nphases: [{name: A, roles: [writer]}]\n", `there is no role "writer"; the roles are pm and qa`},
		{"roles: [{title: x}]\nphases: [{name: A, roles: [writer]}]\n", `there is no role "writer"; no role has a name`},
		{smallTeam + "phases: [{name: A, role: [pm]}]\n", `unknown key "role"; did you mean "roles"?`},
		{smallTeam + "phases: [{name: A, roles: []}]\n", `the phase "A" has no roles`},
		{smallTeam + "limits: {turn_timeout: soon}\n", "turn_timeout must be a time such as 20m or 1h30m, not \"soon\""},
		{"", "the description of a team is empty; it needs roles, each with a name"},
		{smallTeam + "limits: {session_timeout: 3}\n", "session_timeout must be a time such as 20m or 1h30m, not 3; 3 what? Write 3m for minutes, 3s for seconds"},
		{smallTeam + "limits: {turn_timeout: 20 minutes}\n", "did you mean 20m?"},
		{smallTeam + "limits: {turn_timeout: 1.5 Hours}\n", "did you mean 1.5h?"},
		{smallTeam + "limits: {turn_timeout: 0}\n", "turn_timeout must be a time"},
		{smallTeam + "limits: {turn_timeout: -5m}\n", "turn_timeout must be a time"},
		{smallTeam + "limits: {session_timeout: 999999h}\n", "the longest is a year"},
		{smallTeam + "limits: {turn_timeout: 1m, warn_before: 60s}\n", "warn_before is not shorter than turn_timeout"},
		{smallTeam + "limits: {session_timeout: 1m, warn_before: 2m}\n", "warn_before is not shorter than session_timeout"},
		{smallTeam + "limits: {max_members: 0}\n", "max_members must be a whole number from 1 up"},
		{"leader: {agent: bop}\n" + smallTeam + "agents: [{id: bob, backend: {type: demo, persona: host}}]\n", `there is no agent "bop"; did you mean "bob"?`},
		{smallTeam + "agents: [{id: bob, backend: {type: demo, persona: nobody}}]\n", "persona must be"},
		{smallTeam + "context_paths: [{path: docs, permission: write}]\n", "a team writes no folder of yours"},
		{"roles: [{name: pm, avatar: a whole sentence}]\n", "avatar must be a character or two"},
	} {
		_, err := config.ParseTeam("team.yaml", []byte(tt.src))
		if _, ok := errors.AsType[*config.Error](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\nis %v\nnot %s", tt.src, err, tt.want)
		}
	}
	doubts := mustParseTeam(t, "leader: {title: x}\nroles: [{name: pm, promt: x}]\nlimit: {}\n").Warnings
	var all []string
	for _, p := range doubts {
		all = append(all, p.String())
	}
	for _, want := range []string{`unknown key "promt"; did you mean "prompt"?`, `unknown key "limit"; did you mean "limits"?`, "2:10: the role \"pm\" has no prompt", "1:1: the leader has no prompt"} {
		if !strings.Contains(strings.Join(all, "\n"), want) {
			t.Errorf("%v has nothing of %s", all, want)
		}
	}
}

// A file is known for what it is, whatever else is wrong with it, and one that lies
// where agents write is not read.
func TestDescribesTeam(t *testing.T) {
	dir := t.TempDir()
	for src, want := range map[string]bool{
		"leader: {}\nroles: 3\n":                    true,
		"roles: [{name: pm}]\nagents: []\n":         true,
		"agents: []\n":                              false,
		"agents: []\norchestrator: {}\nroles: []\n": false,
		": :\n":                       false,
		"":                            false,
		"name: x\n":                   true,
		"title: X\nagents: []\n":      false,
		"name: x\norchestrator: {}\n": false,
	} {
		file := filepath.Join(dir, "x.yaml")
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := config.DescribesTeam(file); got != want {
			t.Errorf("%q describes a team: %v", src, got)
		}
	}
	// Where the keys do not tell, the folder does.
	for src, want := range map[string]bool{"": true, "# to be written\n": true, ": :\n": true, "agents: []\n": false, "ui: {}\n": false} {
		file := filepath.Join(dir, "teams", "x.yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(src), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := config.DescribesTeam(file); got != want {
			t.Errorf("among teams %q describes one: %v", src, got)
		}
	}
	inside := filepath.Join(dir, ".conclave", "teams", "team-1", "tree", "x.yaml")
	own := filepath.Join(dir, ".conclave", "teams", "mine.yaml")
	for _, file := range []string{inside, own} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(smallTeam), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := config.LoadTeam(inside); err == nil || !strings.Contains(err.Error(), "where agents write") {
		t.Errorf("read from a team's folder: %v", err)
	}
	if _, err := config.LoadTeam(own); err != nil {
		t.Error(err)
	}
}

// Every description that comes with the program has nothing to be warned of and is
// valid by the schema, which knows what is not.
func TestTeamExamples(t *testing.T) {
	text, err := config.TeamSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("team.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("team.json")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("../../examples/teams/*.yaml")
	if len(files) < 4 {
		t.Errorf("there are %v", files)
	}
	for _, file := range files {
		team, err := config.LoadTeam(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(team.Warnings)+len(team.Notes) > 0 || team.Title == "" || team.About == "" || len(team.Phases) == 0 || !config.DescribesTeam(file) {
			t.Errorf("%s: %v %v", file, team.Warnings, team.Notes)
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".yaml"); team.Name != want {
			t.Errorf("%s is called %s", file, team.Name)
		}
		for _, r := range team.Roles {
			if r.Prompt == "" || r.About == "" || r.Title == "" || r.Avatar == "" {
				t.Errorf("%s: %s says too little", file, r.Name)
			}
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(t, src)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, src := range []string{"roles: 3", "name: x", smallTeam + "agents: [{id: a}]", smallTeam + "rolls: []", smallTeam + "limits: {max_turns: many}"} {
		if s.Validate(asJSON(t, []byte(src))) == nil {
			t.Errorf("the schema takes %s", src)
		}
	}
}
