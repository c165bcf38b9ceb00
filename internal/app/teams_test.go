package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"

	"github.com/google/go-cmp/cmp"
)

// describe writes the description of a team into the project.
func describe(t *testing.T, a *App, name, text string) string {
	t.Helper()
	file := filepath.Join(a.project, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const trio = `
name: trio
title: Three of us
leader: {name: boss, title: Boss, avatar: B, prompt: Lead., agent: ada}
roles:
  - {name: pm, title: Manager, about: Writes., prompt: Write., agent: bob, most: 2}
  - {name: qa}
phases: [{name: First, roles: [pm]}]
limits: {turn_timeout: 10m, session_timeout: 1h, max_members: 3, max_turns: 9, max_cost: 4}
agents:
  - {id: ada, backend: {type: demo, persona: leader, pace: 0}}
  - {id: bob, backend: {type: demo, persona: member, pace: 0}}
`

// begun is how a team began.
func begun(t *testing.T, a *App, id event.FlowID) event.TeamStarted {
	t.Helper()
	s, err := a.Open(t.Context(), id)
	if err != nil || s.Team == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	return s.Team.Started
}

// A team is recorded with everything its description says, resolved: who plays which
// role, by which rules, and from where.
//
// SR-06
func TestNewTeam(t *testing.T) {
	a := bare(t, "")
	describe(t, a, "src/a.txt", "a")
	describe(t, a, "trio.yaml", trio)
	cost := event.Money(2 * event.Dollar)
	id, err := a.NewTeam(t.Context(), control.TeamRequest{
		Team: "trio.yaml", Task: " Do it. ", Source: "src", MaxCost: &cost, Turn: time.Minute, Asks: true, By: "a test",
	})
	if err != nil {
		t.Fatal(err)
	}
	s := begun(t, a, id)
	if s.Leader.Seat.Model != "script:leader" || s.Roles[0].Seat.Model != "script:member" || s.Roles[1].Seat.Model != "script:leader" {
		t.Errorf("played by %s, %s and %s", s.Leader.Seat.Model, s.Roles[0].Seat.Model, s.Roles[1].Seat.Model)
	}
	if s.Dir != a.state("teams", string(id)) || s.Source != filepath.Join(a.project, "src") || s.Task.Text != "Do it." {
		t.Errorf("in %s from %s: %q", s.Dir, s.Source, s.Task.Text)
	}
	want := event.TeamRules{
		Version: event.TeamRulesVersion, MaxMembers: 3, MaxTurns: 9, MaxCalls: teamCalls, MaxAttempts: teamAttempts, MaxIdle: teamIdle,
		Turn: event.Duration(time.Minute), Time: event.Duration(time.Hour), Grace: event.Duration(12 * time.Second),
		Budget: event.Budget{Cost: &cost}, Permission: event.Override{On: true},
	}
	if d := cmp.Diff(want, s.Rules); d != "" {
		t.Error(d)
	}
	if got, err := os.ReadFile(filepath.Join(s.Dir, "tree", "a.txt")); err != nil || string(got) != "a" {
		t.Errorf("the shared tree has %q, %v", got, err)
	}
	flows, err := a.Flows(t.Context())
	if err != nil || len(flows) != 1 || flows[0].Kind != view.KindTeam || flows[0].State() != "unfinished" || !flows[0].Offline {
		t.Errorf("%+v, %v", flows, err)
	}
}

// What cannot be begun is said, and leaves nothing behind.
func TestTeamRefused(t *testing.T) {
	a := bare(t, "")
	describe(t, a, "trio.yaml", trio)
	describe(t, a, "strange.yaml", strings.Replace(trio, "agent: bob", "agent: ada", 1)+"source: nowhere\n")
	describe(t, a, "bare.yaml", "leader: {agent: ada}\nroles: [{name: qa}]\n")
	describe(t, a, "config.yaml", "agents: [{id: cy, backend: {type: demo, persona: member}}]\n")
	describe(t, a, "priced.yaml", "roles: [{name: qa}]\nlimits: {max_cost: 1}\nagents: [{id: x, backend: {type: chatcompletion, model: unheard-of, base_url: \"http://127.0.0.1:9\"}}]\n")
	for want, r := range map[string]control.TeamRequest{
		"the task is empty":          {Team: "trio.yaml", Task: " "},
		"which team?":                {Task: "x"},
		`there is no team "quartet"`: {Team: "quartet", Task: "x"},
		"does not exist":             {Team: "strange.yaml", Task: "x"},
		`the leader is to be played by the agent "ada", and there is none; there are: cy`: {Team: "bare.yaml", Task: "x", Config: filepath.Join(a.project, "config.yaml")},
		"lies in .conclave":        {Team: "trio.yaml", Task: "x", Source: ".conclave/teams"},
		"is not a folder":          {Team: "trio.yaml", Task: "x", Source: "trio.yaml"},
		"what unheard-of of chatc": {Team: "priced.yaml", Task: "x"},
	} {
		if want == "lies in .conclave" {
			describe(t, a, ".conclave/teams/here", "")
		}
		if _, err := a.NewTeam(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not %s", r, err, want)
		}
	}
	if flows, _ := a.Flows(t.Context()); len(flows) > 0 {
		t.Errorf("%+v", flows)
	}
	if dirs, _ := filepath.Glob(a.state("teams", "team-*")); len(dirs) > 0 {
		t.Errorf("left: %v", dirs)
	}
}

// Where no model is to be had the demo plays everybody: each role by somebody of its
// own, if there is one.
//
// SR-03
func TestTeamDemo(t *testing.T) {
	a := bare(t, "")
	id, err := a.NewTeam(t.Context(), control.TeamRequest{Team: "product", Task: "A page"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range begun(t, a, id).Roles {
		if r.Seat.Model != "script:"+r.Name {
			t.Errorf("%s is played by %s", r.Name, r.Seat.Model)
		}
	}
	id, err = a.NewTeam(t.Context(), control.TeamRequest{Team: "research", Task: "Why?"})
	if err != nil {
		t.Fatal(err)
	}
	if r := begun(t, a, id).Roles[1]; r.Name != "sceptic" || r.Seat.Model != "script:member" {
		t.Errorf("%s is played by %s", r.Name, r.Seat.Model)
	}
}

// Descriptions of the project come before the user's, and those before the ones that
// come with the program; one that cannot be used says why.
func TestTeamKinds(t *testing.T) {
	a := bare(t, "")
	own := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", own)
	describe(t, a, ".conclave/teams/product.yaml", trio)
	describe(t, a, ".conclave/teams/broken.yaml", "roles: []\n")
	for name, text := range map[string]string{"product.yaml": "roles: [{name: x}]\n", "mine.yml": "about: Of mine.\nroles: [{name: x}]\n"} {
		if err := os.MkdirAll(filepath.Join(own, "conclave/teams"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, "conclave/teams", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds, err := a.TeamKinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range kinds {
		got = append(got, strings.Join(append([]string{k.Name, k.Title}, k.Roles...), " "))
	}
	want := []string{
		"broken ", "bug-hunt Bug hunt reproducer investigator fixer verifier", "code-review Code review correctness security upkeep checker",
		"mine mine x", "product Three of us pm qa", "research Research team researcher sceptic editor",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !strings.Contains(kinds[0].Problem, "roles is empty") || kinds[3].About != "Of mine." || kinds[1].File != "" || kinds[4].File != a.state("teams", "product.yaml") {
		t.Errorf("%+v", kinds)
	}
}
