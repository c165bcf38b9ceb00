package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// The agents of these tests answer by what they are shown.
const talkerYAML = `
name: talker
steps:
  - when: {presenting: true}
    do: [{say: "{{.Own}}"}]
  - when: {own: 1+, offered: vote}
    do: [{vote: {for: first, reason: it came first}}]
  - when: {task: wait for me}
    do: [hang]
  - when: {sees: has approved the plan}
    do: [{answer: "Built as planned.{{if .Task}} It was: {{.Task}}{{end}}"}]
  - when: {sees: [This is planning, first measure]}
    do: [{answer: "1. measure\n2. dig\n3. build"}]
  - when: {sees: This is planning}
    do: [{answer: "1. dig\n2. build"}]
  - when: {task: which word, sees: heron}
    do: [{answer: The word is heron.}]
  - when: {task: which word}
    do: [{answer: I was told no word.}]
  - do: [{answer: "Noted: {{.Task}}"}]
`

// A meeting is a session that is being driven.
type meeting struct {
	t    *testing.T
	a    *App
	id   event.FlowID
	ids  int
	stop context.CancelFunc
	wg   sync.WaitGroup
	err  error
}

// talkers is a project whose agents talk.
func talkers(t *testing.T, orchestrator string) *App {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, `
agents:
  - {id: ada, backend: {type: script, script: talker.yaml}}
  - {id: bob, backend: {type: script, script: talker.yaml}}
`+orchestrator)
	a.script(t, talkerYAML)
	return a
}

func (a *App) script(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.project, "talker.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *App) begin(t *testing.T, s event.SessionStarted) *meeting {
	t.Helper()
	s.Kind, s.Config = event.SessionCoordinate, filepath.Join(a.project, "team.yaml")
	id, err := a.Begin(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return &meeting{t: t, a: a, id: id}
}

// drive drives the session until leave.
func (k *meeting) drive() *meeting {
	ctx, stop := context.WithCancel(k.t.Context())
	k.stop = stop
	k.wg.Go(func() { k.err = k.a.Resume(ctx, k.id, false) })
	k.t.Cleanup(k.leave)
	return k
}

func (k *meeting) leave() {
	k.stop()
	if k.wg.Wait(); k.err != nil && !errors.Is(k.err, context.Canceled) {
		k.t.Errorf("driving the session: %v", k.err)
	}
}

// send says something and waits until the session shows what is wanted of it.
func (k *meeting) send(b event.Body, until func(view.Session) bool) view.Session {
	k.t.Helper()
	k.ids++
	id := fmt.Sprintf("in/%s/%d", k.t.Name(), k.ids)
	if err := k.a.Send(k.t.Context(), k.id, event.Fact{ID: id, Body: b}); err != nil {
		k.t.Fatal(err)
	}
	decided := false
	return k.await(func(s view.Session, e event.Event) bool {
		switch b := e.Body.(type) {
		case event.Refused:
			if b.Ref == id {
				return true
			}
		case event.Admitted:
			decided = decided || b.Ref == id
		case event.Closed:
			decided = decided || b.Reply == id
		}
		return decided && until(s)
	})
}

func (k *meeting) await(until func(view.Session, event.Event) bool) view.Session {
	k.t.Helper()
	var s view.Session
	for e, err := range k.a.Follow(k.t.Context(), k.id, 1) {
		if err != nil {
			k.t.Fatal(err)
		}
		if s = s.Apply(e); until(s, e) {
			return s
		}
	}
	k.t.Fatal("the log ended")
	return s
}

// say says something and waits for what comes of it.
func (k *meeting) say(text string, m event.Modes) view.SessionTurn {
	k.t.Helper()
	var turns int
	if s, err := k.a.Open(k.t.Context(), k.id); err == nil {
		turns = s.Session.Turns.Len()
	}
	s := k.send(event.Said{Text: event.Inline(text), Modes: m}, func(s view.Session) bool {
		return s.Turns.Len() > turns && (s.State() == view.SessionIdle || s.State() == view.SessionReviewing)
	})
	if s.Turns.Len() == turns {
		k.t.Fatalf("%q was refused: %+v", text, s.Refusals)
	}
	return s.Turns.At(turns)
}

func (k *meeting) reply(choice, text string, revision int) view.Session {
	k.t.Helper()
	before, err := k.a.Open(k.t.Context(), k.id)
	if err != nil {
		k.t.Fatal(err)
	}
	return k.send(event.Replied{Gate: before.Session.Gates[0].Gate, Choice: choice, Text: text, Revision: revision}, atRest)
}

// started is how a run of the session began.
func (k *meeting) started(id event.FlowID) event.RunStarted {
	k.t.Helper()
	log, err := k.a.events(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := opening(k.t.Context(), log, id)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}

func (k *meeting) text(c event.Content) string {
	k.t.Helper()
	s, err := k.a.Text(k.t.Context(), c)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

// sound leaves the session and proves every log.
func (k *meeting) sound() {
	k.t.Helper()
	k.leave()
	found, err := k.a.Check(k.t.Context(), "")
	if err != nil || len(found) > 0 {
		k.t.Errorf("log check: %v, %v", found, err)
	}
}

func last(t view.SessionTurn) view.SessionRun { return t.Runs[len(t.Runs)-1] }

// Whoever works knows the whole conversation: bob, alone, answers from what ada
// was told. // TM-04.3
func TestConversation(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{}).drive()
	first := k.say("remember the word heron", event.Modes{Single: true, Agent: "ada", Quick: true})
	second := k.say("which word was it?", event.Modes{Single: true, Agent: "bob", Quick: true})
	if got := last(first).Answer.Text; got != "Noted: remember the word heron" {
		t.Errorf("first answer %q", got)
	}
	if r := last(second); r.Answer.Text != "The word is heron." || r.Winner != "bob" {
		t.Errorf("second answer %+v", r)
	}
	third := k.say("and all of you?", event.Modes{})
	r := k.started(last(third).ID)
	if len(r.Spec.Seats) != 2 || r.Spec.Parent != k.id || !strings.Contains(k.text(r.Spec.Context), "The word is heron.") {
		t.Errorf("third run %+v", r.Spec)
	}
	k.sound()
}

// A plan is made, changed, edited, approved with something added, and carried out
// by a run that refers to it. // TM-03.2, TM-03.3
func TestPlanMode(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{}).drive()
	turn := k.say("build a shed", event.Modes{Plan: true, Quick: true})
	r := k.started(turn.Runs[0].ID)
	if !r.Rules.Planning || r.Rules.Execute || r.Spec.Plan != "" || turn.Plan == nil {
		t.Fatalf("planning: %+v, %+v", r, turn.Plan)
	}
	k.reply(event.PlanChange, "first measure", 1)
	edited := "1. measure twice\n2. dig\n3. build\n"
	k.send(event.Revised{Plan: turn.Plan.ID, Revision: 2, Text: event.Inline(edited)}, func(n view.Session) bool {
		return len(n.Gates) > 0 && n.Gates[0].Revision == 3
	})
	if n := k.reply(event.PlanApprove, "", 2); len(n.Refusals) == 0 || len(n.Gates) == 0 {
		t.Errorf("an old revision was approved: %+v", n.Gates)
	}
	done := k.reply(event.PlanApprove, "use oak", 3)
	turn = done.Turns.At(0)
	if got := last(turn); got.Purpose != event.PurposeExecute || got.Answer.Text != "Built as planned. It was: build a shed" {
		t.Errorf("carried out: %+v", got)
	}
	r = k.started(last(turn).ID)
	if r.Rules.Planning || r.Rules.Execute || r.Spec.Plan != turn.Plan.Dir || !r.Rules.Quick {
		t.Errorf("execution: %+v", r)
	}
	for _, want := range []string{"measure twice", "1. measure twice\n2. dig", "use oak"} {
		if got := k.text(r.Spec.Context); !strings.Contains(got, want) {
			t.Errorf("the run is not told %q:\n%s", want, got)
		}
	}
	want := map[string]string{"plan.md": edited, "revisions/1.md": "1. dig\n2. build", "revisions/2.md": "1. measure\n2. dig\n3. build", "revisions/3.md": edited}
	for name, text := range want {
		p, err := os.ReadFile(filepath.Join(turn.Plan.Dir, name))
		if diff := cmp.Diff(text, string(p)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if dir, _ := filepath.Rel(a.state("plans"), turn.Plan.Dir); dir != turn.Plan.ID || len(turn.Plan.Newest().Tasks) != 3 {
		t.Errorf("the plan is in %s: %+v", turn.Plan.Dir, turn.Plan.Newest())
	}
	k.sound()
}

// A session that is left in the middle of a run goes on where it was, with the
// same run. Meanwhile it says that somebody drives it.
func TestLeaveAndResume(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{}).drive()
	s := k.send(event.Said{Text: event.Inline("wait for me")}, func(s view.Session) bool { return s.Running != "" })
	for e, err := range a.Follow(t.Context(), s.Running, 1) { // the agents hang
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Assigned); ok {
			break
		}
	}
	if err := a.Resume(t.Context(), k.id, false); err == nil {
		t.Error("two drivers")
	}
	k.leave()
	a.script(t, strings.Replace(talkerYAML, "do: [hang]", "do: [{answer: Here I am.}]", 1))
	b, err := Open(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Settle(t.Context(), k.id, false); err != nil {
		t.Fatal(err)
	}
	now, err := b.Open(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	turn := now.Session.Turns.At(0)
	if len(turn.Runs) != 1 || turn.Runs[0].ID != s.Running || turn.Runs[0].Answer.Text != "Here I am." {
		t.Errorf("resumed: %+v", turn.Runs)
	}
	k.sound()
}

// A run that cannot begin ends nothing but itself.
func TestRunThatCannotBegin(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{}).drive()
	turn := k.say("hello", event.Modes{Single: true, Agent: "nobody"})
	if r := last(turn); r.Status != "" || !strings.Contains(r.Error, `there is no agent "nobody"`) {
		t.Errorf("got %+v", r)
	}
	if r := last(k.say("hello", event.Modes{})); r.Status != event.StatusSuccess {
		t.Errorf("got %+v", r)
	}
	k.sound()
}

// A cancel that is said to a session ends its run, and the session goes on.
func TestCancelInSession(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{}).drive()
	k.send(event.Said{Text: event.Inline("wait for me")}, func(s view.Session) bool { return s.Running != "" })
	k.ids++
	if err := a.Send(t.Context(), k.id, event.Fact{ID: "in/cancel", Body: event.CancelRequested{By: "ann"}}); err != nil {
		t.Fatal(err)
	}
	s := k.await(func(s view.Session, _ event.Event) bool { return s.Turns.Len() == 1 && atRest(s) })
	if r := last(s.Turns.At(0)); r.Status != event.StatusCancelled {
		t.Errorf("got %+v", r)
	}
	if r := last(k.say("hello", event.Modes{Quick: true})); r.Status != event.StatusSuccess {
		t.Errorf("got %+v", r)
	}
	k.sound()
}

// A conversation may begin with a run that was there before.
func TestFromARun(t *testing.T) {
	a := talkers(t, "")
	q := a.request()
	q.Task, q.Quick, q.Agents = "remember the word heron", true, []event.AgentID{"ada"}
	run, err := a.Prepare(t.Context(), q)
	if err == nil {
		err = a.Start(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	k := a.begin(t, event.SessionStarted{From: run.ID}).drive()
	if r := last(k.say("which word was it?", event.Modes{Single: true, Agent: "bob", Quick: true})); r.Answer.Text != "The word is heron." {
		t.Errorf("got %+v", r)
	}
	k.sound()
}

// What a session is begun with is checked before anything is recorded, and what
// is said to it only a session takes.
func TestBeginAndSendRefuse(t *testing.T) {
	a := talkers(t, "")
	for _, s := range []event.SessionStarted{
		{Kind: "other"}, {Kind: event.SessionCoordinate, Config: "missing.yaml"},
		{Kind: event.SessionCoordinate, Config: filepath.Join(a.project, "team.yaml"), From: "run-1"},
	} {
		_, err := a.Begin(t.Context(), s)
		if _, ok := errors.AsType[*control.Usage](err); !ok {
			t.Errorf("%+v: %v", s, err)
		}
	}
	run, err := a.Prepare(t.Context(), a.request())
	if err == nil {
		err = a.Start(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = a.Send(t.Context(), run.ID, event.Fact{ID: "in/1", Body: event.Said{Text: event.Inline("hello")}})
	if _, ok := errors.AsType[*control.Usage](err); !ok {
		t.Errorf("said to a run: %v", err)
	}
}

// A session in a log that came from elsewhere is not gone on with: what was said
// in it, and the configuration it names, is somebody else's word.
func TestForeignSession(t *testing.T) {
	a := talkers(t, "")
	k := a.begin(t, event.SessionStarted{})
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := a.Resume(t.Context(), k.id, false); err == nil || !strings.Contains(err.Error(), "conclave trust") {
		t.Errorf("got %v", err)
	}
	if _, _, err := a.Trust(); err != nil {
		t.Fatal(err)
	}
	k.drive()
	k.say("hello", event.Modes{Quick: true})
}
