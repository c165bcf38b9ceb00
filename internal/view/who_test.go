package view_test

import (
	"testing"

	"conclave/internal/view"
)

func TestSpeaker(t *testing.T) {
	for by, want := range map[string]string{"": "you", "you": "you", "conclave team run": "you", "ada": "ada", "conclaves": "conclaves"} {
		if got := view.Speaker(by); got != want {
			t.Errorf("%q has said it: %q, want %q", by, got, want)
		}
	}
}

func TestEngine(t *testing.T) {
	for _, c := range []struct{ backend, model, want string }{
		{"script", "script:leader", "script:leader"},
		{"demo", "script:leader", "demo script:leader"},
		{"claude_code", "", "claude_code"},
		{"claude", "opus", "claude opus"},
		{"", "opus", "opus"},
		{"", "", ""},
	} {
		if got := view.Engine(c.backend, c.model); got != c.want {
			t.Errorf("%q with %q is %q, want %q", c.backend, c.model, got, c.want)
		}
	}
}
