package codex_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/codex"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
)

const secret = "sk-real-key"

// A real is the real Codex with a model that is a function.
type real struct {
	backend.Backend
	room *clitest.Room

	mu   sync.Mutex
	sent []openaitest.Request
}

// newReal starts a fake provider; Codex itself is started by the first turn, with
// these arguments before all others.
func newReal(t *testing.T, answer openaitest.Answer, args ...string) *real {
	t.Helper()
	program := append([]string{clitest.Installed(t, clitest.Codex)}, args...)
	r := &real{room: clitest.NewRoom(t)}
	srv := httptest.NewServer(openaitest.Handler(func(q openaitest.Request) backendtest.Reply {
		r.mu.Lock()
		r.sent = append(r.sent, q)
		r.mu.Unlock()
		return answer(q)
	}))
	t.Cleanup(srv.Close)
	r.Backend = codex.New(backend.Program{Provider: "codex", Model: "test-model", Command: program, BaseURL: srv.URL + "/v1"}, secret)
	t.Cleanup(func() { _ = r.Backend.(backend.Closer).Close() })
	return r
}

func (r *real) requests() []openaitest.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]openaitest.Request(nil), r.sent...)
}

func (r *real) input(thread string, messages ...backend.Message) backend.Input {
	return backend.Input{System: "You are the agent under test.", Messages: messages, Thread: thread, Room: r.room}
}

func user(text string) backend.Message { return backend.Message{From: backend.User, Text: text} }
func assistant(text string) backend.Message {
	return backend.Message{From: backend.Assistant, Text: text}
}

// last is what the user said last to the model.
func last(q openaitest.Request) string {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].From == "user" {
			return q.Messages[i].Text
		}
	}
	return ""
}

func says(text string) backendtest.Reply {
	return backendtest.Reply{Parts: []backendtest.Part{{Text: text}}}
}

func calls(name, input string) backendtest.Reply {
	return backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: name, Input: input}}}}
}

// Ten turns are taken by one process, with one conversation, and the real key is
// only where it has to be.
func TestTenTurnsInOneProcess(t *testing.T) {
	t.Parallel()
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		return says("You said " + last(q) + ".")
	})
	var talk []backend.Message
	for i := range 10 {
		talk = append(talk, user(fmt.Sprintf("thing %d", i)))
		got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), &clitest.Steward{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("You said thing %d.", i); got.Text != want || got.Stop != "end" {
			t.Fatalf("turn %d said %q and stopped with %q, want %q", i, got.Text, got.Stop, want)
		}
		if got.Usage != (event.Usage{Input: 10, Output: 5}) {
			t.Errorf("turn %d used %+v", i, got.Usage)
		}
		talk = append(talk, assistant(got.Text))
	}
	if n := len(r.room.Starts()); n != 1 {
		t.Errorf("%d processes were started", n)
	}
	sent := r.requests()
	end := sent[len(sent)-1]
	if len(sent) != 10 || end.Turns != 9 || !strings.Contains(end.System, "agent under test") {
		t.Errorf("the model was called %d times, and remembered %d turns: %s", len(sent), end.Turns, end.System)
	}
	if got := end.Header.Get("Authorization"); got != "Bearer "+secret {
		t.Errorf("the model was sent %q", got)
	}
	for _, tool := range end.Tools {
		if tool == "web_search" {
			t.Errorf("tools that nobody can be asked about are offered: %v", end.Tools)
		}
	}
}
