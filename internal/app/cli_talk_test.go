package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
)

// host thinks for the agent of a session that is Claude Code: it launches a run when
// it is told to, and else says what it was told.
func hostMind(q ask) backendtest.Reply {
	switch {
	case q.tool && strings.Contains(q.last, `"status":"success"`):
		return claudetest.Say("They have done it.")
	case q.tool:
		return claudetest.Say("I looked: " + q.last)
	case strings.HasPrefix(strings.TrimSpace(q.last), "Launch"):
		return claudetest.Reply(claudetest.Host("launch_run", map[string]string{"task": "Do it.", "agent_mode": "single"}))
	case strings.HasPrefix(strings.TrimSpace(q.last), "Look"):
		return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": "echo seen", "description": "look"}))
	}
	return claudetest.Say("You said: " + strings.TrimSpace(q.last))
}

// SR-01 SR-02 Claude Code as the agent people talk to: it answers, uses a tool of
// its own, launches a run and says what came of it, all in one conversation of its
// own; and somebody else can go on with that.
func TestTalkWithAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program")
	}
	program := clitest.Installed(t, clitest.Claude)
	m := &minds{t: t, sent: map[string][]string{}}
	url := m.claude("host", hostMind)
	t.Setenv("MIXED_KEY", claudetest.Key)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := bare(t, fmt.Sprintf(`
agents:
  - {id: ada, backend: {type: script, script: talker.yaml}}
orchestrator:
  interactive_mode:
    require_approval: false
    backend: {type: claude_code, model: kestrel-4, command: %q, base_url: %q, api_key: "${MIXED_KEY}", env: {CLAUDE_CODE_MAX_RETRIES: "0"}}
`, program, url))
	a.script(t, talkerYAML)
	confined(t, a)
	k := a.talk(t, false).drive()
	for _, tt := range []struct{ say, want string }{
		{"Hello.", "You said: Hello."},
		{"Look around.", "I looked: seen"},
		{"Launch it.", "They have done it."},
		{"And now?", "You said: And now?"},
	} {
		if got := k.words(k.tell(tt.say)); got != tt.want {
			t.Errorf("to %q it says %q, want %q", tt.say, got, tt.want)
		}
	}
	all := m.asked("host")
	for _, before := range []string{"Hello.", "Look around.", "Launch it.", "They have done it."} {
		if !strings.Contains(all[len(all)-1], before) {
			t.Errorf("it does not remember %q", before)
		}
	}
	k.leave()

	// A script takes the session over, and reads what was said.
	team := "agents: [{id: ada, backend: {type: script, script: talker.yaml}}]\norchestrator: {interactive_mode: {require_approval: false, backend: {type: script, script: host.yaml}}}\n"
	if err := os.WriteFile(filepath.Join(a.project, "team.yaml"), []byte(team), 0o600); err != nil {
		t.Fatal(err)
	}
	a.hostScript(t, "name: host\nsteps:\n  - when: {sees: They have done it}\n    do: [{say: I have read it.}]\n  - do: [{say: I know nothing.}]\n")
	k.drive()
	if got := k.words(k.tell("Who are you?")); got != "I have read it." {
		t.Errorf("somebody else says %q", got)
	}
	k.sound()
}
