package claudecode_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// faults are the parts of a program that does what it should not.
var faults = map[string]func(f *fake, halt <-chan struct{}){
	"garbled": func(f *fake, halt <-chan struct{}) {
		f.raw("npm warn: this is no protocol\n\n")
		f.raw(`{"type":"assistant","message":{"content":[{"ty` + "\n")
		<-halt
	},
	"noise": func(f *fake, _ <-chan struct{}) {
		f.raw("npm warn: this is no protocol\n   \n\n")
		f.raw(`{"type":"of tomorrow","uuid":7,"message":[1]}` + "\n" + `{"type":["?"],"is_error":"yes"}` + "\n")
		f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: "Heard."}}})
		f.result(nil)
	},
	"long": func(f *fake, _ <-chan struct{}) {
		f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: strings.Repeat("x", 5<<20)}}})
		f.result(nil)
	},
	"dies": func(f *fake, _ <-chan struct{}) {
		f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: "I was"}}})
		fmt.Fprintln(os.Stderr, "RangeError: out of everything")
		os.Exit(7)
	},
	"leaves": func(f *fake, _ <-chan struct{}) { os.Exit(0) },
	"hangs":  func(f *fake, halt <-chan struct{}) { <-halt; f.result(object{"is_error": true}) },
	"floods": func(f *fake, halt <-chan struct{}) {
		for {
			select {
			case <-halt:
				f.result(object{"is_error": true})
				return
			default:
				f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: strings.Repeat("flood ", 1000)}}})
			}
		}
	},
	// Nothing ends it, nor what it has started, but KILL.
	"stubborn": func(f *fake, _ <-chan struct{}) {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		c := exec.Command("sh", "-c", `trap "" INT TERM HUP; setsid sh -c 'trap "" INT TERM HUP; sleep 1000' & wait`)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			panic(err)
		}
		f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: "Try."}}})
		select {}
	},
	"late": func(f *fake, _ <-chan struct{}) {
		f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: "Done."}}})
		f.result(nil)
		f.state("idle")
		for range 1000 {
			f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: "One more thing."}}})
		}
		f.result(object{"is_error": true})
		f.ask(object{"subtype": "can_use_tool", "tool_name": "Bash", "input": object{"command": "rm -rf ."}})
	},
	"old":  func(f *fake, halt <-chan struct{}) { <-halt },
	"deaf": func(f *fake, _ <-chan struct{}) { f.result(nil) },
	"asks": func(f *fake, _ <-chan struct{}) {
		f.mcp("tools/call", object{"name": "lookup", "arguments": object{}})
		f.result(nil)
	},
	"uses": func(f *fake, halt <-chan struct{}) {
		block := func(kind string, b object) {
			f.print(object{"type": kind, "message": object{"id": "m", "content": []object{b}}})
		}
		block("assistant", object{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": object{"command": "date"}})
		f.ask(object{"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "toolu_1", "input": object{"command": "date"}})
		block("user", object{"type": "tool_result", "tool_use_id": "toolu_1", "content": "noon"})
		f.result(nil)
	},
	"refused": func(f *fake, halt <-chan struct{}) {
		f.print(object{"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": 401, "error": "authentication_failed"})
		<-halt
	},
	"stranger": func(f *fake, _ <-chan struct{}) {
		f.result(object{"is_error": true, "result": "Not logged in · Please run /login"})
	},
	"patient": func(f *fake, _ <-chan struct{}) {
		f.print(object{"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": 529, "error": "overloaded"})
		f.print(object{"type": "system", "subtype": "api_retry", "attempt": 2, "error_status": nil, "error": "unknown"})
		f.speak(backendtest.Reply{Parts: []backendtest.Part{{Text: "At last."}}})
		f.result(nil)
	},
	"fails": func(f *fake, _ <-chan struct{}) { f.fail(backend.Overloaded) },
}

// part is a program that plays a part.
func part(t testing.TB, name string, more map[string]string) backend.Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{partVar: name, "GORACE": "atexit_sleep_ms=0"}
	for k, v := range more {
		env[k] = v
	}
	return backend.Program{Provider: "claude_code", Command: []string{self}, BaseURL: "http://127.0.0.1:1", Env: env}
}

// take is one turn of a program in a room, which is closed then.
func take(t *testing.T, p backend.Program, host backend.ToolHost, live func(backend.Delta)) (backend.Reply, error) {
	t.Helper()
	room := clitest.NewRoom(t)
	b := claudecode.New(p, "")
	in := backend.Input{Thread: "t", Room: room, Tools: tools, Messages: []backend.Message{{From: backend.User, Text: "Begin."}}}
	r, err := backend.Collect(b.Turn(t.Context(), in, host), live)
	if err := b.(backend.Closer).Close(); err != nil {
		t.Error(err)
	}
	room.NoneLeft(t)
	return r, err
}

// Whatever the program does, the turn ends, says what happened, and leaves nothing
// behind. // SR-08
func TestFaults(t *testing.T) {
	t.Parallel()
	idle := event.Duration(3 * time.Second)
	for _, c := range []struct {
		part string
		text string
		kind backend.ErrorKind // empty if the turn is whole
		says string
		set  func(*backend.Program)
	}{
		{part: "noise", text: "Heard."},
		{part: "long", text: strings.Repeat("x", 5<<20)},
		{part: "late", text: "Done."},
		{part: "garbled", kind: backend.Garbled, says: "cannot be read"},
		{part: "dies", text: "I was", kind: backend.Broken, says: "exit code 7; it complained: RangeError: out of everything"},
		{part: "leaves", kind: backend.Broken, says: "exit code 0"},
		{part: "hangs", kind: backend.TimedOut, says: "nothing came from claude for 3s", set: func(p *backend.Program) { p.Idle = idle }},
		{part: "stubborn", text: "Try.", kind: backend.TimedOut, says: "nothing came", set: func(p *backend.Program) { p.Idle = idle }},
		{part: "old", kind: backend.Invalid, says: "claude 2.0.14 is too old: Conclave needs 2.1 or newer; npm install"},
		{part: "ancient", kind: backend.Invalid, says: "claude 1.0.3 is too old: Conclave needs 2.1 or newer; npm install"},
		{part: "refused", kind: backend.Auth, says: "a request without a key (set SOME_KEY) was refused by 127.0.0.1:1", set: func(p *backend.Program) { p.Key.Env = []string{"SOME_KEY"} }},
		{part: "stranger", kind: backend.Auth, says: "run claude in a terminal once and log in, or set ANTHROPIC_API_KEY in the environment (it says: Not logged in)", set: func(p *backend.Program) { p.BaseURL = "" }},
		{part: "stub", kind: backend.Invalid, says: "claude does not run as it is installed (Error: claude native binary not installed); install it again: npm install"},
		{part: "deaf", kind: backend.Broken, says: "without confirming what it was told"},
	} {
		t.Run(c.part, func(t *testing.T) {
			t.Parallel()
			p := part(t, c.part, nil)
			if c.set != nil {
				c.set(&p)
			}
			r, err := take(t, p, &clitest.Steward{}, nil)
			if r.Text != c.text {
				t.Errorf("it said %.40q", r.Text)
			}
			if c.kind == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || backend.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the turn ended with %v, want %s %q", err, c.kind, c.says)
			}
		})
	}
}

// A program that never stops talking is cut when nobody listens, and when its turn
// has taken too long.
func TestFlood(t *testing.T) {
	t.Parallel()
	t.Run("left", func(t *testing.T) {
		room := clitest.NewRoom(t)
		b := claudecode.New(part(t, "floods", nil), "")
		defer b.(backend.Closer).Close()
		in := backend.Input{Thread: "t", Room: room, Messages: []backend.Message{{From: backend.User, Text: "Begin."}}}
		for d, err := range b.Turn(t.Context(), in, &clitest.Steward{}) {
			if err != nil || d.Text == "" {
				t.Errorf("got %+v, %v", d, err)
			}
			break
		}
		if n := len(room.Starts()); n != 1 {
			t.Errorf("%d processes", n)
		}
	})
	t.Run("too long", func(t *testing.T) {
		p := part(t, "floods", nil)
		p.Turn = event.Duration(time.Second)
		if _, err := take(t, p, &clitest.Steward{}, nil); backend.KindOf(err) != backend.TimedOut || !strings.Contains(err.Error(), "took longer than 1s") {
			t.Errorf("the turn ended with %v", err)
		}
	})
}

// One of our tools may take longer than the program may be silent.
func TestLongTool(t *testing.T) {
	t.Parallel()
	p := part(t, "asks", nil)
	p.Idle = event.Duration(3 * time.Second)
	host := &clitest.Steward{OnCall: func(ctx context.Context, _ event.ToolCall) backend.ToolResult {
		<-time.After(4 * time.Second)
		return backend.ToolResult{Text: "at last"}
	}}
	if _, err := take(t, p, host, nil); err != nil {
		t.Error(err)
	}
}

// A process whose model failed is kept for the next turn, and what that had cost is
// counted, once.
func TestKeptAfterFailure(t *testing.T) {
	t.Parallel()
	room := clitest.NewRoom(t)
	b := claudecode.New(part(t, "fails", nil), "")
	defer b.(backend.Closer).Close()
	in := backend.Input{Thread: "t", Room: room, Messages: []backend.Message{{From: backend.User, Text: "Begin."}}}
	for _, cost := range []event.Money{event.Dollar / 4, 0} { // the program says what all has cost, the same both times
		r, err := backend.Collect(b.Turn(t.Context(), in, &clitest.Steward{}), nil)
		if backend.KindOf(err) != backend.Overloaded || r.Usage.Cost != cost {
			t.Errorf("the turn ended with %v and had cost %d", err, r.Usage.Cost)
		}
	}
	if n := len(room.Starts()); n != 1 {
		t.Errorf("%d processes for two turns", n)
	}
}

// Only one program at a time goes on with a conversation.
func TestLocked(t *testing.T) {
	t.Parallel()
	room := clitest.NewRoom(t)
	in := backend.Input{Thread: "t", Room: room, Messages: []backend.Message{{From: backend.User, Text: "Begin."}}}
	first, second := claudecode.New(part(t, "noise", nil), ""), claudecode.New(part(t, "noise", nil), "")
	if _, err := backend.Collect(first.Turn(t.Context(), in, &clitest.Steward{}), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Collect(second.Turn(t.Context(), in, &clitest.Steward{}), nil); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("the second one ended with %v", err)
	}
	for _, b := range []backend.Backend{first, second} {
		if err := b.(backend.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := backend.Collect(first.Turn(t.Context(), in, &clitest.Steward{}), nil); err == nil {
		t.Error("one that was closed took a turn")
	}
}

// A host that fails to record what the program does ends the turn.
func TestStewardFails(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]*clitest.Steward{
		"began":  {OnBegan: func(event.ToolCall) error { return errDisk }},
		"ended":  {OnEnded: func(backend.ToolResult) (string, error) { return "", errDisk }},
		"permit": {OnPermit: func(context.Context, event.ToolCall, policy.Action) (bool, string, error) { return false, "", errDisk }},
	} {
		if _, err := take(t, part(t, "uses", nil), host, nil); !errors.Is(err, errDisk) {
			t.Errorf("%s: ended with %v", name, err)
		}
	}
	if _, err := take(t, part(t, "uses", nil), plain{}, nil); err != nil {
		t.Errorf("with a host that is no steward: %v", err)
	}
}

// plain is a host that is no steward.
type plain struct{}

func (plain) Call(context.Context, event.ToolCall) backend.ToolResult { return backend.ToolResult{} }

var errDisk = errors.New("the disk is full")
