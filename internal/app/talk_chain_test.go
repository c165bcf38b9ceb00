package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// tasks are what the runs of a turn were launched for, in order.
func (k *meeting) tasks(t view.SessionTurn) []string {
	k.t.Helper()
	var out []string
	for _, r := range t.Runs {
		out = append(out, k.text(r.Launch.Task))
	}
	return out
}

// The agents of chains plan in six tasks, forget something unless they are told
// of it, and judge.
const workerYAML = `
name: talker
steps:
  - when: {presenting: true}
    do: [{say: "{{.Own}}"}]
  - when: {own: 1+, offered: vote}
    do: [{vote: {for: first, reason: it came first}}]
  - when: {sees: This is planning}
    do: [{answer: "1. walls\n2. roof\n3. door\n4. paint\n5. lock\n6. key"}]
  - when: {task: judge, sees: "(?s)Built.*roof"}
    do: [{answer: "Verdict: complete."}]
  - when: {task: judge}
    do: [{answer: "Verdict: no roof."}]
  - when: {task: "Tasks 1 to 3", sees: the roof was missing}
    do: [{answer: "Built walls, roof and door."}]
  - when: {task: "Tasks 1 to 3"}
    do: [{answer: "Built walls and door."}]
  - do: [{answer: "Built: {{.Task}}"}]
`

// A plan comes back, is cut into chunks, each is launched with what it needs,
// judged, done again where something is missing, and the next one follows: what
// the agent is sent of each result is enough to decide it, and its calls have the
// effect. // IM-16.1, IM-16.2, IM-16.3, IM-16.4
func TestTalkChainsRuns(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.script(t, workerYAML)
	a.hostScript(t, `
name: host
steps:
  - when: {result: ['"status":"success"', "Tasks 4 to 6"]}
    do: [{say: 'The shed stands, with a roof. Last came: {{field "final_answer" .Result}}'}]
  - when: {result: ['"status":"success"', "6. key"]}
    do:
      - tool: {name: launch_run, input: {task: "Tasks 1 to 3 of the shed", context: 'From the plan: {{words 6 (field "final_answer" .Result)}}', agent_mode: single}}
  - when: {result: ['"status":"success"', roof]}
    do:
      - tool: {name: launch_run, input: {task: "Tasks 4 to 6 of the shed", context: "Walls, roof and door are done.", agent_mode: single}}
  - when: {result: '"status":"success"'}
    do:
      - tool: {name: launch_run, input: {task: "Tasks 1 to 3 of the shed, again", context: 'It said: {{field "final_answer" .Result}} But the roof was missing.', agent_mode: single}}
  - do:
      - tool: {name: launch_run, input: {task: Plan a shed., planning_mode: true}}
`)
	k := a.talk(t, true).drive()
	turn := k.tell("a shed, please")
	want := "Plan a shed. / Tasks 1 to 3 of the shed / Tasks 1 to 3 of the shed, again / Tasks 4 to 6 of the shed"
	if got := strings.Join(k.tasks(turn), " / "); got != want {
		t.Fatalf("launched: %s", got)
	}
	if r := k.started(turn.Runs[0].ID); !r.Rules.Planning || r.Rules.Execute {
		t.Errorf("the first run plans: %+v", r.Rules)
	}
	chunk := k.text(k.started(turn.Runs[1].ID).Spec.Context)
	if !strings.Contains(chunk, "1. walls 2. roof 3. door") || strings.Contains(chunk, "paint") {
		t.Errorf("the first chunk is told %q", chunk)
	}
	if again := k.text(k.started(turn.Runs[2].ID).Spec.Context); !strings.Contains(again, "Built walls and door. But the roof was missing.") {
		t.Errorf("the second try is told %q", again)
	}
	if got := k.words(turn); !strings.Contains(got, "The shed stands, with a roof.") {
		t.Errorf("it says %q", got)
	}
	k.sound()
}

// The agent has others judge what a run has brought, with its output as context.
// // IM-16.5
func TestTalkDelegatesEvaluation(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.script(t, workerYAML)
	a.hostScript(t, `
name: host
steps:
  - when: {result: "Verdict: no roof"}
    do: [{say: The others miss the roof.}]
  - when: {result: '"status":"success"'}
    do:
      - tool: {name: launch_run, input: {task: Look at this and judge it., context: '{{field "final_answer" .Result}}', refinement: false}}
  - do:
      - tool: {name: launch_run, input: {task: "Tasks 1 to 3", agent_mode: single}}
`)
	k := a.talk(t, true).drive()
	turn := k.tell("build and have it judged")
	if got := k.words(turn); got != "The others miss the roof." {
		t.Errorf("it says %q", got)
	}
	r := k.started(turn.Runs[1].ID)
	if !r.Rules.Quick || len(r.Spec.Seats) != 2 || k.text(r.Spec.Context) != "Built walls and door." {
		t.Errorf("who judges: %+v", r)
	}
	k.sound()
}

// What a person says in plain words becomes the parameters that mean it: the
// agent is told which, and what it calls is what runs. // IM-16.6
func TestTalkPlainWords(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.script(t, workerYAML)
	// The host finds the rule in what it was sent, and follows it.
	a.hostScript(t, `
name: host
steps:
  - when: {reply: 2+}
    do: [{say: done}]
  - when: {said: big plan, sees: ["(?i)big plan, no feedback needed", planning_mode]}
    do: [{tool: {name: launch_run, input: {task: "{{.Said}}", planning_mode: true, refinement: false}}}]
  - when: {said: quick single agent, sees: ["(?i)quick single agent", agent_mode]}
    do: [{tool: {name: launch_run, input: {task: "{{.Said}}", agent_mode: single, refinement: false}}}]
  - when: {said: thorough, sees: ["(?i)a review by everyone", refinement]}
    do: [{tool: {name: launch_run, input: {task: "{{.Said}}", agent_mode: multi, refinement: true}}}]
  - when: {said: ask me first}
    do: [{tool: {name: launch_run, input: {task: "{{.Said}}", agent_mode: single, coordination_overrides: {require_approval: true}}}}]
  - when: {said: do not ask me}
    do: [{tool: {name: launch_run, input: {task: "{{.Said}}", agent_mode: single, coordination_overrides: {require_approval: false}}}}]
  - do: [{say: nothing fits}]
`)
	k := a.talk(t, true).drive()
	for said, fits := range map[string]func(event.RunStarted) bool{
		"big plan, no feedback needed": func(r event.RunStarted) bool { return r.Rules.Planning && r.Rules.Quick },
		"quick single agent":           func(r event.RunStarted) bool { return r.Rules.Single && r.Rules.Quick },
		"a thorough review by all":     func(r event.RunStarted) bool { return !r.Rules.Single && !r.Rules.Quick && len(r.Spec.Seats) == 2 },
	} {
		turn := k.tell(said)
		if len(turn.Runs) != 1 || !fits(k.started(turn.Runs[0].ID)) {
			t.Errorf("%s: %+v, %s", said, turn.Runs, k.words(turn))
		}
	}
	// The model may ask for approval where none is required, and never waive it.
	if turn := k.tell("do not ask me"); len(turn.Runs) != 0 {
		t.Errorf("the model has waived approval: %+v", turn.Runs)
	}
	if k.tell("ask me first"); k.now().State() != view.SessionAwaiting {
		t.Errorf("it is %s", k.now().State())
	}
	k.answerGate(event.LaunchDeny, "")
	k.sound()
}

// A large output reaches the agent as a beginning and a file, so that it can hand
// on the file, or a summary, in place of everything. // IM-15.3
func TestTalkLargeResults(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.script(t, `
name: talker
steps:
  - when: {task: long}
    do: [{answer: '{{repeat 20000 "a very long answer "}}the end'}]
  - when: {sees: "final.md"}
    do: [{answer: "I was given a file of {{len .Task}} bytes of task."}]
  - do: [{answer: short}]
`)
	a.hostScript(t, `
name: host
steps:
  - when: {result: I was given}
    do: [{say: '{{field "final_answer" .Result}}'}]
  - when: {result: '"status":"success"'}
    do:
      - tool: {name: launch_run, input: {task: Shorten it., agent_mode: single, context: 'It is in {{field "final_answer_file" .Result}}', context_paths: [{path: '{{field "final_answer_file" .Result}}'}]}}
  - do: [{tool: {name: launch_run, input: {task: something long, agent_mode: single}}}]
`)
	k := a.talk(t, true).drive()
	turn := k.tell("go")
	if got := k.words(turn); !strings.HasPrefix(got, "I was given a file") {
		t.Fatalf("it says %.300q", got)
	}
	text := k.text(turn.Runs[0].Result)
	r := k.result(turn.Runs[0])
	if len(text) > 100<<10 || !strings.Contains(r.FinalAnswer.Text, "all of it is in "+r.FinalAnswerFile) {
		t.Errorf("%d bytes: %.100q", len(text), text)
	}
	whole, err := os.ReadFile(r.FinalAnswerFile)
	if err != nil || !strings.HasSuffix(string(whole), "the end") {
		t.Errorf("%d bytes, %v", len(whole), err)
	}
	if spec := k.started(turn.Runs[1].ID).Spec; len(spec.ContextPaths) != 1 || len(k.text(spec.Context)) > 500 {
		t.Errorf("handed on: %+v", spec)
	}
	k.sound()
}

// The agent works in the workspace of sessions, reads what runs have made and what
// the person names, and writes nothing else. // IM-12.5
func TestTalkPlace(t *testing.T) {
	a := salon(t, ", require_approval: false")
	named := real(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(named, "note.txt"), []byte("a word of the user's"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.hostScript(t, `
name: host
steps:
  - when: {reply: 2+}
    do: [{say: "{{.Result}}"}]
  - when: {said: write}
    do: [{tool: {name: write, input: {path: scratch/a.txt, content: mine}}}]
  - when: {said: forge}
    do: [{tool: {name: write, input: {path: `+filepath.Join(named, "note.txt")+`, content: mine}}}]
  - do: [{tool: {name: read, input: {path: `+filepath.Join(named, "note.txt")+`}}}]
`)
	k := a.talk(t, true).drive()
	k.tell("write")
	if p, err := os.ReadFile(a.state("workspace", "scratch", "a.txt")); string(p) != "mine" {
		t.Errorf("%q, %v", p, err)
	}
	if got := k.words(k.tell("read")); strings.Contains(got, "a word of the user's") {
		t.Errorf("nobody has given it: %q", got)
	}
	s := k.send(event.Said{Text: event.Inline("read @" + named)}, restful)
	if got := k.words(newestTurn(s)); !strings.Contains(got, "a word of the user's") {
		t.Errorf("it was named: %q", got)
	}
	k.tell("forge")
	if p, _ := os.ReadFile(filepath.Join(named, "note.txt")); string(p) != "a word of the user's" {
		t.Errorf("it was written: %q", p)
	}
	k.sound()
}

// The agent's tools are those of its place, its projects and launch_run; nothing
// of a run's is among them. // IM-03.5
func TestTalkTools(t *testing.T) {
	a := salon(t, ", require_approval: false")
	a.hostScript(t, `
name: host
steps:
  - when: {offered: [launch_run, create_project, read, publish_deliverable]}
    do: [{say: "all there, {{if eq .Reply 1}}first{{end}}"}]
  - do: [{say: something is missing}]
`)
	k := a.talk(t, true).drive()
	if got := k.words(k.tell("go")); got != "all there, first" {
		t.Errorf("it says %q", got)
	}
	k.leave()
	for _, name := range []string{"new_answer", "vote", "ask_others", "shell"} {
		a.hostScript(t, "name: host\nsteps:\n  - when: {offered: "+name+"}\n    do: [{say: it has it}]\n  - do: [{say: fine}]\n")
		k.drive()
		if got := k.words(k.tell("go " + name)); got != "fine" {
			t.Errorf("%s: %q", name, got)
		}
		k.leave()
	}
}

// The estimate is made from runs of the same kind once there are some.
func TestTalkEstimate(t *testing.T) {
	a := salon(t, "")
	a.script(t, "name: talker\nsteps:\n  - do: [{usage: {input: 1000, output: 200, cost: 0.03}}, {answer: done}]\n")
	k := a.talk(t, true).drive()
	var basis []string
	for _, text := range []string{"launch one", "launch two"} {
		k.tell(text)
		e := k.now().Talk.Wants
		basis = append(basis, e[len(e)-1].Estimate.Basis)
		if len(basis) == 2 {
			if got := e[len(e)-1].Estimate; got.Tokens != 1200 || got.Cost != 3*event.Dollar/100 {
				t.Errorf("%+v", got)
			}
		}
		k.answerGate(event.LaunchApprove, "")
	}
	if basis[0] != "scripted agents call no model" || !regexp.MustCompile(`^the median per agent of 1 run `).MatchString(basis[1]) {
		t.Errorf("%q", basis)
	}
	k.sound()
}
