package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/codex"
	"conclave/internal/event"
)

// A seat is a backend with a room and a thread for every turn.
type seat struct {
	backend.Backend
	room *clitest.Room
}

func (s seat) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	in.Room, in.Thread = s.room, "talk"
	return s.Backend.Turn(ctx, in, host)
}

func (s seat) say(ctx context.Context, messages ...backend.Message) (backend.Reply, error) {
	return backend.Collect(s.Turn(ctx, backend.Input{Messages: messages}, &clitest.Steward{}), nil)
}

// newSeat makes a backend of the fake Codex.
func newSeat(t *testing.T, like string, s backendtest.Scene, idle time.Duration) seat {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "scene")
	if err := os.WriteFile(name, p, 0o600); err != nil {
		t.Fatal(err)
	}
	out := seat{codex.New(backend.Program{
		Provider: "codex", Command: []string{exe}, BaseURL: "http://127.0.0.1:1/v1", Idle: event.Duration(idle),
		Env: map[string]string{fakeVar: like, sceneVar: name, "GORACE": "atexit_sleep_ms=0"},
	}, ""), clitest.NewRoom(t)}
	t.Cleanup(func() { _ = out.Backend.(backend.Closer).Close() })
	return out
}

func TestSeam(t *testing.T) {
	cannot := map[string]string{
		"stopped by length":  "Codex goes on by itself",
		"error rate_limited": "Codex waits by itself, and does not say how long it would have to",
	}
	backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
		if why := cannot[s.Name]; why != "" {
			t.Skip(why)
		}
		idle := time.Duration(0)
		if s.Name == "error timed_out" {
			idle = 100 * time.Millisecond
		}
		return newSeat(t, "itself", s, idle)
	})
}

func scene(replies ...backendtest.Reply) backendtest.Scene {
	return backendtest.Scene{Replies: replies}
}

// A version that is too old is refused before anything is said to it.
func TestTooOld(t *testing.T) {
	s := newSeat(t, "old", scene(says("Hello.")), 0)
	_, err := s.say(t.Context(), user("hello"))
	if backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "codex 0.42.1 is too old") || !strings.Contains(err.Error(), "npm install") {
		t.Errorf("ended with %v", err)
	}
}

// One that is so old that it does not even serve is asked for its version.
func TestAncient(t *testing.T) {
	s := newSeat(t, "ancient", scene(says("Hello.")), 0)
	_, err := s.say(t.Context(), user("hello"))
	if backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "codex 0.1.0 is too old: Conclave needs 0.160 or newer; npm install") {
		t.Errorf("ended with %v", err)
	}
}

// A program that is not there is named, with the way to get it.
func TestNotThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := seat{codex.New(backend.Program{Provider: "codex", BaseURL: "http://127.0.0.1:1"}, ""), clitest.NewRoom(t)}
	if _, err := s.say(t.Context(), user("hello")); backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "npm install -g @openai/codex") {
		t.Errorf("ended with %v", err)
	}
}

// Floods, notifications and requests nobody knows, and words among the lines are
// no reason to fail.
func TestFloodAndStrangeness(t *testing.T) {
	for _, like := range []string{"flood", "strange"} {
		s := newSeat(t, like, scene(says("Said.")), 0)
		got, err := s.say(t.Context(), user("hello"))
		if err != nil || !strings.HasSuffix(got.Text, "Said.") || like == "flood" && (len(got.Text) < 3<<20 || !strings.Contains(got.Text, "line 2999\n")) {
			t.Errorf("%s: said %d bytes, %v", like, len(got.Text), err)
		}
	}
}

// A server that dies in mid-turn says how; the next turn resumes the thread.
func TestDiesInMidTurn(t *testing.T) {
	s := newSeat(t, "itself", scene(backendtest.Reply{Fail: &backendtest.Failure{Kind: backend.Broken}}), 0)
	for i := range 2 {
		_, err := s.say(t.Context(), user("hello"))
		if backend.KindOf(err) != backend.Broken || !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), "I give up.") {
			t.Fatalf("ended with %v", err)
		}
		if n := len(s.room.Starts()); n != i+1 {
			t.Errorf("%d processes were started", n)
		}
	}
}

// A server that heeds neither an interrupt nor signals is ended all the same.
func TestStubborn(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "stubborn", scene(backendtest.Reply{Parts: says("Wait.").Parts, Hang: true}), 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got error
	for d, err := range s.Turn(ctx, backend.Input{Messages: []backend.Message{user("hello")}}, &clitest.Steward{}) {
		if got = err; d.Text != "" {
			cancel()
		}
	}
	if !errors.Is(got, context.Canceled) {
		t.Errorf("ended with %v", got)
	}
	s.room.NoneLeft(t)
}

// A turn that is over before it was said to have begun is over all the same.
func TestHasty(t *testing.T) {
	s := newSeat(t, "hasty", scene(backendtest.Reply{Parts: says("Done.").Parts, Usage: event.Usage{Input: 7, Output: 3}}), 20*time.Second)
	got, err := s.say(t.Context(), user("hello"))
	if err != nil || got.Text != "Done." || got.Usage.Input != 7 {
		t.Errorf("said %q with %+v, %v", got.Text, got.Usage, err)
	}
}

// Silence ends the turn, and says so. // SR-06
func TestSilence(t *testing.T) {
	s := newSeat(t, "itself", scene(backendtest.Reply{Hang: true}), time.Second)
	_, err := s.say(t.Context(), user("hello"))
	if backend.KindOf(err) != backend.TimedOut || !strings.Contains(err.Error(), "nothing came from codex for 1s") {
		t.Errorf("ended with %v", err)
	}
	if len(s.room.Starts()) != 1 || len(s.room.Left()) == 0 {
		t.Error("a server that was interrupted in time was ended")
	}
}
