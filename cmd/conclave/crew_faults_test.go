package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
)

// fakeClaude is a Claude Code that speaks the protocol as far as the beginning of a
// turn, and then plays a part.
const fakeClaude = `#!/bin/sh
case "$*" in *--version*) echo '2.1.197 (Claude Code)'; exit;; esac
of() { printf '%%s' "$line" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
while IFS= read -r line; do
	case "$line" in
	*'"type":"control_request"'*)
		printf '{"type":"control_response","response":{"subtype":"success","request_id":"%%s","response":{}}}\n' "$(of request_id)"
		echo '{"type":"control_request","request_id":"theirs","request":{"subtype":"mcp_message","server_name":"conclave","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}}' ;;
	*'"type":"user"'*)
		echo '{"type":"system","subtype":"session_state_changed","state":"running"}'
		echo '{"type":"system","subtype":"init","claude_code_version":"2.1.197","mcp_servers":[{"name":"conclave","status":"connected"}]}'
		printf '{"type":"user","uuid":"%%s","isReplay":true,"message":{"role":"user","content":"x"}}\n' "$(of uuid)"
		%s ;;
	esac
done
`

// fakeWords is something that the fake says, fakeDone that its turn is over.
const (
	fakeWords = `echo '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"And more. "}}}'`
	fakeDone  = `echo '{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","total_cost_usd":0,"usage":{}}'; echo '{"type":"system","subtype":"session_state_changed","state":"idle"}'`
)

// SR-08 SR-07 Whatever the program of a member does, the session goes on: the leader
// is told, decides, and finishes, and nothing of the program is left.
func TestProgramsMisbehave(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	for _, c := range []struct{ name, part, notice, clock string }{
		{"leaves with work pending", "exit 0", event.NoticeLost, ""},
		{"is done, and leaves, with work pending", fakeWords + "; " + fakeDone + "; exit 0", event.NoticeStalled, ""},
		{"is silent", "sleep 1000", event.NoticeLost, ", idle_timeout_seconds: 2"},
		{"floods", "while :; do " + fakeWords + "; done", event.NoticeLost, ", turn_timeout_seconds: 2"},
		{"speaks when it is done", fakeWords + "; " + fakeDone + "; " + fakeWords + "; " + fakeWords + "; " + fakeDone, event.NoticeStalled, ""},
		{"ignores every signal and has grandchildren", `trap '' INT TERM HUP; setsid sh -c 'trap "" INT TERM HUP; setsid sleep 1000 & sleep 1000' & while :; do sleep 1000; done`, event.NoticeLost, ", idle_timeout_seconds: 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := pair(t, "max_attempts: 1, max_idle: 2", "steps: []\n")
			t.Cleanup(func() { endDrivers(p.dir) })
			program := p.write(t, "bin/claude", fmt.Sprintf(fakeClaude, c.part))
			if err := os.Chmod(program, 0o755); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(p.dir, "team.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p.write(t, "team.yaml", strings.Replace(string(text), "{type: script, script: other.yaml}",
				fmt.Sprintf(`{type: claude_code, command: %q, base_url: "http://127.0.0.1:1"%s}`, program, c.clock), 1))
			p.write(t, "lead.yaml", strings.Replace(leadYAML, "  - when: {reply: 1}\n", `  - when: {reply: 1, said: '(?s)other has stopped.*\[done\] one, '}
    do:
      - tool: {name: merge, input: {member: able}}
      - tool: {name: finish, input: {summary: "Half of it is done; other does not go on.", deliverables: [one.md], abandon: Nobody else can do it.}}
  - when: {reply: 1}
`, 1))
			x := p.start(t, "team", "run", "team.yaml", "a task")
			x.ends(0)
			v := p.team(t, "team-")
			told := false
			for _, e := range p.events(t, string(v.ID)) {
				if n, ok := e.Body.(event.Notified); ok && n.About == "other" && n.To == "leader" {
					told = told || n.Code == c.notice
				}
			}
			if v.Ended == nil || v.Ended.Status != event.StatusSuccess || !told {
				t.Errorf("the leader was told: %v; it ended as %+v\n%s", told, v.Ended, x.everything())
			}
			p.sound(t)
			p.nobodyLeft(t)
			p.quiet(t)
			p.unmarked(t, v.ID)
		})
	}
}
