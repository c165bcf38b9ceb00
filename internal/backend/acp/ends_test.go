package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli/clitest"
)

// A turn that falls over, or is closed, in the middle takes nobody with it.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, backend.Backend, backend.Input){
		"falls over": func(t *testing.T, b backend.Backend, in backend.Input) { clitest.FallsOver(t, b, in, false) },
		"closed":     clitest.ClosedInTurn,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t, "itself", backend.Program{Env: map[string]string{sceneVar: sceneOf(t, backendtest.Reply{Parts: []backendtest.Part{{Text: "Wait."}}, Hang: true})}})
			end(t, s.Backend, backend.Input{Room: s.room, Thread: "talk", Messages: []backend.Message{user("hello")}})
		})
	}
}

// sceneOf is a file with a scene.
func sceneOf(t *testing.T, replies ...backendtest.Reply) string {
	t.Helper()
	p, err := json.Marshal(backendtest.Scene{Replies: replies})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "scene")
	if err := os.WriteFile(name, p, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
