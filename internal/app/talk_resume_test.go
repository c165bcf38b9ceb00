package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend/script/demo"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// facts counts events by what they are.
func (k *meeting) facts(kinds ...string) map[string]int {
	k.t.Helper()
	out := map[string]int{}
	k.count(func(e event.Event) bool {
		for _, kind := range kinds {
			if event.Kind(e.Body) == kind {
				out[kind]++
			}
		}
		return false
	})
	return out
}

// A session that is left in the middle of a run, or while a person is asked, goes
// on where it was: the gate is still open, the same run goes on, and the turn ends
// once. // IM-06.2
func TestTalkLeaveAndResume(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("launch wait for me")
	k.leave()
	if s := k.now(); s.State() != view.SessionAwaiting {
		t.Fatalf("left: %s", s.State())
	}
	k.drive()
	k.await(func(s view.Session, _ event.Event) bool { return s.Resumed == 2 })
	g := k.now().Gates[0]
	s := k.send(event.Replied{Gate: g.Gate, Choice: event.LaunchApprove, Revision: g.Revision}, func(s view.Session) bool { return len(s.Talk.Going) == 1 })
	run := s.Talk.Going[0]
	for e, err := range a.Follow(t.Context(), run, 1) { // its agent hangs
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Assigned); ok {
			break
		}
	}
	k.send(event.Said{Text: event.Inline("and hello")}, func(s view.Session) bool { return len(s.Talk.Held) == 1 })
	k.leave()
	if held := k.now().Talk.Held; len(held) != 1 {
		t.Errorf("held: %+v", held)
	}
	a.script(t, strings.Replace(talkerYAML, "do: [hang]", "do: [{answer: Here I am.}]", 1))
	b, err := Open(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Settle(t.Context(), k.id, false); err != nil {
		t.Fatal(err)
	}
	k2 := &meeting{t: t, a: b, id: k.id, stop: func() {}}
	now := k2.now()
	first := now.Turns.At(0)
	if len(first.Runs) != 1 || first.Runs[0].ID != run || !strings.Contains(k2.words(first), "They say: Here I am.") {
		t.Errorf("%+v\n%s", first.Runs, k2.words(first))
	}
	// What was said meanwhile was heard, in this turn or in one of its own.
	if n := now.Turns.Len(); len(now.Talk.Held) != 0 || n > 2 {
		t.Errorf("%d turns, held %+v", n, now.Talk.Held)
	}
	if got := k2.facts("wanted", "launched", "returned"); got["wanted"] != 1 || got["launched"] != 1 || got["returned"] != 1 {
		t.Errorf("%v", got)
	}
	k2.sound()
}

// What is said while nobody drives is heard by whoever settles the session, and
// settling ends where a person is asked.
func TestTalkSettles(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true)
	s, err := k.settled(event.Said{Text: event.Inline("hello")})
	if err != nil || k.words(newestTurn(s)) != "You said: hello" {
		t.Fatalf("%v, %s", err, k.words(newestTurn(s)))
	}
	s, err = k.settled(event.Said{Text: event.Inline("launch a kite")})
	if err != nil || s.State() != view.SessionAwaiting {
		t.Fatalf("%v, %s", err, s.State())
	}
	rows, err := a.Flows(t.Context())
	if err != nil || len(rows) != 1 || !rows[0].Waiting {
		t.Errorf("%+v, %v", rows, err)
	}
	s, err = k.settled(event.Replied{Gate: s.Gates[0].Gate, Choice: event.LaunchApprove, Revision: 1})
	if err != nil || !strings.Contains(k.words(newestTurn(s)), "They say: Noted: launch a kite") {
		t.Fatalf("%v, %s", err, k.words(newestTurn(s)))
	}
	k.stop = func() {}
	k.sound()
}

// One drives: a second is told so, and with take-over the first has to leave.
func TestTalkTakeOver(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- a.Resume(ctx, k.id, false) }()
	k.await(func(s view.Session, _ event.Event) bool { return s.Resumed == 1 })
	b, err := Open(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, ok := errors.AsType[*control.Driven](b.Resume(t.Context(), k.id, false)); !ok {
		t.Error("two drivers")
	}
	k2 := &meeting{t: t, a: b, id: k.id}
	ctx2, stop2 := context.WithCancel(t.Context())
	k2.stop = stop2
	k2.wg.Go(func() { k2.err = b.Resume(ctx2, k.id, true) })
	if got := k2.words(k2.tell("hello")); got != "You said: hello" {
		t.Errorf("it says %q", got)
	}
	// Who has nothing to record learns of it with the next thing it does, and both
	// look into the inbox.
	for known := false; !known; {
		select {
		case err := <-done:
			if _, known = errors.AsType[*control.TakenOver](err); !known {
				t.Fatalf("the first one does not know: %v", err)
			}
		default:
			k2.tell("hello")
		}
	}
	k2.sound()
}

// An agent that cannot be opened says why, and answers once it can.
func TestTalkAbsentAgent(t *testing.T) {
	a := salon(t, "")
	k := a.talk(t, true).drive()
	k.tell("hello")
	k.leave()
	if err := os.WriteFile(filepath.Join(a.project, "host.yaml"), []byte("steps: nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.drive()
	if got := k.words(k.tell("are you there?")); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, "host.yaml") {
		t.Errorf("it says %q", got)
	}
	k.leave()
	a.hostScript(t, hostYAML)
	k.drive()
	if got := k.words(k.tell("and now?")); got != "You said: are you there?\n\nand now?" {
		t.Errorf("it says %q", got)
	}
	k.sound()
}

// With input disabled what is said during a run is refused. // IM-14.3
func TestTalkInputDisabled(t *testing.T) {
	a := salon(t, ", require_approval: false, input_during_run: disabled")
	k := a.talk(t, true).drive()
	k.send(event.Said{Text: event.Inline("launch wait for me")}, func(s view.Session) bool { return len(s.Talk.Going) == 1 })
	s := k.send(event.Said{Text: event.Inline("hello?")}, func(view.Session) bool { return true })
	if len(s.Refusals) != 1 || len(s.Talk.Held) != 0 {
		t.Errorf("%+v, held %+v", s.Refusals, s.Talk.Held)
	}
	k.send(event.CancelRequested{}, func(s view.Session) bool { return newestTurn(s).Over })
	k.sound()
}

// Where nothing is configured one talks to the host of the demo. // IM-01.1
func TestTalkDemo(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, "")
	t.Setenv("HOME", t.TempDir())
	team, err := a.Team(t.Context(), "")
	if err != nil || team.Interactive == nil || !team.Offline {
		t.Skipf("a model server runs on this machine: %+v, %v", team, err)
	}
	if m := team.Interactive.Agent; m.Backend != "demo" || m.Model != "script:"+demo.Host().ID || !team.Interactive.Approve {
		t.Errorf("%+v", team.Interactive)
	}
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionInteractive, Asks: true})
	if err != nil {
		t.Fatal(err)
	}
	k := (&meeting{t: t, a: a, id: id}).drive()
	turn := k.tell("Thanks!")
	if got := k.words(turn); len(turn.Runs) != 0 || !strings.Contains(got, "You are welcome") {
		t.Errorf("it says %q", got)
	}
	k.sound()
}

// A key that is found makes its provider the one people talk to, with files and
// without commands.
func TestTalkFoundKeys(t *testing.T) {
	a := bare(t, "")
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-a-test")
	team, err := a.Team(t.Context(), "")
	if err != nil || team.Interactive == nil || team.Interactive.Agent.Backend != "claude" {
		t.Fatalf("%+v, %v", team.Interactive, err)
	}
	s, err := a.staff(t.Context(), event.SessionStarted{Kind: event.SessionInteractive})
	if err != nil || strings.Contains(string(s.Seat.Gear), "shell") || !strings.Contains(string(s.Seat.Gear), "files") || len(s.Team) == 0 {
		t.Errorf("%s, %+v, %v", s.Seat.Gear, s.Team, err)
	}
}

// The workspace of sessions is a folder of its own: what the program goes by is
// not in it, for the agent writes there.
func TestTalkWorkspace(t *testing.T) {
	for name, fine := range map[string]bool{".": false, "..": false, ".conclave": false, ".conclave/runs/x": false, ".conclave/workspace": true, "own/settings": false, "own/settings/conclave/x": false, "tools": false, "desk": true} {
		a := salon(t, ", workspace: HERE")
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(real(t, a.project), "own", "settings"))
		put(t, a, "tools/serve.txt")
		file := filepath.Join(a.project, "team.yaml")
		p, err := os.ReadFile(file)
		if err == nil {
			served := "script: talker.yaml, mcp_servers: {helper: {command: [run, tools/serve.txt]}}}"
			text := strings.NewReplacer("HERE", filepath.Join(a.project, name), "script: talker.yaml}", served).Replace(string(p))
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionInteractive, Config: file})
		if (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		k := (&meeting{t: t, a: a, id: id}).drive()
		k.tell("hello")
		if _, err := os.Stat(filepath.Join(a.project, name, "projects")); err != nil || k.now().Talk.Staffed.Dir != filepath.Join(real(t, a.project), name) {
			t.Errorf("%s: %v, %s", name, err, k.now().Talk.Staffed.Dir)
		}
		k.sound()
	}
}
