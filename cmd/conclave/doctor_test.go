package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/proc"
)

// doctor is what the doctor finds, which must come to that exit code.
func (p *project) doctor(t *testing.T, code int, args ...string) []control.Health {
	t.Helper()
	x := p.start(t, append([]string{"doctor", "--json"}, args...)...)
	x.ends(code)
	if strings.Contains(x.everything(), "sk-fake-of-") {
		t.Errorf("the doctor tells a key:\n%s", x.everything())
	}
	var r struct {
		Problems, Warnings int
		Checks             []control.Health
	}
	if err := json.Unmarshal([]byte(x.out.String()), &r); err != nil {
		t.Fatalf("%v\n%s", err, x.everything())
	}
	if (r.Problems > 0) != (code == 1) {
		t.Errorf("%d problems and exit code %d", r.Problems, code)
	}
	return r.Checks
}

// found checks that something was found, and that it says what helps unless it
// is all right.
func found(t *testing.T, all []control.Health, state control.Verdict, area, words string) {
	t.Helper()
	for _, h := range all {
		if h.State == state && h.Area == area && strings.Contains(h.What, words) {
			if state != control.Well && h.Do == "" {
				t.Errorf("%s: %q does not say what helps", area, h.What)
			}
			return
		}
	}
	t.Errorf("not found: %s, %s, %q, in\n%+v", state, area, words, all)
}

// Providers are asked for their models with their keys.
func TestDoctorAsksProviders(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == secret("claude") || r.Header.Get("Authorization") == "Bearer "+secret("groq") || r.Header.Get("X-Goog-Api-Key") == secret("gemini") {
			mu.Lock()
			asked = append(asked, r.Method+" "+r.URL.Path)
			mu.Unlock()
			_, _ = w.Write([]byte(`{"data":[{"id":"a"}]}`))
			return
		}
		http.Error(w, `{"error":{"message":"bad key `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`, http.StatusUnauthorized)
	}))
	t.Cleanup(good.Close)
	away := httptest.NewServer(http.RedirectHandler(good.URL+"/v1/models", http.StatusFound))
	t.Cleanup(away.Close)
	at := func(kind, url string) *provider {
		keys := map[string]string{"claude": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "groq": "GROQ_API_KEY", "gemini": "GEMINI_API_KEY", "mistral": "MISTRAL_API_KEY"}
		return &provider{kind: kind, model: "m", url: url, key: keys[kind]}
	}
	p := bench(t, "", at("claude", good.URL), at("groq", good.URL+"/v1"), at("gemini", good.URL))
	all := p.doctor(t, 0, "--config", "team.yaml")
	for _, kind := range []string{"claude", "groq", "gemini"} {
		found(t, all, control.Well, "providers", kind+" at "+good.URL)
	}
	if got := strings.Join(asked, ", "); !strings.Contains(got, "GET /v1/models") || !strings.Contains(got, "GET /v1beta/models") || len(asked) != 3 {
		t.Errorf("asked for %s", got)
	}
	found(t, all, control.Well, "keys", "GROQ_API_KEY is set (groq)")
	found(t, all, control.Well, "configuration", "team.yaml: valid, 3 agents")

	// Refused, away, gone.
	gone := httptest.NewServer(nil)
	gone.Close()
	p = bench(t, "", at("openai", good.URL+"/v1"), at("mistral", away.URL+"/v1"), at("groq", gone.URL+"/v1"))
	asked = nil
	all = p.doctor(t, 1, "--config", "team.yaml")
	found(t, all, control.Trouble, "providers", "OPENAI_API_KEY was refused by openai")
	found(t, all, control.Trouble, "providers", "mistral answered with a redirection")
	found(t, all, control.Trouble, "providers", "groq cannot be reached")
	if len(asked) != 0 {
		t.Errorf("a key was taken elsewhere: %v", asked)
	}
	all = p.doctor(t, 0, "--config", "team.yaml", "--offline")
	found(t, all, control.Well, "providers", "not asked")

	// A project's own configuration that nobody trusts is sent no key.
	p = bench(t, "", at("claude", good.URL))
	p.write(t, ".conclave/config.yaml", read(t, filepath.Join(p.dir, "team.yaml")))
	p.env = append(p.env, "ANTHROPIC_BASE_URL="+gone.URL)
	all = p.doctor(t, 1)
	found(t, all, control.Trouble, "configuration", "is not known to be yours")
	if len(asked) != 0 {
		t.Errorf("a key was sent to where an unknown file points: %v", asked)
	}
}

// What a killed run leaves behind is found and, if that is wanted, removed.
func TestDoctorFindsLeftovers(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	stuck := make(chan struct{})
	s := serve(t, "claude", func(a ask) backendtest.Reply {
		if a.turns == 0 {
			return call("shell", fields{"command": "true"})
		}
		close(stuck)
		return backendtest.Reply{Hang: true}
	})
	p := bench(t, "", s)
	x := p.start(t, "run", "--config", "team.yaml", "a task")
	<-stuck
	found(t, p.doctor(t, 0, "--offline"), control.Well, "leftovers", "none") // it is being driven
	if err := syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.ends(-1)
	ended := p.orphan(t)

	all := p.doctor(t, 0, "--offline")
	found(t, all, control.Warning, "leftovers", "left by runs that were killed: process ")
	found(t, all, control.Warning, "log", "not finished")
	boxes, _ := filepath.Glob(filepath.Join(p.dir, ".conclave", "boxes", "*"))
	if len(boxes) == 0 {
		t.Error("the run left no box, so nothing is shown here")
	}
	found(t, p.doctor(t, 0, "--offline", "--fix"), control.Well, "leftovers", "removed: process ")
	ended()
	boxes, _ = filepath.Glob(filepath.Join(p.dir, ".conclave", "boxes", "*"))
	if len(boxes) != 0 {
		t.Errorf("still there: %v", boxes)
	}
	found(t, p.doctor(t, 0, "--offline"), control.Well, "leftovers", "none")
}

// orphan is a process whose owner has died. What it returns waits for its end,
// which must not be its own.
func (p *project) orphan(t *testing.T) (ended func()) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of a test that has failed
	child, err := proc.Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	owner := child
	owner.PID, owner.Start = 1<<22, 1
	r, err := json.Marshal(fields{"flow": "run-1", "mark": "none", "owner": owner, "child": child})
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, ".conclave/procs/none.json", string(r))
	return func() {
		if <-done == nil {
			t.Error("the process was left to its end")
		}
	}
}

// What is wrong in the project itself is said with what helps.
func TestDoctorLooksAtTheProject(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	all := p.doctor(t, 0, "--offline")
	found(t, all, control.Warning, "keys", "no key of a model provider is set")
	found(t, all, control.Well, "log", "no runs here yet")
	found(t, all, control.Well, "disk", "left where the project is")
	if _, err := os.Stat(filepath.Join(p.dir, ".conclave")); err == nil {
		t.Error("looking left something behind")
	}

	p.output(t, "run", "-q", "--config", "two.yaml", "a task")
	found(t, p.doctor(t, 0, "--offline"), control.Well, "log", "1 run, sound")
	given := filepath.Join(p.sockets(), "state", "conclave", "permissions", string(event.HashOf([]byte(p.dir)))[:16]+".json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(given), 0o700), os.WriteFile(given, []byte("{broken"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p.write(t, ".conclave/config.yaml", "agents:\n  - {id: a, backend: {type: clade}}\n")
	if err := os.Rename(filepath.Join(p.dir, ".conclave", "conclave.db"), filepath.Join(p.dir, "old.db")); err != nil {
		t.Fatal(err)
	}
	p.write(t, ".conclave/conclave.db", strings.Repeat("not a database ", 100))
	all = p.doctor(t, 1, "--offline")
	found(t, all, control.Trouble, "configuration", `config.yaml:2:29: unknown backend "clade"`)
	found(t, all, control.Trouble, "permissions", given)
	found(t, all, control.Trouble, "log", "damaged")

	// What is missing is missed.
	p = newTeam(t)
	p.env = []string{"PATH=" + t.TempDir()}
	all = p.doctor(t, 1, "--offline")
	found(t, all, control.Trouble, "git", "workspaces need it")
	found(t, all, control.Warning, "ripgrep", "not found")
	found(t, all, control.Well, "sandbox", "bwrap is not installed; only needed for sandbox: bwrap")
	p.write(t, "boxed.yaml", "agents:\n  - {id: ada, backend: {type: claude, shell: {sandbox: bwrap}}}\n")
	all = p.doctor(t, 1, "--offline", "--config", "boxed.yaml")
	found(t, all, control.Trouble, "sandbox", "ada asks for bwrap: bwrap is not installed")
	found(t, all, control.Trouble, "keys", "agent ada: claude needs a key")

	// So is what only a configuration names that is not taken yet.
	found(t, all, control.Well, "codex", "not installed, and nothing here needs it")
	p.write(t, ".conclave/config.yaml", "agents:\n  - {id: cody, backend: {type: codex}}\n")
	found(t, p.doctor(t, 1, "--offline"), control.Warning, "codex", "not installed, and agent cody is one")
}

// Where no run could be kept is a problem, whatever else is in order.
func TestDoctorWantsRoom(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.write(t, ".conclave", "in the way")
	found(t, p.doctor(t, 1, "--offline"), control.Trouble, "project", ".conclave is not a folder")
	p.start(t, "run", "--config", "two.yaml", "a task").ends(1)

	if os.Geteuid() == 0 {
		t.Skip("needs a user who is not root: folders that cannot be written")
	}
	p = newTeam(t)
	p.output(t, "run", "-q", "--config", "two.yaml", "a task")
	for _, dir := range []string{filepath.Join(p.dir, ".conclave", "leases"), filepath.Join(p.dir, ".conclave")} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		found(t, p.doctor(t, 1, "--offline"), control.Trouble, "project", dir+" cannot be written")
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// MCP servers are looked for and not started.
func TestDoctorLooksForServers(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.write(t, "bin/here", "#!/bin/sh\ntouch started\n")
	if err := os.Chmod(filepath.Join(p.dir, "bin", "here"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"ANTHROPIC_API_KEY=sk-fake-of-claude", "PATH=" + filepath.Join(p.dir, "bin") + ":" + os.Getenv("PATH")}
	p.write(t, "served.yaml", `agents:
  - id: ada
    backend:
      type: claude
      mcp_servers:
        - {name: one, command: here, args: [--quiet]}
        - {name: two, command: conclave-no-such-program}
        - {name: three, command: ./bin/none}
        - {name: four, type: streamable-http, url: "https://mcp.example.com/mcp?key=hunter2hunter2"}
        - {name: five, command: elsewhere, env: {PATH: /nowhere}}
`)
	all := p.doctor(t, 1, "--offline", "--config", "served.yaml")
	found(t, all, control.Well, "mcp servers", "one: here (not started here)")
	found(t, all, control.Trouble, "mcp servers", "two of agent ada cannot be started: conclave-no-such-program is not on the PATH")
	found(t, all, control.Trouble, "mcp servers", "three of agent ada cannot be started: ./bin/none is not a program")
	found(t, all, control.Well, "mcp servers", "four: mcp.example.com (")
	found(t, all, control.Trouble, "mcp servers", "elsewhere is not on the PATH")
	if _, err := os.Stat(filepath.Join(p.dir, "started")); err == nil {
		t.Error("a server was started")
	}
}

// An engine that nobody asks for is no failure, and one that is asked for is
// told about in one sentence.
func TestDoctorWithoutDocker(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.env = []string{"ANTHROPIC_API_KEY=sk-fake-of-claude", "DOCKER_HOST=unix://" + filepath.Join(p.dir, "none.sock")}
	found(t, p.doctor(t, 0, "--offline"), control.Well, "sandbox", "docker is not running; only needed for sandbox: docker")
	p.write(t, "boxed.yaml", "agents:\n  - {id: ada, backend: {type: claude, shell: {sandbox: docker, image: debian}}}\n")
	all := p.doctor(t, 1, "--offline", "--config", "boxed.yaml")
	found(t, all, control.Trouble, "sandbox", "ada asks for docker: no answer from Docker at unix://")
	for _, h := range all {
		if strings.Contains(h.What, "dial unix") || len(h.What) > 300 {
			t.Errorf("too much is told: %s", h.What)
		}
	}
}

// A run that starts ends what a killed one has left.
func TestStartTidiesUp(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	ended := p.orphan(t)
	p.write(t, ".conclave/boxes/0123456789abcdef/flow", "run-1")
	p.output(t, "run", "-q", "--config", "two.yaml", "a task")
	ended()
	if boxes, _ := filepath.Glob(filepath.Join(p.dir, ".conclave", "boxes", "*")); len(boxes) != 0 {
		t.Errorf("still there: %v", boxes)
	}
}
