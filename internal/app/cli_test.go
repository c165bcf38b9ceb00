package app

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/sandboxtest"
)

// An ask is what the model behind an agent was asked, whatever its protocol.
type ask struct {
	sent  string
	last  string // what was said last, by the user or by a tool
	tool  bool   // by a tool
	tools []string
}

// offers reports whether one of our tools is offered, whatever it is called there.
func (q ask) offers(name string) bool {
	return slices.ContainsFunc(q.tools, func(t string) bool { return t == name || strings.HasSuffix(t, "__"+name) })
}

// A minds is the models of a team: functions, and all they were asked.
type minds struct {
	t    *testing.T
	mu   sync.Mutex
	sent map[string][]string // by agent
}

func (m *minds) keep(agent, sent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent[agent] = append(m.sent[agent], sent)
}

func (m *minds) asked(agent string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent[agent])
}

// claude is the address of a model that Claude Code or a claude backend asks.
func (m *minds) claude(agent string, think func(ask) backendtest.Reply) string {
	return claudetest.Serve(m.t, func(r claudetest.Request) backendtest.Reply {
		m.keep(agent, r.Sent)
		n := len(r.Messages)
		return think(ask{r.Sent, claudetest.Last(r), n > 0 && r.Messages[n-1].From == "tool", r.Tools})
	})
}

// openai is the same of one that Codex or an openai backend asks.
func (m *minds) openai(agent string, think func(ask) backendtest.Reply) string {
	srv := httptest.NewServer(openaitest.Handler(func(r openaitest.Request) backendtest.Reply {
		m.keep(agent, r.Sent)
		n := len(r.Messages)
		return think(ask{r.Sent, r.Messages[n-1].Text, n > 0 && r.Messages[n-1].From == "tool", r.Tools})
	}))
	m.t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

func calling(name string, input any) backendtest.Reply {
	p, _ := json.Marshal(input)
	return backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: name, Input: string(p)}}}}
}

var (
	workspaceIn = regexp.MustCompile(`your workspace, where relative paths begin: (\S+)`)
	favourite   = regexp.MustCompile(`<answer label="(agent\d)\.\d+"[^>]*>\s*The answer of the second`)
)

// member thinks for a member of a run: it makes a file with a tool of its own,
// answers, votes for the second one's answer and presents.
func member(call func(string, any) backendtest.Reply, write func(dir, text string) backendtest.Reply, who string) func(ask) backendtest.Reply {
	return func(q ask) backendtest.Reply {
		switch {
		case q.tool && strings.Contains(q.last, "Taken."):
			return claudetest.Say("Done.")
		case q.tool:
			return call("new_answer", map[string]string{"content": "The answer of the " + who + ", in " + who + ".txt."})
		case !q.offers("new_answer") && !q.offers("vote"):
			return claudetest.Say("The final answer, by the " + who + ".")
		case strings.Contains(q.last, `yours="true"`):
			for_ := favourite.FindStringSubmatch(q.last)
			if for_ == nil {
				return call("vote", map[string]string{"agent_id": "nobody", "reason": "It is not here."})
			}
			return call("vote", map[string]string{"agent_id": for_[1], "reason": "It is the best."})
		}
		return write(workspaceIn.FindStringSubmatch(q.last)[1], who+".txt")
	}
}

// confined skips a test where no sandbox works.
func confined(t *testing.T, a *App) {
	t.Helper()
	if _, _, err := sandbox.Pick(t.Context(), a.sandboxes(), ""); err != nil {
		sandboxtest.Missing(t, err.Error())
	}
}

// SR-04 A model behind an API, Claude Code and Codex work on one task: they answer
// with files, vote and present, and what any of them is sent does not tell who the
// others are.
func TestMixedRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two programs")
	}
	claude, codex := clitest.Installed(t, clitest.Claude), clitest.Installed(t, clitest.Codex)
	m := &minds{t: t, sent: map[string][]string{}}
	host := func(name string, input any) backendtest.Reply { return claudetest.Reply(claudetest.Host(name, input)) }
	urls := []any{
		m.openai("hippolyta", member(calling, func(_, file string) backendtest.Reply {
			return calling("write", map[string]string{"path": file, "content": "made"})
		}, "first")),
		claude, m.claude("mnemosyne", member(host, func(dir, file string) backendtest.Reply {
			return claudetest.Reply(claudetest.Use("Write", map[string]string{"file_path": filepath.Join(dir, file), "content": "made"}))
		}, "second")),
		codex, m.openai("theodosia", member(calling, func(_, file string) backendtest.Reply {
			return calling("exec_command", map[string]any{"cmd": "echo made > " + file})
		}, "third")),
	}
	t.Setenv("MIXED_KEY", claudetest.Key)
	a := bare(t, fmt.Sprintf(`
agents:
  - {id: hippolyta, backend: {type: openai, model: nightjar-9, base_url: %q, api_key: "${MIXED_KEY}"}}
  - {id: mnemosyne, backend: {type: claude_code, model: kestrel-4, command: %q, base_url: %q, api_key: "${MIXED_KEY}", env: {CLAUDE_CODE_MAX_RETRIES: "0"}}}
  - {id: theodosia, backend: {type: codex, model: bittern-7, command: %q, base_url: %q, api_key: "${MIXED_KEY}"}}
orchestrator: {defer_voting_until_all_answered: true, disable_injection: true, max_new_answers_per_agent: 1}
`, urls...))
	confined(t, a)
	run, err := a.Prepare(t.Context(), a.request())
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
	if out.Status != event.StatusSuccess || out.Coordination.Winner != "mnemosyne" || event.Content(out.FinalAnswer).Text != "The final answer, by the second." {
		t.Fatalf("it came to %+v", out)
	}
	for _, f := range checkFlow(t.Context(), a.log, run.ID) {
		t.Error(f)
	}
	// Nobody learns a name that is not for them, nor a key.
	names := map[string][]string{
		"hippolyta": {"hippolyta", "nightjar-9"}, "mnemosyne": {"mnemosyne", "kestrel-4"}, "theodosia": {"theodosia", "bittern-7"},
	}
	for agent := range names {
		all := m.asked(agent)
		if len(all) < 3 {
			t.Errorf("%s was asked %d times", agent, len(all))
		}
		for other, secret := range names {
			for _, sent := range all {
				if other == agent {
					secret = secret[:1] // its own model it may know
				}
				for _, word := range append(secret, claudetest.Key) {
					if strings.Contains(sent, word) {
						t.Errorf("%s is sent %q", agent, word)
					}
				}
				if agent == "hippolyta" && (strings.Contains(strings.ToLower(sent), "claude") || strings.Contains(strings.ToLower(sent), "codex")) {
					t.Error("an agent behind an API is sent what the others are")
				}
			}
		}
	}
	left, err := os.ReadDir(a.state("procs"))
	if err != nil || len(left) > 0 {
		t.Errorf("left running: %v (%v)", left, err)
	}
}
