package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"conclave/internal/backend/anthropic/anthropictest"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/openai/openaitest"
)

// A mix is of which programs a crew is: that of its leader and that of its members.
type mix struct{ leader, members string }

var (
	claudes   = mix{clitest.Claude, clitest.Claude}
	codexes   = mix{clitest.Codex, clitest.Codex}
	ledByBoth = []mix{{clitest.Claude, clitest.Codex}, {clitest.Codex, clitest.Claude}}
)

func (m mix) String() string { return m.members + " under " + m.leader }

// backendOf is the backend of an agent that is the real program, with a model that is
// a function. Whatever the program, the model is asked, and answers, as one behind
// Claude Code is and does.
func (p *project) backendOf(t *testing.T, program, more string, answer func(claudetest.Request) backendtest.Reply) string {
	t.Helper()
	path := clitest.Installed(t, program)
	if program == clitest.Claude {
		p.env = append(p.env, "CODER_KEY="+claudetest.Key)
		return fmt.Sprintf(`{type: claude_code, model: claude-sonnet-4-5, command: %q, base_url: %q, api_key: "${CODER_KEY}", env: {CLAUDE_CODE_MAX_RETRIES: "0"}%s}`,
			path, claudetest.Serve(t, answer), more)
	}
	srv := httptest.NewServer(openaitest.Handler(func(r openaitest.Request) backendtest.Reply {
		if reply, ok := patient(r); ok {
			return reply
		}
		return asCodex(answer(asClaude(r)))
	}))
	t.Cleanup(srv.Close)
	p.env = append(p.env, "CODEX_KEY="+secret("codex"))
	return fmt.Sprintf(`{type: codex, model: test-model, command: %q, base_url: %q, api_key: "${CODEX_KEY}"%s}`, path, srv.URL+"/v1", more)
}

// asClaude is a request of Codex's as Claude Code would make it, without what Codex
// adds of its own.
func asClaude(r openaitest.Request) claudetest.Request {
	out := claudetest.Request{Path: r.Path, Header: r.Header, Body: r.Body, Sent: r.Sent, Model: r.Model, System: r.System, Tools: r.Tools, Turns: r.Turns}
	for _, m := range r.Messages {
		if m.From == "user" && codexsOwn.MatchString(m.Text) {
			continue
		}
		out.Messages = append(out.Messages, anthropictest.Message(m))
	}
	return out
}

// codexsOwn is what Codex says to its model by itself.
var codexsOwn = regexp.MustCompile(`^<(environment_context|turn_aborted|user_instructions|subagent_notification)>`)

// asCodex is a reply in the words of a model behind Codex.
func asCodex(r backendtest.Reply) backendtest.Reply {
	parts := make([]backendtest.Part, len(r.Parts))
	for i, p := range r.Parts {
		if p.Call != nil {
			p.Call = codexCall(*p.Call)
		}
		parts[i] = p
	}
	r.Parts = parts
	return r
}

func codexCall(c backendtest.Call) *backendtest.Call {
	if name, ours := strings.CutPrefix(c.Name, "mcp__conclave__"); ours {
		return &backendtest.Call{Name: name, Input: c.Input}
	}
	var input struct{ Command string }
	if err := json.Unmarshal([]byte(c.Input), &input); err != nil || c.Name != "Bash" {
		panic("Codex has no " + c.Name)
	}
	return claudetest.Use("exec_command", fields{"cmd": input.Command, "yield_time_ms": 30000}).Call
}

var runsOn = regexp.MustCompile(`Process running with session ID (\d+)`)

// patient has Codex wait for a command that it has stopped waiting for.
func patient(r openaitest.Request) (backendtest.Reply, bool) {
	if len(r.Messages) == 0 {
		return backendtest.Reply{}, false
	}
	last := r.Messages[len(r.Messages)-1]
	m := runsOn.FindStringSubmatch(last.Text)
	if last.From != "tool" || m == nil {
		return backendtest.Reply{}, false
	}
	return claudetest.Reply(claudetest.Use("write_stdin", fields{"session_id": json.Number(m[1]), "chars": "", "yield_time_ms": 30000})), true
}
