package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli/clitest"
)

// A server that introduces itself and then does not begin a conversation is not
// waited for without end.
func TestMute(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scene := filepath.Join(t.TempDir(), "scene")
	if err := os.WriteFile(scene, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := New(backend.Program{
		Provider: "codex", Command: []string{exe}, BaseURL: "http://127.0.0.1:1/v1",
		Env: map[string]string{"CODEX_FAKE": "mute", "CODEX_SCENE": scene},
	}, "").(*agent)
	a.patience = 3 * time.Second
	defer a.Close()
	in := backend.Input{Room: clitest.NewRoom(t), Thread: "talk", Messages: []backend.Message{{From: backend.User, Text: "hello"}}}
	_, err = backend.Collect(a.Turn(t.Context(), in, &clitest.Steward{}), nil)
	if backend.KindOf(err) != backend.TimedOut || !strings.Contains(err.Error(), "thread/start") {
		t.Errorf("ended with %v", err)
	}
}
