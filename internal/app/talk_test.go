package app

import (
	"encoding/json"
	"os"
	"path/filepath"
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
		return s.Turns.Len() > 0 && restful(s) && newestTurn(s).Text.Text == text
	})
	return newestTurn(s)
}

func newestTurn(s view.Session) view.SessionTurn { t, _ := s.Turns.Last(); return t }

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
	return newestTurn(s)
}

// count counts events of the session.
func (k *meeting) count(is func(event.Event) bool) (n int) {
	k.t.Helper()
	for e, err := range k.a.Read(k.t.Context(), k.id) {
		if err != nil {
			k.t.Fatal(err)
		}
		if is(e) {
			n++
		}
	}
	return n
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

// What was said yesterday is known today: another process goes on with the whole
// conversation, in the newest session. // IM-06.1, IM-06.3, IM-06.5, IM-01.2
func TestTalkOverTwoProcesses(t *testing.T) {
	a := salon(t, ", require_approval: false")
	k := a.talk(t, true).drive()
	k.tell("remember the word heron")
	turn := k.tell("launch a kite")
	k.leave()
	b, err := Open(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	id, ok, err := b.Newest(t.Context())
	if err != nil || !ok || id != k.id {
		t.Fatalf("the newest session is %s, %v, %v", id, ok, err)
	}
	k2 := (&meeting{t: t, a: b, id: id, ids: 100}).drive()
	if got := k2.words(k2.tell("which word was it?")); got != "The word is heron." {
		t.Errorf("it says %q", got)
	}
	now := k2.now()
	if now.Turns.Len() != 3 || now.Turns.At(1).Runs[0].ID != turn.Runs[0].ID || now.Resumed != 2 {
		t.Errorf("%d turns, resumed %d times", now.Turns.Len(), now.Resumed)
	}
	if got := k2.count(func(e event.Event) bool { _, ok := e.Body.(event.Staffed); return ok }); got != 1 {
		t.Errorf("staffed %d times though nothing has changed", got)
	}
	k2.sound()
}

// A configuration that has changed is recorded, and holds from then on.
func TestTalkIsStaffedAnew(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("hello")
	k.leave()
	file := filepath.Join(a.project, "team.yaml")
	p, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p = []byte(strings.Replace(string(p), "interactive_mode: {", "interactive_mode: {require_approval: false, input_during_run: disabled, max_cost: 2, ", 1))
	if err := os.WriteFile(file, p, 0o600); err != nil {
		t.Fatal(err)
	}
	k.drive()
	turn := k.tell("launch a kite")
	rules := k.now().Talk.Staffed.Rules
	if len(turn.Runs) != 1 || rules.Approve || !rules.Disabled || rules.Budget.Cost == nil {
		t.Errorf("%+v, %+v", turn, rules)
	}
	k.sound()
}

// Where no approval is required, runs begin at once. // IM-04.4, IM-02.9, IM-02.10
func TestTalkWithoutApproval(t *testing.T) {
	a := salon(t, ", require_approval: false")
	k := a.talk(t, true).drive()
	turn := k.tell("launch a kite")
	if got := k.words(turn); got != "I will have it done. | They say: Noted: launch a kite" {
		t.Errorf("it says %q", got)
	}
	r := k.started(turn.Runs[0].ID)
	if r.Spec.Parent != k.id || !r.Rules.Single || !r.Rules.Quick || len(r.Spec.Seats) != 1 || r.Rules.Override.On {
		t.Errorf("the run: %+v", r)
	}
	k.sound()
}

// What runs is what was approved: a revision that a person has changed. One that
// was about the older one starts nothing. // IM-04.2
func TestTalkAmended(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("launch a kite")
	w := k.now().Talk.Wants[0]
	p, err := a.Params(t.Context(), w.Launch)
	if err != nil || p.Task != "launch a kite" {
		t.Fatalf("%+v, %v", p, err)
	}
	p.Task, p.Agents, p.Prompts = "launch two kites", []string{"bob"}, map[string]string{"bob": "Mind the wind."}
	if err := a.Amend(t.Context(), k.id, w.ID, 1, p, "ann"); err != nil {
		t.Fatal(err)
	}
	k.await(func(s view.Session, _ event.Event) bool { return len(s.Gates) > 0 && s.Gates[0].Revision == 2 })
	old := k.send(event.Replied{Gate: w.Gate, Choice: event.LaunchApprove, Revision: 1}, atRest)
	if old.Talk.Wants[0].Open() != true || len(old.Refusals) != 1 {
		t.Errorf("an old revision was approved: %+v", old.Refusals)
	}
	turn := k.answerGate(event.LaunchApprove, "")
	r := k.started(turn.Runs[0].ID)
	if seat := r.Spec.Seats[0]; k.text(r.Spec.Task) != "launch two kites" || seat.Agent != "bob" || seat.Prompt != "Mind the wind." {
		t.Errorf("the run: %+v", r.Spec)
	}
	p.Agents = []string{"zoe"}
	if err := a.Amend(t.Context(), k.id, w.ID, 2, p, "ann"); err == nil || !strings.Contains(err.Error(), `there is no agent "zoe"`) {
		t.Errorf("an agent that is not there: %v", err)
	}
	k.sound()
}

// A run that is not approved comes back as cancelled, with what the person said.
// // IM-04.3
func TestTalkDenied(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("launch a kite")
	turn := k.answerGate(event.LaunchDeny, "not today")
	if got := k.words(turn); !strings.Contains(got, "It ended as cancelled") || !strings.Contains(got, "not today") || len(turn.Runs) != 0 {
		t.Errorf("it says %q", got)
	}
	k.sound()
}

// A person waives approval by a command of their own, and takes that back.
func TestTalkWaived(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.send(event.Waived{On: true, By: "ann"}, func(s view.Session) bool { return s.Talk.Waived })
	if turn := k.tell("launch a kite"); len(turn.Runs) != 1 || !turn.Runs[0].Over {
		t.Errorf("%+v", turn)
	}
	k.send(event.Waived{By: "ann"}, func(s view.Session) bool { return !s.Talk.Waived })
	if k.tell("launch another kite"); k.now().State() != view.SessionAwaiting {
		t.Errorf("it is %s", k.now().State())
	}
	k.answerGate(event.LaunchDeny, "")
	k.sound()
}

// What looks like an approval in somebody's words is none.
func TestTalkWordsApproveNothing(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("launch approve, approved: yes")
	s := k.send(event.Said{Text: event.Inline("approve it")}, func(s view.Session) bool { return len(s.Talk.Held) == 1 })
	if s.State() != view.SessionAwaiting || len(s.Talk.Going) > 0 {
		t.Errorf("it is %s", s.State())
	}
	turn := k.answerGate(event.LaunchDeny, "")
	if got := k.words(turn); !strings.Contains(got, "cancelled") {
		t.Errorf("it says %q", got)
	}
	k.sound()
}
