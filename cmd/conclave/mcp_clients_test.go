package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend/backendtest"
)

// delegates is a mind that has a run launched until it has the run's result, and
// then says what came of it. Side questions of its program it answers with a word.
func delegates(a ask) backendtest.Reply {
	tool := ""
	for _, name := range a.tools {
		switch {
		case strings.HasSuffix(name, "launch_run"):
			tool = name
		case name == "mcp__conclave": // all of a server, as Codex has it
			tool = name + ":launch_run"
		}
	}
	switch {
	case tool == "":
		return say("ok")
	case strings.Contains(a.sent, "the answer is 42"):
		return say("It came to 42.")
	case a.turns > 20:
		return say("I give up.")
	}
	return call(tool, task)
}

// server is our server in the configuration of Claude Code.
func (o *office) server(t *testing.T) map[string]any {
	t.Helper()
	command, args := o.stdio(t)
	return map[string]any{"type": "stdio", "command": command, "args": args, "env": o.environment()}
}

func (o *office) remote(t *testing.T) map[string]any {
	t.Helper()
	url, token, _ := o.listen(t)
	return map[string]any{"type": "http", "url": url, "headers": map[string]string{"Authorization": "Bearer " + token}}
}

// ask has Claude Code connected, and says something to it.
func (l *lines) ask(text string) {
	l.t.Helper()
	for n := 0; ; n++ {
		l.say(map[string]any{"type": "control_request", "request_id": fmt.Sprint(n), "request": map[string]any{"subtype": "mcp_status"}})
		r, _ := json.Marshal(l.until(func(v map[string]any) bool { return v["type"] == "control_response" }))
		if strings.Contains(string(r), `"status":"connected"`) {
			break
		}
		if !strings.Contains(string(r), `"status":"pending"`) {
			l.t.Fatalf("the server is not connected: %s", r)
		}
	}
	l.say(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

func isResult(v map[string]any) bool { return v["type"] == "result" }

// A real Claude Code launches a run over a pipe and over HTTP, and has its result.
// DZ-03 IM-02.2
func TestClaudeCodeLaunches(t *testing.T) {
	t.Parallel()
	npm(t)
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, false)
			server := o.server
			if way == "http" {
				server = o.remote
			}
			cmd, _ := claude(t, delegates, server(t))
			l := talk(t, cmd)
			l.ask("What is six times seven? Have a run find out.")
			<-o.asked
			o.answer <- "the answer is 42"
			if r := l.until(isResult); r["result"] != "It came to 42." {
				t.Errorf("it said %v", r["result"])
			}
			if got := o.states(t); got != "success" {
				t.Errorf("the runs: %s", got)
			}
		})
	}
}

// A real Claude Code over HTTP waits through a run of two and a half minutes. It
// gives up after a minute in which it hears nothing, so it has heard of us.
func TestClaudeCodeWaitsLong(t *testing.T) {
	t.Parallel()
	npm(t)
	long := 150 * time.Second
	if raceEnabled {
		long = 3 * time.Second
	}
	o := newOffice(t, false)
	cmd, _ := claude(t, delegates, o.remote(t))
	l := talk(t, cmd)
	l.ask("What is six times seven? Have a run find out.")
	<-o.asked
	begun := time.Now()
	<-time.After(long)
	go func() { // its provider may have been asked more than once meanwhile
		for {
			select {
			case o.answer <- "the answer is 42":
			case <-t.Context().Done():
				return
			}
		}
	}()
	if r := l.until(isResult); r["result"] != "It came to 42." || time.Since(begun) < long {
		t.Errorf("after %s it said %v", time.Since(begun), r["result"])
	}
	if got := o.states(t); got != "success" {
		t.Errorf("the runs: %s", got)
	}
}

// A client that has lost its patience finds its run again, and none is launched
// twice.
func TestClaudeCodeRejoins(t *testing.T) {
	t.Parallel()
	npm(t)
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, false)
			server := o.server
			if way == "http" {
				server = o.remote
			}
			impatient := make(chan struct{}, 100)
			cmd, _ := claude(t, func(a ask) backendtest.Reply {
				if a.turns > 0 && strings.Contains(a.sent, "timed out") {
					impatient <- struct{}{}
				}
				return delegates(a)
			}, server(t), "MCP_TOOL_TIMEOUT=2000")
			l := talk(t, cmd)
			l.ask("What is six times seven? Have a run find out.")
			<-o.asked
			<-impatient // and calls again
			o.answer <- "the answer is 42"
			if r := l.until(isResult); r["result"] != "It came to 42." {
				t.Errorf("it said %v", r["result"])
			}
			if got := o.states(t); got != "success" {
				t.Errorf("the runs: %s", got)
			}
		})
	}
}

// A user who interrupts Claude Code ends the run.
func TestClaudeCodeCancels(t *testing.T) {
	t.Parallel()
	npm(t)
	o := newOffice(t, false)
	cmd, _ := claude(t, delegates, o.server(t))
	l := talk(t, cmd)
	l.ask("What is six times seven? Have a run find out.")
	<-o.asked
	l.say(map[string]any{"type": "control_request", "request_id": "stop", "request": map[string]any{"subtype": "interrupt"}})
	l.until(isResult)
	o.over(t)
	if got := o.states(t); got != "cancelled" {
		t.Errorf("the runs: %s", got)
	}
}

// over waits for the end of the only run.
func (o *office) over(t *testing.T) {
	t.Helper()
	for {
		runs := o.runs(t)
		if len(runs) != 1 {
			t.Fatalf("the runs: %v", runs)
		}
		if runs[0].Status != "" {
			return
		}
		o.start(t, "log", "--follow", runs[0].ID).readers.Wait() // a minute at most
	}
}

// codex has a real Codex work on a prompt to its end, and gives what it printed.
func codex(t *testing.T, m mind, server string, env ...string) *exec.Cmd {
	t.Helper()
	s := serve(t, "openai", m)
	home := t.TempDir()
	write(t, filepath.Join(home, "config.toml"), fmt.Sprintf(`check_for_update_on_startup = false
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = %q
wire_api = "responses"
env_key = "FAKE_API_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[features]
plugins = false
apps = false
[mcp_servers.conclave]
%s
`, s.url, server))
	binary, err := filepath.Glob(filepath.Join(npm(t), "@openai", "codex-linux-x64", "vendor", "*", "bin", "codex"))
	if err != nil || len(binary) != 1 {
		t.Fatalf("there is no codex: %v %v", binary, err)
	}
	cmd := exec.Command(binary[0], "exec", "--json", "--skip-git-repo-check", "What is six times seven? Have a run find out.")
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CODEX_HOME=" + home, "FAKE_API_KEY=dummy"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// toml is our server in the configuration of Codex.
func (o *office) toml(t *testing.T) string {
	t.Helper()
	command, args := o.stdio(t)
	list, _ := json.Marshal(args)
	var env []string
	for k, v := range o.environment() {
		env = append(env, fmt.Sprintf("%q = %q", k, v))
	}
	return fmt.Sprintf("command = %q\nargs = %s\nenv = { %s }", command, list, strings.Join(env, ", "))
}

// A real Codex launches a run over a pipe and over HTTP, and has its result.
// DZ-03
func TestCodexLaunches(t *testing.T) {
	t.Parallel()
	npm(t)
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, false)
			var cmd *exec.Cmd
			if way == "stdio" {
				cmd = codex(t, delegates, o.toml(t))
			} else {
				url, token, _ := o.listen(t)
				cmd = codex(t, delegates, fmt.Sprintf("url = %q\nbearer_token_env_var = \"TOKEN\"", url), "TOKEN="+token)
			}
			l := talk(t, cmd)
			l.in.Close()
			<-o.asked
			o.answer <- "the answer is 42"
			l.until(func(v map[string]any) bool {
				p, _ := json.Marshal(v["item"])
				return strings.Contains(string(p), "It came to 42.")
			})
			if got := o.states(t); got != "success" {
				t.Errorf("the runs: %s", got)
			}
		})
	}
}

// A Codex that has lost its patience finds its run again.
func TestCodexRejoins(t *testing.T) {
	t.Parallel()
	npm(t)
	o := newOffice(t, false)
	impatient := make(chan struct{}, 100)
	cmd := codex(t, func(a ask) backendtest.Reply {
		if a.turns > 0 && strings.Contains(a.sent, "tool call failed for") {
			impatient <- struct{}{}
		}
		return delegates(a)
	}, o.toml(t)+"\ntool_timeout_sec = 2")
	l := talk(t, cmd)
	l.in.Close()
	<-o.asked
	<-impatient
	o.answer <- "the answer is 42"
	l.until(func(v map[string]any) bool {
		p, _ := json.Marshal(v["item"])
		return strings.Contains(string(p), "It came to 42.")
	})
	if got := o.states(t); got != "success" {
		t.Errorf("the runs: %s", got)
	}
}

// A user who interrupts Codex ends the run. It says no more than that nobody listens
// any longer, so the run goes on for a minute in case its model comes back.
func TestCodexCancels(t *testing.T) {
	t.Parallel()
	npm(t)
	o := newOffice(t, false)
	cmd := codex(t, delegates, o.toml(t))
	cmd.Args = []string{cmd.Path, "app-server"}
	l := talk(t, cmd)
	said := func(id int) map[string]any {
		t.Helper()
		v, _ := l.until(func(v map[string]any) bool { return v["id"] == float64(id) })["result"].(map[string]any)
		return v
	}
	named := func(v map[string]any, what string) any { w, _ := v[what].(map[string]any); return w["id"] }
	l.say(fields{"id": 1, "method": "initialize", "params": fields{"clientInfo": fields{"name": "tester", "title": "tester", "version": "1"}}})
	said(1)
	l.say(fields{"method": "initialized"})
	l.say(fields{"id": 2, "method": "thread/start", "params": fields{"cwd": cmd.Dir}})
	thread := named(said(2), "thread")
	l.say(fields{"id": 3, "method": "turn/start", "params": fields{"threadId": thread, "input": []any{
		fields{"type": "text", "text": "What is six times seven? Have a run find out.", "text_elements": []any{}},
	}}})
	turn := named(said(3), "turn")
	<-o.asked
	l.say(fields{"id": 4, "method": "turn/interrupt", "params": fields{"threadId": thread, "turnId": turn}})
	l.until(func(v map[string]any) bool { return v["method"] == "turn/completed" })
	o.over(t)
	if got := o.states(t); got != "cancelled" {
		t.Errorf("the runs: %s", got)
	}
}
