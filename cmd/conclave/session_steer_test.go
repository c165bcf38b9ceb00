package main

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/view"
)

// stuckSession is a session in which a run goes on that does not end by itself,
// driven by a process of its own.
func stuckSession(t *testing.T) (p *project, a *app.App, id event.FlowID, driver *process) {
	t.Helper()
	p = newTeam(t)
	a = p.open(t)
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionCoordinate, Config: filepath.Join(p.dir, "stuck.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	f := event.Fact{ID: "said/1", Body: event.Said{Text: event.Inline("a task"), Modes: event.Modes{Quick: true}}}
	if err := a.Send(t.Context(), id, f); err != nil {
		t.Fatal(err)
	}
	driver = p.start(t, "drive", string(id))
	var s view.Session
	for e, err := range a.Follow(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if s = s.Apply(e); s.Running != "" {
			break
		}
	}
	for e, err := range a.Follow(t.Context(), s.Running, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Assigned); ok {
			break
		}
	}
	return p, a, id, driver
}

// Who tells a session something, or cancels it, means the run that goes on in it.
func TestCancelASession(t *testing.T) {
	p, a, id, driver := stuckSession(t)
	if out := p.output(t, "runs", "tell", string(id), "be brief"); !strings.Contains(out, "Taken in") {
		t.Errorf("tell: %s", out)
	}
	x := p.start(t, "runs", "cancel", string(id))
	x.ends(0)
	x.says(x.out, `^run-\S+ is cancelled`)
	driver.ends(0) // at rest
	s, err := a.Open(t.Context(), id)
	if err != nil || s.Session.Turns.At(0).Runs[0].Status != event.StatusCancelled {
		t.Errorf("%+v, %v", s.Session, err)
	}
	again := p.start(t, "runs", "cancel", string(id))
	again.ends(1)
	again.says(again.err, `no run of session-\S+ is going on`)
	p.sound(t)
}

// A session that is taken over is gone on with until it waits for its person, and
// then left.
func TestTakeOverASession(t *testing.T) {
	p, a, id, _ := stuckSession(t)
	p.heal(t)
	x := p.start(t, "resume", "--take-over", string(id))
	x.ends(0)
	if s, err := a.Open(t.Context(), id); err != nil || s.Session.Turns.At(0).Runs[0].Status != event.StatusSuccess {
		t.Errorf("%+v, %v", s.Session, err)
	}
	if !strings.Contains(x.out.String(), "success") {
		t.Errorf("it shows %s", x.out)
	}
}

// Who answers a question is not kept waiting by a driver that is gone: what was
// said is kept for the next one.
func TestAnswerWithoutADriver(t *testing.T) {
	p := newTeam(t)
	p.write(t, "asking.yaml", read(t, filepath.Join(p.dir, "two.yaml"))+"  override: wait\n")
	a := p.open(t)
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionCoordinate, Config: filepath.Join(p.dir, "asking.yaml"), Asks: true})
	if err == nil {
		err = a.Send(t.Context(), id, event.Fact{ID: "said/1", Body: event.Said{Text: event.Inline("a task")}})
	}
	if err != nil {
		t.Fatal(err)
	}
	driver := p.start(t, "drive", string(id))
	var run event.FlowID
	for e, err := range a.Follow(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := e.Body.(event.Launched); ok {
			run = l.Run
			break
		}
	}
	for e, err := range a.Follow(t.Context(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(event.Asked); ok {
			break
		}
	}
	// What writes after the driver finds it at rest: frozen in the middle of a
	// commit it would keep everybody out.
	if _, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionCoordinate, Config: filepath.Join(p.dir, "two.yaml")}); err != nil {
		t.Fatal(err)
	}
	driver.freeze()
	x := p.start(t, "approve", string(run))
	x.says(x.out, `Who presents`)
	if err := driver.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	x.ends(0)
	x.says(x.out, `^Noted\. Nobody drives`)
	p.output(t, "drive", string(id))
	s, err := a.Open(t.Context(), id)
	if err != nil || s.Session.Turns.At(0).Runs[0].Status != event.StatusSuccess {
		t.Errorf("%+v, %v", s.Session, err)
	}
	p.sound(t)
}
