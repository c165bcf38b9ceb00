package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/codex"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// What every CLI agent is given here.
const (
	cliSystem = "You are an agent that is measured."
	cliKey    = claudetest.Key
)

// A cliKind is a program that is an agent of its own: where it is found, how ours
// is made, and how it is spoken with by hand.
type cliKind struct {
	name, program, inside string
	serve                 func(asked func() backendtest.Reply) http.Handler
	open                  func(path, url string) backend.Backend
	path                  string // of the server's address
	greet                 func(*hand) error
	say                   func(*hand, string) error
	direct                func(from, home, url string, env []string) ([]string, error)
}

var cliKinds = []cliKind{{
	name: "Claude Code", program: "claude", inside: "@anthropic-ai/claude-code-*-*/claude",
	serve: func(asked func() backendtest.Reply) http.Handler {
		return claudetest.Handler(func(claudetest.Request) backendtest.Reply { return asked() })
	},
	open:  func(path, url string) backend.Backend { return claudecode.New(claudetest.Program(path, url), cliKey) },
	greet: greetClaude, say: sayClaude, direct: directClaude,
}, {
	name: "Codex", program: "codex", inside: "@openai/codex-*-*/vendor/*/bin/codex", path: "/v1",
	serve: func(asked func() backendtest.Reply) http.Handler {
		return openaitest.Handler(func(openaitest.Request) backendtest.Reply { return asked() })
	},
	open: func(path, url string) backend.Backend {
		return codex.New(backend.Program{Provider: "codex", Model: "test-model", Command: []string{path}, BaseURL: url}, cliKey)
	},
	greet: greetCodex, say: sayCodex, direct: directCodex,
}}

// skipped is the row of what cannot be measured here.
func skipped(what, why string) row { return row{what: what, ours: "not measured: " + why} }

// each measures all CLI agents that are installed: the real programs, with a model
// on the loopback that takes no time.
func each(f func(ctx context.Context, dir string, k cliKind, path string) ([]row, error)) func(context.Context, string) ([]row, error) {
	return func(ctx context.Context, dir string) ([]row, error) {
		var rows []row
		for _, k := range cliKinds {
			path := installed(k.program, k.inside)
			if path == "" {
				rows = append(rows, skipped(k.name, k.program+" is not installed (make deps)"))
				continue
			}
			r, err := f(ctx, dir, k, path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			rows = append(rows, r...)
		}
		return rows, nil
	}
}

// allows is a host that lets the program do what it wants.
type allows struct{}

func (allows) Call(_ context.Context, c event.ToolCall) backend.ToolResult {
	return backend.ToolResult{Call: c.ID, Name: c.Name, Text: "ok"}
}
func (allows) Permit(context.Context, event.ToolCall, policy.Action) (bool, string, error) {
	return true, "", nil
}
func (allows) Began(context.Context, event.ToolCall) error               { return nil }
func (allows) Ended(context.Context, backend.ToolResult) (string, error) { return "", nil }

// A guest is a CLI agent of ours in a hall, and what was said with it.
type guest struct {
	backend.Backend
	hall *hall
	room backend.Room // the hall itself, or something around it
	talk []backend.Message
}

func newGuest(dir string, k cliKind, path, url string) (*guest, error) {
	h, err := newHall(dir)
	return &guest{Backend: k.open(path, url), hall: h, room: h}, err
}

// say takes a turn.
func (g *guest) say(ctx context.Context, text string) error {
	g.talk = append(g.talk, backend.Message{From: backend.User, Text: text})
	r, err := backend.Collect(g.Turn(ctx, backend.Input{System: cliSystem, Messages: g.talk, Thread: "talk", Room: g.room}, allows{}), nil)
	g.talk = append(g.talk, backend.Message{From: backend.Assistant, Text: r.Text})
	return err
}

func (g *guest) close() {
	_ = g.Backend.(backend.Closer).Close()
	g.hall.set.Close()
}

const cliWords = "And what do you think of that?"

// cliTurns compares a turn with the same lines written to the same program by
// hand: what is over that is ours. Both programs run all the time, and each is
// asked by turns, so that both conversations are equally long.
func cliTurns(ctx context.Context, dir string, k cliKind, path string) ([]row, error) {
	srv := httptest.NewServer(k.serve(func() backendtest.Reply { return claudetest.Say("Nothing in particular.") }))
	defer srv.Close()
	g, err := newGuest(dir, k, path, srv.URL+k.path)
	if err != nil {
		return nil, err
	}
	defer g.close()
	if err := g.say(ctx, cliWords); err != nil {
		return nil, err
	}
	x, err := takeHand(ctx, k, g.hall, srv.URL+k.path)
	if err != nil {
		return nil, err
	}
	defer x.kill()
	if err := errors.Join(k.greet(x), k.say(x, cliWords)); err != nil {
		return nil, err
	}
	f, o, err := byTurns(few(41), func() error { return k.say(x, cliWords) }, func() error { return g.say(ctx, cliWords) })
	if err != nil {
		return nil, err
	}
	return []row{over("a turn of "+k.name+", no model latency", "the same lines by hand", f, o, 20*time.Millisecond)}, nil
}

// cancelOver is how much longer than the programs themselves an end may take.
const cancelOver = 250 * time.Millisecond

// cliCancel has three Claude Codes at work, each with a command of its own that
// would take ten minutes, and ends them all: until no process is left. The floor
// is the same by hand: the program is interrupted, and when it has heard that its
// input is closed, and it ends.
func cliCancel(ctx context.Context, dir string) ([]row, error) {
	const what = "cancelled, until 3 Claude Codes at work are dead, with their commands"
	k := cliKinds[0]
	path := installed(k.program, k.inside)
	if path == "" {
		return []row{skipped(what, k.program+" is not installed (make deps)")}, nil
	}
	srv := httptest.NewServer(k.serve(func() backendtest.Reply {
		return claudetest.Reply(claudetest.Use("Bash", fields{"command": "sleep 600", "description": "wait"}))
	}))
	defer srv.Close()
	var floors, ours []time.Duration
	orphans := 0
	for range few(5) {
		o, left, halls, err := cancelOurs(ctx, dir, k, path, srv.URL)
		if err != nil {
			return nil, err
		}
		f, err := cancelByHand(ctx, k, halls, srv.URL)
		if err != nil {
			return nil, err
		}
		orphans += left
		floors, ours = append(floors, f), append(ours, o)
	}
	r := over(what, "interrupted and closed by hand", middle(floors), middle(ours), cancelOver)
	r.ours += fmt.Sprintf(", %d orphans", orphans)
	r.budget += ", 0 orphans"
	r.ok = r.ok && orphans == 0
	return []row{r}, nil
}

const cancelled = 3

// cancelOurs returns how long it took, and how many processes were left.
func cancelOurs(ctx context.Context, dir string, k cliKind, path, url string) (time.Duration, int, []*hall, error) {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	var halls []*hall
	var all []*guest
	var wg sync.WaitGroup
	for range cancelled {
		g, err := newGuest(dir, k, path, url)
		if err != nil {
			return 0, 0, nil, err
		}
		defer g.hall.set.Close()
		all, halls = append(all, g), append(halls, g.hall)
		wg.Go(func() { _ = g.say(work, cliWords) })
	}
	for _, h := range halls {
		if err := asleep(ctx, h.flow); err != nil {
			return 0, 0, nil, err
		}
	}
	begin := time.Now()
	cancel()
	for _, g := range all {
		wg.Go(func() { _ = g.Backend.(backend.Closer).Close() })
	}
	wg.Wait()
	took, left := time.Since(begin), 0
	for _, h := range halls {
		left += len(marked(h.flow))
	}
	return took, left, halls, nil
}

// asleep waits until the command of a program runs.
func asleep(ctx context.Context, id event.FlowID) error {
	ctx, leave := context.WithTimeout(ctx, time.Minute)
	defer leave()
	for {
		for _, pid := range marked(id) {
			if p, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(p) == "sleep\n" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("the program does not run its command")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// cancelByHand is the floor of cancelOurs.
func cancelByHand(ctx context.Context, k cliKind, halls []*hall, url string) (time.Duration, error) {
	var all []*hand
	defer func() {
		for _, x := range all {
			x.kill()
		}
	}()
	for _, h := range halls {
		x, err := takeHand(ctx, k, h, url)
		if err != nil {
			return 0, err
		}
		all = append(all, x)
		if err := errors.Join(k.greet(x), x.send(fields{"type": "user", "uuid": uuid(), "message": fields{"role": "user", "content": cliWords}}), x.permit()); err != nil {
			return 0, err
		}
		if err := asleep(ctx, x.flow); err != nil {
			return 0, err
		}
	}
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	begin := time.Now()
	for i, x := range all {
		wg.Go(func() {
			err := x.send(fields{"type": "control_request", "request_id": "stop", "request": fields{"subtype": "interrupt"}})
			if errs[i] = errors.Join(err, x.idle()); errs[i] == nil {
				_ = x.end() // however it ends
			}
		})
	}
	wg.Wait()
	return time.Since(begin), errors.Join(errs...)
}

// permit allows what the program asks for first.
func (x *hand) permit() error {
	var asked heard
	if err := x.until(func(l heard) bool { asked = l; return l.Request.Subtype == "can_use_tool" }); err != nil {
		return err
	}
	return x.send(fields{"type": "control_response", "response": fields{"subtype": "success", "request_id": asked.Asked,
		"response": fields{"behavior": "allow", "updatedInput": asked.Request.Input}}})
}
