package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/app"
	"conclave/internal/event"
	"conclave/internal/view"
)

// open is the project in this process, with the state its commands have.
func (p *project) open(t *testing.T) *app.App {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.sockets(), "none"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(p.sockets(), "state"))
	a, err := app.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// A session whose driver is killed in the middle of a run goes on with that run:
// however often that is, the run is launched once, and ends as an undisturbed
// one does.
func TestSessionKilledAnywhere(t *testing.T) {
	p := victim(t, t.TempDir())
	want := strings.TrimSpace(p.undisturbed(t))
	a := p.open(t)
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionCoordinate, Config: filepath.Join(p.dir, "team.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	turns, kills := 4, 4
	if testing.Short() || raceEnabled {
		turns, kills = 2, 2
	}
	rng, killed := rand.New(rand.NewPCG(7, 7)), 0
	for turn := range turns {
		f := event.Fact{ID: "said/" + string(rune('a'+turn)), Body: event.Said{Text: event.Inline("a task")}}
		if err := a.Send(t.Context(), id, f); err != nil {
			t.Fatal(err)
		}
		for range kills {
			if killedDriver(t, p, a, id, turn, rng) {
				killed++
			}
		}
		p.output(t, "drive", string(id))
		s, err := a.Open(t.Context(), id)
		if err != nil || s.Session.Turns.Len() != turn+1 {
			t.Fatalf("%+v, %v", s.Session, err)
		}
		runs := s.Session.Turns.At(turn).Runs
		if len(runs) != 1 || runs[0].Status != event.StatusSuccess || runs[0].Answer.Text != want {
			t.Errorf("turn %d: %+v, want one run with %q", turn+1, runs, want)
		}
	}
	if t.Logf("killed %d times", killed); killed == 0 {
		t.Error("nobody was killed")
	}
	if n := p.flows(); n != turns+1 { // and the undisturbed one
		t.Errorf("%d runs after %d turns", n, turns)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// killedDriver drives the session in a process of its own and kills that a moment
// after some event of the session or of its run, or never if all ends before.
func killedDriver(t *testing.T, p *project, a *app.App, id event.FlowID, turn int, rng *rand.Rand) bool {
	t.Helper()
	x := p.start(t, "drive", string(id))
	after := rng.IntN(40)
	ctx, done := context.WithTimeout(t.Context(), limit)
	defer done()
	// It ends by itself when the session is at rest; then nobody is killed.
	go func() { x.readers.Wait(); done() }()
	var s view.Session
	for e, err := range a.Follow(ctx, id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if s = s.Apply(e); s.Turns.Len() > turn && len(s.Turns.At(turn).Runs) > 0 {
			break
		}
	}
	if s.Turns.Len() > turn && after > 0 {
		n := 0
		for range a.Follow(ctx, s.Turns.At(turn).Runs[0].ID, 1) {
			if n++; n >= after {
				break
			}
		}
	}
	timer := time.NewTimer(time.Duration(rng.IntN(2000)) * time.Microsecond)
	<-timer.C
	_ = syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL)
	x.readers.Wait()
	_ = x.cmd.Wait()
	return x.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
}

// A session goes on in the background until it waits for its person, and is
// listed and shown.
func TestSessionInBackground(t *testing.T) {
	p := victim(t, t.TempDir())
	a := p.open(t)
	id, err := a.Begin(t.Context(), event.SessionStarted{Kind: event.SessionCoordinate, Config: filepath.Join(p.dir, "team.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	f := event.Fact{ID: "said/1", Body: event.Said{Text: event.Inline("a task"), Modes: event.Modes{Plan: true, Quick: true}}}
	if err := a.Send(t.Context(), id, f); err != nil {
		t.Fatal(err)
	}
	out := p.output(t, "resume", string(id))
	if !strings.Contains(out, "Waiting for you") || !strings.Contains(out, "conclave approve "+string(id)) {
		t.Errorf("resume: %s", out)
	}
	if out := p.output(t, "sessions"); !strings.Contains(out, "waiting for you") || !strings.Contains(out, "a task") {
		t.Errorf("sessions: %s", out)
	}
	if out := p.output(t, "runs"); strings.Contains(out, string(id)) || !strings.Contains(out, "run-") {
		t.Errorf("runs: %s", out)
	}
	if out := p.output(t, "approve", string(id)); !strings.Contains(out, "Noted.") {
		t.Errorf("approve: %s", out)
	}
	p.output(t, "resume", "--background", string(id))
	var s view.Session
	for e, err := range a.Follow(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		s = s.Apply(e)
		if s.State() == view.SessionIdle && s.Turns.Len() == 1 {
			break
		}
	}
	if out := p.output(t, "sessions", "show"); strings.Count(out, "success") != 2 || !strings.Contains(out, "Carrying out the plan") {
		t.Errorf("show: %s", out)
	}
	if out := p.output(t, "log", string(id)); !strings.Contains(out, "to execute") {
		t.Errorf("log: %s", out)
	}
	for d, ok, err := a.Driver(t.Context(), id); ok && err == nil; d, ok, err = a.Driver(t.Context(), id) {
		awaitGone(t, strconv.Itoa(d.PID)) // it goes when nothing is left to do
	}
	p.sound(t)
}
