package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
)

// News that a program died of is told again only if it does not tell of it when it
// loads the session. // SR-11
func TestNewsIsToldOnce(t *testing.T) {
	for like, want := range map[string]string{"itself": "Heard 3: " + cli.GoOn, "late": "Alive."} {
		s := newSeat(t, like, backend.Program{})
		steward := &clitest.Steward{OnEnded: func(backend.ToolResult) (string, error) { return "die of BREAKING", nil }}
		if _, err := s.say(t.Context(), steward, user("run make all")); backend.KindOf(err) != backend.Broken {
			t.Fatalf("%s: ended with %v", like, err)
		}
		got, err := s.say(t.Context(), &clitest.Steward{}, user("run make all"), user("die of BREAKING"))
		if err != nil || got.Text != want {
			t.Errorf("%s: then it said %q, %v", like, got.Text, err)
		}
	}
}

// A program that dies of the first words of a session, and has not kept them, tells
// nothing of it: what it never heard it is told. // SR-11
func TestFirstWordsAreNotLost(t *testing.T) {
	s := newSeat(t, "late", backend.Program{})
	if _, err := s.say(t.Context(), &clitest.Steward{}, user("die of it")); backend.KindOf(err) != backend.Broken {
		t.Fatalf("ended with %v", err)
	}
	got, err := s.say(t.Context(), &clitest.Steward{}, user("die of it"))
	if err != nil || got.Text != "Alive." {
		t.Errorf("then it said %q, %v", got.Text, err)
	}
}

// The same for what came with the result of a tool. // SR-11
func TestNewsWithResultIsToldOnce(t *testing.T) {
	for _, like := range []string{"itself", "careless"} {
		call := backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: "lookup", Input: "{}"}}}}
		s := newSeat(t, like, backend.Program{Env: map[string]string{sceneVar: sceneOf(t, backendtest.Reply{}, call, backendtest.Reply{Fail: &backendtest.Failure{Kind: backend.Broken}})}})
		news := "BREAKING\n\nIt broke."
		host := &clitest.Steward{OnCall: func(context.Context, event.ToolCall) backend.ToolResult {
			return backend.ToolResult{Text: "found\n\n" + news, News: news}
		}}
		in := backend.Input{Messages: []backend.Message{user("one")}, Tools: []backend.ToolSpec{{Name: "lookup", Schema: json.RawMessage(`{"type":"object"}`)}}}
		if _, err := backend.Collect(s.Turn(t.Context(), in, host), nil); err != nil {
			t.Fatal(err)
		}
		in.Messages = append(in.Messages, backend.Message{From: backend.Assistant}, user("go"))
		if _, err := backend.Collect(s.Turn(t.Context(), in, host), nil); backend.KindOf(err) != backend.Broken {
			t.Fatalf("%s: ended with %v", like, err)
		}
		in.Messages = append(in.Messages, user(news))
		_, _ = backend.Collect(s.Turn(t.Context(), in, &clitest.Steward{}), nil) // it dies again
		names, _ := filepath.Glob(filepath.Join(s.room.Home(), "s-*"))
		if len(names) != 1 {
			t.Fatalf("%s: the sessions are %v", like, names)
		}
		var kept session
		p, err := os.ReadFile(names[0])
		if err == nil {
			err = json.Unmarshal(p, &kept)
		}
		if all := strings.Join(append(kept.Said, kept.Found...), "\n"); err != nil || strings.Count(all, "BREAKING") != 1 || !strings.HasPrefix(all, "one\ngo\n") {
			t.Errorf("%s: it was told %q, %v", like, all, err)
		}
	}
}
