package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
)

// Without a key Claude Code is used as its user has logged it in: it finds the login
// in its room, and nothing else of the user's settings.
func TestProgramLoggedIn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program")
	}
	program := clitest.Installed(t, clitest.Claude)
	user := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", user)
	for name, text := range map[string]string{
		".credentials.json": `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-of-the-user","refreshToken":"x","expiresAt":99999999999999,"scopes":["user:inference"]}}`,
		"settings.json":     "{}",
	} {
		if err := os.WriteFile(filepath.Join(user, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &minds{t: t, sent: map[string][]string{}}
	look := fmt.Sprintf("cat %[1]s/settings.json; touch %[1]s/made; test -r %[1]s/.credentials.json && echo login", user)
	model := claudetest.Handler(func(r claudetest.Request) backendtest.Reply {
		m.keep("ada", r.Sent)
		last := claudetest.Last(r)
		switch {
		case strings.Contains(last, "Taken."):
			return claudetest.Say("Done.")
		case strings.Contains(last, "login"):
			return claudetest.Reply(claudetest.Host("new_answer", map[string]string{"content": last}))
		}
		return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": look, "description": "look"}))
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer sk-ant-oat01-of-the-user" {
			r.Header.Set("X-Api-Key", claudetest.Key)
		}
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	a := bare(t, fmt.Sprintf(`
agents:
  - {id: ada, backend: {type: claude_code, model: m, command: %q, login: true, env: {ANTHROPIC_BASE_URL: %q, CLAUDE_CODE_MAX_RETRIES: "0"}}}
`, program, srv.URL))
	t.Setenv("CLAUDE_CONFIG_DIR", user) // which bare has put elsewhere
	confined(t, a)
	q := a.request()
	q.Quick = true
	run, err := a.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	s, err := a.Open(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	out := s.Result.RunResult()
	if out.Status != event.StatusSuccess || !strings.Contains(event.Content(out.FinalAnswer).Text, "login") {
		t.Errorf("it came to %+v", out)
	}
	if _, err := os.Stat(filepath.Join(user, "made")); err == nil {
		t.Error("an agent writes the user's own settings")
	}
}
