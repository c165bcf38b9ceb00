package claudecode_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
)

// A roomed backend is given a room with each turn.
type roomed struct {
	backend.Backend
	room backend.Room
}

func (r roomed) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	in.Room = r.room
	return r.Backend.Turn(ctx, in, host)
}

// settle makes a backend that is closed when its test is over.
func settle(t *testing.T, p backend.Program, key string) backend.Backend {
	t.Helper()
	room := clitest.NewRoom(t)
	b := claudecode.New(p, key)
	t.Cleanup(func() {
		if err := b.(backend.Closer).Close(); err != nil {
			t.Error(err)
		}
		room.NoneLeft(t)
	})
	return roomed{b, room}
}

// skipped are scenes that the program's protocol cannot express.
var skipped = map[string]string{
	"error rate_limited":      "the program waits by itself and does not say how long",
	"error truncated":         "the program asks its model again by itself",
	"cut in mid-stream":       "the program asks its model again by itself",
	"cut after a call":        "the program asks its model again by itself",
	"cut before anything":     "the program asks its model again by itself",
	"call with broken JSON":   "the program answers it by itself",
	"call of an unknown tool": "the program answers it by itself",
}

// The whole suite with a program that plays its scenes.
func TestSeam(t *testing.T) {
	backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
		if why := skipped[s.Name]; why != "" {
			t.Skip(why)
		}
		p, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "scene.json")
		if err := os.WriteFile(name, p, 0o600); err != nil {
			t.Fatal(err)
		}
		return settle(t, part(t, "scene", map[string]string{sceneVar: name}), "")
	})
}

// Some of it with the real one, which takes a second to start.
func TestSeamReal(t *testing.T) {
	heavy(t)
	path := clitest.Installed(t, clitest.Claude)
	some := []string{"thinking", "several calls", "error auth", "told to end"}
	backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
		if !slices.Contains(some, s.Name) {
			t.Skip("with a program that plays it")
		}
		scene := anthropictest.Scene(s)
		url := claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply { return hosted(scene(r)) })
		return settle(t, claudetest.Program(path, url), claudetest.Key)
	})
}

// hosted is a reply whose calls have the names that our tools have there.
func hosted(r backendtest.Reply) backendtest.Reply {
	r.Parts = slices.Clone(r.Parts)
	for i, p := range r.Parts {
		if p.Call != nil {
			r.Parts[i] = claudetest.Host(p.Call.Name, json.RawMessage(p.Call.Input))
		}
	}
	return r
}
