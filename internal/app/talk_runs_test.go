package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/view"
)

// launches is a host that launches what input says, whatever it is told, and then
// says what came of it.
func launches(input string) string {
	return `
name: host
steps:
  - when: {result: '"status":'}
    do: [{say: '{{field "status" .Result}}/{{field "stopped_by" .Result}}: {{field "error" .Result}} | {{field "final_answer" .Result}} | {{field "answers" .Result}}'}]
  - when: {reply: 2+}
    do: [{say: "told: {{.Result}}"}]
  - do:
      - tool:
          name: launch_run
          input: ` + input + `
`
}

// A run that is cancelled comes back with what there is, and the agent says so;
// the next thing said is heard. // IM-05.2, IM-05.3
func TestTalkCancelled(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.hostScript(t, launches(`{task: halves, agents: [ada, bob]}`))
	a.script(t, `
name: talker
steps:
  - when: {presenting: true}
    do: [{say: "{{.Own}}"}]
  - when: {own: 0}
    do: [{answer: "Half of it, by {{.Call}}."}]
  - do: [hang]
`)
	k := a.talk(t, true).drive()
	s := k.send(event.Said{Text: event.Inline("go")}, func(s view.Session) bool { return len(s.Talk.Going) == 1 })
	answers := 0
	for e, err := range a.Follow(t.Context(), s.Talk.Going[0], 1) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Answered); ok {
			if answers++; answers == 2 {
				break
			}
		}
	}
	held := k.send(event.Said{Text: event.Inline("are you there?")}, func(s view.Session) bool { return len(s.Talk.Held) == 1 })
	if held.State() != view.SessionRunning {
		t.Errorf("it is %s", held.State())
	}
	s = k.send(event.CancelRequested{By: "ann"}, func(s view.Session) bool {
		return s.Turns.Len() == 2 && restful(s) || s.Turns.Len() == 1 && newestTurn(s).Over
	})
	turn := s.Turns.At(0)
	got := k.words(turn)
	if r := turn.Runs[0]; r.Status != event.StatusCancelled || !strings.HasPrefix(got, "cancelled/user:") || strings.Count(got, "Half of it") < 2 {
		t.Errorf("%+v\n%s", r, got)
	}
	if r := k.result(turn.Runs[0]); len(r.Answers) != 2 || r.FinalAnswer.Text == "" {
		t.Errorf("partial results: %+v", r)
	}
	k.sound()
}

// A run that is late, and one that fails, come back as such with what they have.
// // IM-02.11, IM-02.12, IM-02.13
func TestTalkTimeoutAndError(t *testing.T) {
	for _, c := range []struct {
		name, input, script string
		want                event.Status
		has                 string
	}{
		{"timeout", `{task: slow, agents: [ada, bob], coordination_overrides: {orchestrator_timeout_seconds: 1}}`, "hang", event.StatusTimeout, "A first answer."},
		{"error", `{task: broken, agents: [ada, bob]}`, "{fail: {kind: auth, message: no such key}}", event.StatusError, "A first answer."},
		{"cannot begin", `{task: x, agent_mode: single, context_paths: [{path: /nowhere/at/all}]}`, "hang", event.StatusError, "/nowhere/at/all does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := salon(t, ", require_approval: false")
			a.hostScript(t, launches(c.input))
			a.script(t, "name: talker\nsteps:\n  - when: {own: 0}\n    do: [{answer: A first answer.}]\n  - do: ["+c.script+"]\n")
			k := a.talk(t, true).drive()
			turn := k.tell("go")
			if got := k.words(turn); !strings.HasPrefix(got, string(c.want)+"/") || !strings.Contains(got, c.has) {
				t.Errorf("it is told %q", got)
			}
			if r := k.result(turn.Runs[0]); r.Status != c.want || r.Error == "" {
				t.Errorf("result: %+v", r)
			}
			k.sound()
		})
	}
}

// Task and context reach the agents of the run, prompts are appended for that run
// alone, and the modes are those that were asked for. // IM-11.1, IM-02.5, IM-02.2
// IM-02.3, IM-02.4, IM-02.6, IM-02.7, IM-02.8, DZ-01
func TestTalkContextAndModes(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.script(t, `
name: talker
steps:
  - when: {presenting: true}
    do: [{say: "presented: {{.Own}}"}]
  - when: {own: 1+, offered: vote}
    do: [{vote: {for: first, reason: it came first}}]
  - when: {sees: [Background of the kite, Mind the wind]}
    do: [{answer: I know the background and mind the wind.}]
  - when: {sees: Background of the kite}
    do: [{answer: I know the background.}]
  - do: [{answer: I know nothing.}]
`)
	k := a.talk(t, true).drive()
	for _, c := range []struct {
		input, want string
		seats       int
		rules       func(event.Rules) bool
	}{
		{`{task: fly, context: Background of the kite, agents: [ada, bob], agent_system_prompts: {bob: Mind the wind.}}`, "I know the background", 2,
			func(r event.Rules) bool { return !r.Single && !r.Quick && r.Strategy == event.WinnerPresent }},
		{`{task: fly, agent_mode: multi}`, "I know nothing.", 2, func(r event.Rules) bool { return !r.Quick }},
		{`{task: fly, refinement: false}`, "I know nothing.", 2,
			func(r event.Rules) bool { return r.Quick && r.MaxAnswers == 1 && r.Strategy == event.Synthesize }},
		{`{task: fly, agent_mode: single}`, "I know nothing.", 1, func(r event.Rules) bool { return r.Single && r.Quick }},
		{`{task: fly, agent_mode: single, agents: [bob], refinement: true}`, "I know nothing.", 1,
			func(r event.Rules) bool { return r.Single && !r.Quick }},
		{`{task: fly, planning_mode: true}`, "I know nothing.", 2, func(r event.Rules) bool { return r.Planning && !r.Execute }},
		{`{task: fly, planning_mode: true, execute_after_planning: true}`, "presented", 2, func(r event.Rules) bool { return r.Planning && r.Execute }},
		{`{task: fly, coordination_overrides: {max_new_answers_per_agent: 1, final_answer_strategy: winner_reuse}}`, "I know nothing.", 2,
			func(r event.Rules) bool { return r.MaxAnswers == 1 && r.Strategy == event.WinnerReuse }},
	} {
		k.leave()
		a.hostScript(t, launches(c.input))
		k.drive()
		turn := k.tell("go: " + c.input)
		if got := k.words(turn); !strings.HasPrefix(got, "success/") || !strings.Contains(got, c.want) {
			t.Errorf("%s\nit is told %q", c.input, got)
			continue
		}
		r := k.started(turn.Runs[0].ID)
		if len(r.Spec.Seats) != c.seats || !c.rules(r.Rules) {
			t.Errorf("%s\n%+v", c.input, r)
		}
		for _, s := range r.Spec.Seats {
			if want := map[bool]string{true: "Mind the wind."}[s.Agent == "bob" && strings.Contains(c.input, "wind")]; s.Prompt != want {
				t.Errorf("%s\n%s is told %q", c.input, s.Agent, s.Prompt)
			}
		}
	}
	k.sound()
}

// Runs inherit the paths of the configuration; what a launch names is added, and
// for the same path counts. // IM-11.2, IM-11.3
func TestTalkContextPaths(t *testing.T) {
	dir := real(t, t.TempDir())
	for _, d := range []string{"conf", "both", "extra"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	a := salon(t, "", "  context_paths: [{path: "+in("conf")+", permission: read}, {path: "+in("both")+", permission: read}]\n")
	a.hostScript(t, launches(`{task: look, agent_mode: single, context_paths: [{path: `+in("both")+`, permission: write}, {path: `+in("extra")+`}]}`))
	k := a.talk(t, true).drive()
	k.tell("go")
	turn := k.answerGate(event.LaunchApprove, "")
	got := k.started(turn.Runs[0].ID).Spec.ContextPaths
	for i := range got {
		got[i].Protected = nil
	}
	want := []event.ContextPath{{Path: in("conf")}, {Path: in("both"), Write: true}, {Path: in("extra")}}
	slices.SortFunc(got, func(x, y event.ContextPath) int { return strings.Compare(x.Path, y.Path) })
	slices.SortFunc(want, func(x, y event.ContextPath) int { return strings.Compare(x.Path, y.Path) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(2, len(k.now().Talk.Staffed.ContextPaths)); diff != "" {
		t.Error(diff)
	}
	k.sound()
}

func real(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A path that no person stands behind gets a run nothing: the model is told how to
// have the user asked. What the user names is theirs to give, and so are the
// project itself for reading, and the session's own workspace.
func TestTalkPathsNobodyGave(t *testing.T) {
	outside := real(t, t.TempDir())
	a := salon(t, ", require_approval: false")
	k := a.talk(t, true).drive()
	try := func(path, permission, more string) string {
		k.leave()
		a.hostScript(t, launches(`{task: look, agent_mode: single, context_paths: [{path: `+path+`, permission: `+permission+`}]`+more+`}`))
		k.drive()
		return k.words(k.tell("go " + path + permission + more))
	}
	for _, c := range []struct{ path, permission, want string }{
		{outside, "read", "nobody has allowed reading"},
		{a.project, "write", "nobody has allowed writing"},
		{a.project, "read", "success/"},
		{a.state("workspace", "projects"), "write", "success/"},
		{a.state(), "read", "is the program's own"},
		{a.state("runs"), "read", "the folder of all runs"},
	} {
		if got := try(c.path, c.permission, ""); !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %q", c.path, c.permission, got)
		}
	}
	if try(outside, "read", `, coordination_overrides: {require_approval: true}`); k.now().State() != view.SessionAwaiting {
		t.Fatalf("it is %s", k.now().State())
	}
	if got := k.words(k.answerGate(event.LaunchApprove, "")); !strings.HasPrefix(got, "success/") {
		t.Errorf("approved: %q", got)
	}
	k.leave()
	a.hostScript(t, hostYAML)
	k.drive()
	said := k.send(event.Said{Text: event.Inline("look at @" + outside)}, func(s view.Session) bool { return restful(s) })
	if got := newestTurn(said); k.text(got.Text) != "look at "+outside || len(got.Paths) != 1 {
		t.Errorf("it was said: %+v", got)
	}
	if got := try(outside, "read", ""); !strings.HasPrefix(got, "success/") {
		t.Errorf("named by the user: %q", got)
	}
	k.sound()
}

// One ceiling is over the conversation and its runs: a run is granted what is left
// or its own ceiling, its cost is told apart, and at the end nothing more is
// launched. // DZ-05
func TestTalkBudget(t *testing.T) {
	a := salon(t, ", require_approval: false, max_cost: 1", "  max_cost: 0.50\n")
	a.hostScript(t, `
name: host
steps:
  - when: {reply: 2+}
    do: [{usage: {input: 100, output: 10, cost: 0.01}}, {say: 'it cost {{field "usage.total.cost_usd" .Result}}{{if .Result}}. {{words 30 .Result}}{{end}}'}]
  - do:
      - usage: {input: 100, output: 10, cost: 0.01}
      - tool: {name: launch_run, input: {task: "{{.Said}}", agent_mode: single}}
`)
	a.script(t, "name: talker\nsteps:\n  - do: [{usage: {input: 10, output: 1, cost: 0.40}}, {answer: done}]\n")
	k := a.talk(t, true).drive()
	first := k.tell("one")
	if got := k.words(first); !strings.HasPrefix(got, "it cost 0.4.") {
		t.Errorf("it says %q", got)
	}
	s := k.now()
	if s.Talk.Usage.Cost != 2*event.Dollar/100 || s.Usage.Cost != 40*event.Dollar/100 {
		t.Errorf("talk %s, runs %s", s.Talk.Usage.Cost, s.Usage.Cost)
	}
	if r := k.started(first.Runs[0].ID).Rules.Budget; r.Cost == nil || *r.Cost != event.Dollar/2 {
		t.Errorf("the first run may spend %+v", r)
	}
	second := k.tell("two")
	if r := k.started(second.Runs[0].ID).Rules.Budget; r.Cost == nil || *r.Cost != event.Dollar/2 {
		t.Errorf("the second run may spend %v", *r.Cost)
	}
	third := k.tell("three")
	if r := k.started(third.Runs[0].ID).Rules.Budget; r.Cost == nil || *r.Cost >= event.Dollar/2 || *r.Cost <= 0 {
		t.Errorf("the third run may spend %v", r.Cost)
	}
	s = k.now()
	if sum := s.Talk.Usage.Cost + s.Usage.Cost; sum > event.Dollar {
		t.Errorf("%s were spent", sum)
	}
	k.sound()
}

// With a project open, a run that is over is described in it, with where its
// answer, files and log are. // IM-12.3
func TestTalkProject(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.hostScript(t, `
name: host
steps:
  - when: {result: '"status":"success"'}
    do: [{tool: {name: publish_deliverable, input: {path: kite.md, from: '{{field "final_answer_file" .Result}}'}}}]
  - when: {reply: 1, said: create}
    do: [{tool: {name: create_project, input: {name: kites, goal: Kites that fly.}}}]
  - when: {reply: 1, sees: Kites that fly}
    do: [{tool: {name: launch_run, input: {task: "Build a kite.", agent_mode: single}}}]
  - do: [{say: "told: {{.Result}}"}]
`)
	k := a.talk(t, true).drive()
	k.tell("create a project")
	turn := k.tell("now go")
	run := turn.Runs[0]
	if run.Project != "kites" || k.now().Talk.Project != "kites" {
		t.Fatalf("%+v\n%s", run, k.words(turn))
	}
	p, err := a.Project(t.Context(), "kites")
	if err != nil || len(p.Runs) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	r := p.Runs[0]
	if r.ID != run.ID || r.Status != event.StatusSuccess || r.Description != "Build a kite." || r.Paths["answer"] == "" || !strings.Contains(r.Paths["log"], string(run.ID)) {
		t.Errorf("%+v", r)
	}
	if !slices.Contains(p.Sessions, k.id) {
		t.Errorf("sessions: %v", p.Sessions)
	}
	if got, err := os.ReadFile(filepath.Join(p.Dir, "deliverables", "kite.md")); err != nil || string(got) != "Noted: Build a kite." {
		t.Errorf("published: %q, %v\n%s", got, err, k.words(turn))
	}
	k.sound()
}

// A fork knows what was said until then and goes its own way; both stay sound.
func TestTalkFork(t *testing.T) {
	a := salon(t, ", require_approval: false")
	k := a.talk(t, true)
	if _, err := a.Fork(t.Context(), k.id); err == nil {
		t.Error("a session in which nothing was said was forked")
	}
	k.drive()
	k.tell("remember the word heron")
	k.tell("launch a kite")
	k.leave()
	k.drive()
	k.send(event.Said{Text: event.Inline("hang")}, func(s view.Session) bool { return s.Turns.Len() == 3 })
	id, err := a.Fork(t.Context(), k.id) // in mid-turn
	if err != nil {
		t.Fatal(err)
	}
	k.leave()
	f := (&meeting{t: t, a: a, id: id, ids: 100}).drive()
	s := f.now()
	if s.Turns.Len() != 2 || s.Talk.Fork != k.id {
		t.Errorf("%d turns of %s", s.Turns.Len(), s.Talk.Fork)
	}
	if got := f.words(f.tell("which word was it?")); got != "The word is heron." {
		t.Errorf("it says %q", got)
	}
	turn := f.tell("launch another kite")
	if len(turn.Runs) != 1 || f.started(turn.Runs[0].ID).Spec.Parent != id {
		t.Errorf("%+v", turn.Runs)
	}
	f.leave()
	again, err := a.Fork(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	g := (&meeting{t: t, a: a, id: again, ids: 200}).drive()
	if got := g.words(g.tell("which word was it?")); got != "The word is heron." || g.now().Turns.Len() != 5 {
		t.Errorf("a fork of a fork says %q", got)
	}
	if newest, ok, err := a.Newest(t.Context()); newest != again || !ok || err != nil {
		t.Errorf("the newest is %s", newest)
	}
	g.sound()
}

// A program outside wants runs in a session of its own: refused calls are told at
// once, asking twice is asking once, and what it comes to is in the log.
func TestClientSession(t *testing.T) {
	a := salon(t, "")
	config := filepath.Join(a.project, "team.yaml")
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionClient, Config: config, Client: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	k := &meeting{t: t, a: a, id: id}
	bad := launch.Params{Task: "x", Agents: []string{"zoe"}}
	if p, ok := errors.AsType[*launch.Problem](a.Want(t.Context(), id, "w0", bad, "editor")); !ok || !strings.Contains(p.Why, "zoe") {
		t.Errorf("an unknown agent: %v", p)
	}
	want := launch.Params{Task: "fly", AgentMode: "single"}
	for range 2 {
		if err := a.Want(t.Context(), id, "w1", want, "editor"); err != nil {
			t.Fatal(err)
		}
	}
	k.drive()
	s := k.await(func(s view.Session, _ event.Event) bool { return len(s.Gates) == 1 })
	if !restful(s) || s.Gates[0].Ref != "w1" {
		t.Errorf("%+v", s.Gates)
	}
	if err := a.Want(t.Context(), id, "w1", want, "editor"); err != nil {
		t.Errorf("wanted again: %v", err)
	}
	g := s.Gates[0]
	s = k.send(event.Replied{Gate: g.Gate, Choice: event.LaunchApprove, Revision: 1, By: "ann"}, func(s view.Session) bool {
		t, ok := s.Turns.Last()
		return ok && len(t.Runs) == 1 && t.Runs[0].Over && restful(s)
	})
	var runs []view.SessionRun
	for i := range s.Turns.Len() {
		runs = append(runs, s.Turns.At(i).Runs...)
	}
	if len(runs) != 1 || k.result(runs[0]).FinalAnswer.Text != "Noted: fly" {
		t.Errorf("%+v", runs)
	}
	if err := a.Send(t.Context(), id, event.Fact{ID: "x", Body: event.Revised{}}); err == nil {
		t.Error("a plan was revised in a client's session")
	}
	o, err := a.Offer(t.Context(), config)
	if err != nil || !o.Approve || len(o.Team) != 2 || !strings.Contains(o.Guidance, "launch_run") || !strings.Contains(string(o.Schema), `"ada"`) {
		t.Errorf("%+v, %v", o, err)
	}
	k.sound()
}

// Without the section everything is as it was: nobody to talk to, and what is said
// goes to the agents. // DZ-06
func TestNoInteractiveMode(t *testing.T) {
	a := talkers(t, "")
	config := filepath.Join(a.project, "team.yaml")
	team, err := a.Team(t.Context(), config)
	if err != nil || team.Interactive != nil {
		t.Errorf("%+v, %v", team.Interactive, err)
	}
	_, err = a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionInteractive, Config: config})
	if _, ok := errors.AsType[*control.Usage](err); !ok || !strings.Contains(err.Error(), "interactive_mode") {
		t.Errorf("begun: %v", err)
	}
	b := salon(t, ", enabled: false")
	if team, err := b.Team(t.Context(), filepath.Join(b.project, "team.yaml")); err != nil || team.Interactive != nil {
		t.Errorf("switched off: %+v, %v", team.Interactive, err)
	}
	c := salon(t, ", require_approval: false")
	team, err = c.Team(t.Context(), filepath.Join(c.project, "team.yaml"))
	if err != nil || team.Interactive == nil || team.Interactive.Approve || team.Interactive.Agent.Model != "script:host" {
		t.Errorf("on: %+v, %v", team.Interactive, err)
	}
}
