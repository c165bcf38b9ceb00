package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// The host of these tests does what it reads in the last message. What it says
// shows what it was sent.
const hostYAML = `
name: host
steps:
  - when: {result: '"status":"success"'}
    do: [{say: 'They say: {{field "final_answer" .Result}}'}]
  - when: {result: '"status":'}
    do: [{say: 'It ended as {{field "status" .Result}}: {{field "error" .Result}} {{field "final_answer" .Result}}'}]
  - when: {reply: 2+}
    do: [{say: "I was told: {{.Result}}"}]
  - when: {said: "(?i)^launch"}
    do:
      - say: I will have it done.
      - tool: {name: launch_run, input: {task: "{{.Said}}", agent_mode: single}}
  - when: {said: which word, sees: heron}
    do: [{say: The word is heron.}]
  - when: {said: hang}
    do: [hang]
  - do: [{say: "You said: {{.Said}}"}]
`

// salon is a project in which people talk to a host; more is put into its
// configuration.
func salon(t *testing.T, interactive string, more ...string) *App {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, `
agents:
  - {id: ada, backend: {type: script, script: talker.yaml}}
  - {id: bob, backend: {type: script, script: talker.yaml}}
orchestrator:
  interactive_mode: {backend: {type: script, script: host.yaml}`+interactive+`}
`+strings.Join(more, ""))
	a.script(t, talkerYAML)
	a.hostScript(t, hostYAML)
	return a
}

func (a *App) hostScript(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.project, "host.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// talk begins a session with the host.
func (a *App) talk(t *testing.T, asks bool) *meeting {
	t.Helper()
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionInteractive, Config: filepath.Join(a.project, "team.yaml"), Asks: asks})
	if err != nil {
		t.Fatal(err)
	}
	return &meeting{t: t, a: a, id: id}
}

// tell says something to the host and waits until the session rests.
func (k *meeting) tell(text string) view.SessionTurn {
	k.t.Helper()
	s := k.send(event.Said{Text: event.Inline(text)}, func(s view.Session) bool {
		return s.Turns.Len() > 0 && restful(s) && last2(s).Text.Text == text
	})
	return last2(s)
}

func last2(s view.Session) view.SessionTurn { t, _ := s.Turns.Last(); return t }

// words is what the agent has said in a turn, in order.
func (k *meeting) words(t view.SessionTurn) string {
	k.t.Helper()
	var out []string
	for i := range t.Steps.Len() {
		if st := t.Steps.At(i); st.Kind == view.StepText && !st.Text.Empty() {
			out = append(out, k.text(st.Text))
		}
	}
	if t.Failed != "" {
		out = append(out, "failed: "+t.Failed)
	}
	return strings.Join(out, " | ")
}

func (k *meeting) now() view.Session {
	k.t.Helper()
	s, err := k.a.Open(k.t.Context(), k.id)
	if err != nil {
		k.t.Fatal(err)
	}
	return *s.Session
}

// answerGate answers the question that is open.
func (k *meeting) answerGate(choice, text string) view.SessionTurn {
	k.t.Helper()
	g := k.now().Gates[0]
	s := k.send(event.Replied{Gate: g.Gate, Choice: choice, Text: text, Revision: g.Revision, By: "ann"}, atRest)
	return last2(s)
}

// result is the RunResult that whoever wanted a run was sent.
func (k *meeting) result(r view.SessionRun) (out result) {
	k.t.Helper()
	if err := json.Unmarshal([]byte(k.text(r.Result)), &out); err != nil {
		k.t.Fatal(err)
	}
	return out
}

// A person talks to the agent, which answers small things itself. // IM-15.1, IM-01.1
func TestTalk(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	if got := k.words(k.tell("hello")); got != "You said: hello" {
		t.Errorf("it says %q", got)
	}
	s := k.now()
	if s.Talk.Staffed.Seat.Agent != "conclave" || len(s.Talk.Staffed.Team) != 2 || !s.Talk.Staffed.Rules.Approve {
		t.Errorf("staffed: %+v", s.Talk.Staffed)
	}
	for _, dir := range []string{"projects", "scratch"} {
		if _, err := os.Stat(filepath.Join(s.Talk.Staffed.Dir, dir)); err != nil {
			t.Error(err)
		}
	}
	k.sound()
}

// A run is wanted, approved, carried out and told. // IM-04.1, IM-04.2, IM-15.2, IM-11.4
func TestTalkLaunches(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("launch a kite")
	s := k.now()
	if s.State() != view.SessionAwaiting || len(s.Talk.Wants) != 1 || s.Talk.Wants[0].Estimate == nil {
		t.Fatalf("%s, %+v", s.State(), s.Talk.Wants)
	}
	turn := k.answerGate(event.LaunchApprove, "")
	if got := k.words(turn); got != "I will have it done. | They say: Noted: launch a kite" {
		t.Errorf("it says %q", got)
	}
	if len(turn.Runs) != 1 || turn.Runs[0].Status != event.StatusSuccess {
		t.Fatalf("runs: %+v", turn.Runs)
	}
	r := k.result(turn.Runs[0])
	if r.Status != event.StatusSuccess || r.FinalAnswer.Text != "Noted: launch a kite" || r.Coordination.Winner != "ada" {
		t.Errorf("result: %+v", r)
	}
	if p, err := os.ReadFile(r.FinalAnswerFile); err != nil || string(p) != r.FinalAnswer.Text {
		t.Errorf("%s: %v", r.FinalAnswerFile, err)
	}
	k.sound()
}

var _ = slices.Contains[[]string]
var _ = fmt.Sprint
