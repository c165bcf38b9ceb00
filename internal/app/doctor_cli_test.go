package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/control"
)

// The doctor says of programs that could not be used why, and what to do.
func TestDoctorPrograms(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	t.Setenv("CODEX_HOME", t.TempDir())
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, text, says, do string }{
		{"claude", "#!/bin/sh\necho '1.0.0 (Claude Code)'\n", "claude 1.0.0 is too old: Conclave needs 2.1 or newer", "npm install -g @anthropic-ai/claude-code@latest"},
		{"codex", "#!/bin/sh\necho codex-cli 0.1.0\n", "codex 0.1.0 is too old: Conclave needs 0.160 or newer", "npm install -g @openai/codex@latest"},
		{"claude", "echo native binary not installed\n", "is no program of this machine", "install it again: npm install -g @anthropic-ai/claude-code"},
		{"claude", "#!/bin/sh\necho native binary not installed >&2; exit 1\n", "exit status 1: native binary not installed", "install it again: npm install -g"},
		{"claude", "#!/bin/sh\necho 2.1.197\n", "2.1.197, neither logged in nor with a key", "run claude in a terminal once and log in, or set CLAUDE_CODE_API_KEY or ANTHROPIC_API_KEY"},
		{"codex", "#!/bin/sh\necho codex-cli 0.166.0\n", "codex-cli 0.166.0, neither logged in nor with a key", "run codex login in a terminal once, or set "},
	} {
		put(c.name, c.text)
		x := &checkup{}
		x.agentPrograms(t.Context())
		for _, h := range x.out {
			if h.Area == c.name && (h.State != control.Warning || !strings.Contains(h.What, c.says) || !strings.Contains(h.Do, c.do)) {
				t.Errorf("of %q it says %+v", c.text, h)
			}
		}
	}
	put("claude", "#!/bin/sh\necho '1.0.0 (Claude Code)'\n")
	x := &checkup{}
	x.configured(t.Context(), config.Agent{ID: "ada", CLI: backend.Program{Provider: "claude_code", BaseURL: "http://127.0.0.1:1"}})
	if len(x.out) != 1 || x.out[0].State != control.Trouble || !strings.Contains(x.out[0].What, "agent ada: claude 1.0.0 is too old") {
		t.Errorf("of an agent that is configured it says %+v", x.out)
	}
}
