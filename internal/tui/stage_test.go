package tui_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/internal/app"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui"
	"conclave/internal/tui/robot"
)

// stage opens a project of its own with a configuration of scripted agents. The
// scripts are files beside it: agent.yaml is there, files has more or others.
func stage(t testing.TB, team string, files map[string]string) *program {
	t.Helper()
	dir := t.TempDir()
	if t, ok := t.(*testing.T); ok {
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		for _, p := range config.Providers() {
			for _, k := range p.Keys {
				t.Setenv(k, "")
			}
		}
	}
	all := map[string]string{"agent.yaml": agentScript, "team.yaml": team}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := app.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &program{App: a, config: filepath.Join(dir, "team.yaml"), ctx: t.Context(), calls: map[event.FlowID]int{}}
	t.Cleanup(p.drivers.Wait)
	return p
}

// Wake has a job driven here, where no process is started by tests. Who is called
// while somebody drives it comes after them.
func (p *program) Wake(_ context.Context, id event.FlowID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[id]++; p.calls[id] > 1 {
		return nil
	}
	p.drivers.Go(func() {
		for {
			p.mu.Lock()
			calls := p.calls[id]
			p.mu.Unlock()
			err := p.Settle(p.ctx, id, false)
			p.mu.Lock()
			if p.calls[id] -= calls; p.calls[id] == 0 || err != nil {
				p.calls[id] = 0
				p.mu.Unlock()
				return
			}
			p.mu.Unlock()
		}
	})
	return nil
}

// program is a project that a window is opened on.
type program struct {
	*app.App
	config string
	// handed is what was to be driven in the background, where no process is
	// started by tests; the error is what comes of it.
	handed []event.FlowID
	refuse error

	// Of jobs that are driven here.
	ctx     context.Context
	drivers sync.WaitGroup
	mu      sync.Mutex
	calls   map[event.FlowID]int
}

func (p *program) Background(_ context.Context, id event.FlowID, _ *control.Run) (int, error) {
	p.handed = append(p.handed, id)
	return 4711, p.refuse
}

// agentScript answers once and votes for the first answer.
const agentScript = `
name: agent
steps:
  - when: {presenting: true}
    do: [{say: "Final: {{.Own}}"}]
  - when: {own: 0}
    do: [{answer: "An answer to {{.Task}}"}]
  - do: [{vote: {for: first, reason: it came first}}]
`

// hangScript works until it is stopped.
const hangScript = `
name: hang
steps:
  - do: [{say: thinking about it}, hang]
`

// pair are two agents who agree.
const pair = `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
  - {id: bob, backend: {type: script, script: agent.yaml}}
`

// A clock is the time of a window, which a test moves.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }
func (c *clock) options(p *program) tui.Options {
	return tui.Options{Program: p, Config: p.config, Now: c.now, Look: control.Look{Theme: "none"}}
}

// sit opens a window on a program for a robot.
func sit(t testing.TB, p *program) (*robot.Robot, *clock) {
	t.Helper()
	c := &clock{}
	return robot.Open(t, c.options(p), 100, 30), c
}

// sessionOf is the newest session.
func sessionOf(t testing.TB, a *program) event.FlowID {
	t.Helper()
	flows, err := a.Flows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flows {
		for e, err := range a.Read(t.Context(), f.ID) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Body.(event.SessionStarted); ok {
				return f.ID
			}
			break
		}
	}
	t.Fatal("there is no session")
	return ""
}

// robotAt is a robot and the clock of its window.
type robotAt struct {
	*robot.Robot
	clock *clock
}
