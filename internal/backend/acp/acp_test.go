package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/acp"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
	"conclave/internal/policy"

	"github.com/google/go-cmp/cmp"
)

// A seat is a backend with a room and a thread for every turn.
type seat struct {
	backend.Backend
	room *clitest.Room
	door *backend.Doorway // of a room with a network of its own
}

// secluded is a room with a network of its own.
type secluded struct {
	*clitest.Room
	door *backend.Doorway
}

func (s secluded) Doorway(context.Context) (backend.Doorway, error) {
	if s.door.Name == "" {
		return backend.Doorway{}, errors.New("there is no way out")
	}
	return *s.door, nil
}

func (s seat) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	in.Room, in.Thread = s.room, "talk"
	if s.door != nil {
		in.Room = secluded{s.room, s.door}
	}
	return s.Backend.Turn(ctx, in, host)
}

// say is a turn without tools.
func (s seat) say(ctx context.Context, host backend.ToolHost, messages ...backend.Message) (backend.Reply, error) {
	return backend.Collect(s.Turn(ctx, backend.Input{Messages: messages}, host), nil)
}

func (s seat) close() { _ = s.Backend.(backend.Closer).Close() }

// newSeat makes a backend of the fake agent.
func newSeat(t *testing.T, like string, p backend.Program) seat {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.Provider, p.Command = "acp", []string{exe}
	if p.Env == nil {
		p.Env = map[string]string{}
	}
	p.Env[fakeVar] = like
	p.Env["GORACE"] = "atexit_sleep_ms=0"
	s := seat{Backend: acp.New(p, ""), room: clitest.NewRoom(t)}
	t.Cleanup(s.close)
	return s
}

func user(text string) backend.Message { return backend.Message{From: backend.User, Text: text} }

func TestSeam(t *testing.T) {
	cannot := map[string]string{
		"call of an unknown tool": "an MCP server refuses it by itself",
		"error rate_limited":      "there is no word for when to come back",
		"error unreachable":       "a program does not say why its model was silent",
		"error truncated":         "a program tries again by itself",
		"error declined":          "a program ends its turn with words",
		"cut in mid-stream":       "a program tries again by itself",
		"cut after a call":        "a program tries again by itself",
		"cut before anything":     "a program tries again by itself",
	}
	backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
		if why := cannot[s.Name]; why != "" {
			t.Skip(why)
		}
		p, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "scene")
		if err := os.WriteFile(name, p, 0o600); err != nil {
			t.Fatal(err)
		}
		program := backend.Program{Env: map[string]string{sceneVar: name}}
		if s.Name == "error timed_out" {
			program.Idle = event.Duration(100 * time.Millisecond)
		}
		return newSeat(t, "itself", program)
	})
}

// Turns are taken by one process, in one session; after its death another one
// loads the session, and what it tells of it is not said again.
func TestOneProcessAndItsDeath(t *testing.T) {
	s := newSeat(t, "itself", backend.Program{})
	talk := []backend.Message{user("one")}
	in := backend.Input{System: "SYSTEM", Messages: talk}
	for i := range 4 {
		got, err := backend.Collect(s.Turn(t.Context(), in, &clitest.Steward{}), nil)
		want := fmt.Sprintf("Heard %d: %s", i+1, in.Messages[len(in.Messages)-1].Text)
		if i == 0 {
			want = "Heard 1: SYSTEM\n\n---\n\none"
		}
		if err != nil || got.Text != want {
			t.Fatalf("turn %d said %q, %v, want %q", i, got.Text, err, want)
		}
		in.Messages = append(in.Messages, backend.Message{From: backend.Assistant, Text: got.Text}, user(fmt.Sprint("more ", i)))
		if i == 2 {
			_ = syscall.Kill(s.room.Starts()[0], syscall.SIGKILL)
		}
	}
	if n := len(s.room.Starts()); n != 2 {
		t.Errorf("%d processes were started", n)
	}
	in.System = "ANOTHER"
	got, err := backend.Collect(s.Turn(t.Context(), in, &clitest.Steward{}), nil)
	if err != nil || !strings.HasPrefix(got.Text, "Heard 1: ANOTHER") || !strings.Contains(got.Text, "SYSTEM\n\n---\n\none") {
		t.Errorf("with another system prompt it said %q, %v", got.Text, err)
	}
}

// A program that dies in a turn says how, and the next turn goes on.
func TestDiesInMidTurn(t *testing.T) {
	s := newSeat(t, "itself", backend.Program{})
	_, err := s.say(t.Context(), &clitest.Steward{}, user("die now"))
	if backend.KindOf(err) != backend.Broken || !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), "I give up.") {
		t.Fatalf("ended with %v", err)
	}
	got, err := s.say(t.Context(), &clitest.Steward{}, user("die now"))
	if err != nil || got.Text != "Heard 2: "+cli.GoOn {
		t.Errorf("then it said %q, %v", got.Text, err)
	}
}

// A program that is flooded with its own words, speaks of what we do not know, or
// writes words among its lines is understood all the same.
func TestFloodAndStrangeness(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "itself", backend.Program{})
	got, err := s.say(t.Context(), &clitest.Steward{}, user("flood"))
	if err != nil || len(got.Text) < 3<<20 || !strings.Contains(got.Text, "line 2999\n") {
		t.Errorf("said %d bytes, %v", len(got.Text), err)
	}
	got, err = s.say(t.Context(), &clitest.Steward{}, user("strange"))
	if err != nil || got.Text != "refused: true" {
		t.Errorf("said %q, %v", got.Text, err)
	}
}

// A program that heeds neither a cancel nor signals is ended all the same, with
// what it left running.
func TestStubborn(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "stubborn", backend.Program{})
	if _, err := s.say(t.Context(), &clitest.Steward{}, user("orphan")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got error
	for d, err := range s.Turn(ctx, backend.Input{Messages: []backend.Message{user("hang")}}, &clitest.Steward{}) {
		if got = err; d.Text != "" {
			cancel()
		}
	}
	if !errors.Is(got, context.Canceled) {
		t.Errorf("ended with %v", got)
	}
	s.room.NoneLeft(t)
}

// A turn that is cancelled leaves the program as it was.
func TestCancel(t *testing.T) {
	s := newSeat(t, "itself", backend.Program{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for d := range s.Turn(ctx, backend.Input{Messages: []backend.Message{user("hang")}}, &clitest.Steward{}) {
		if d.Text != "" {
			cancel()
		}
	}
	got, err := s.say(t.Context(), &clitest.Steward{}, user("hang"))
	if err != nil || got.Text != "Heard 2: "+cli.GoOn || len(s.room.Starts()) != 1 {
		t.Errorf("then it said %q, %v, in process %d", got.Text, err, len(s.room.Starts()))
	}
}

// What cannot work is refused at the start, in words that help.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		like string
		kind backend.ErrorKind
		says string
	}{
		{"old", backend.Invalid, "speaks version 0 of the Agent Client Protocol"},
		{"locked", backend.Auth, "is not logged in"},
		{"toolless", backend.Invalid, "cannot be given tools"},
	} {
		t.Run(c.like, func(t *testing.T) {
			s := newSeat(t, c.like, backend.Program{})
			in := backend.Input{Messages: []backend.Message{user("hello")}, Tools: []backend.ToolSpec{{Name: "vote", Schema: []byte(`{"type":"object"}`)}}}
			_, err := backend.Collect(s.Turn(t.Context(), in, &clitest.Steward{}), nil)
			if backend.KindOf(err) != c.kind || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// Tools of its own are reported, and asked about; the answer may take long, and is
// never one for good. News are told before the turn ends.
func TestOwnTools(t *testing.T) {
	for _, allow := range []bool{true, false} {
		s := newSeat(t, "itself", backend.Program{})
		asked, answer := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			<-asked
			close(answer)
		})
		steward := &clitest.Steward{
			OnPermit: func(context.Context, event.ToolCall, policy.Action) (bool, string, error) {
				close(asked)
				<-answer
				return allow, "", nil
			},
			OnEnded: func(backend.ToolResult) (string, error) { return "news", nil },
		}
		got, err := s.say(t.Context(), steward, user("run make all"))
		wg.Wait()
		want := map[bool]string{true: "They said yes.\n\nHeard 2: news", false: "They said no.\n\nHeard 2: news"}[allow]
		if err != nil || got.Text != want {
			t.Errorf("said %q, %v", got.Text, err)
		}
		for _, a := range steward.Asked() {
			a.Input = ""
			if diff := cmp.Diff(policy.Action{Tool: "execute", Kind: policy.Command, Target: "make all"}, a); diff != "" {
				t.Errorf("asked was (-want +got):\n%s", diff)
			}
		}
		began, ended := steward.Tools()
		if len(began) != 1 || began[0].Name != "execute" || len(ended) != 1 || ended[0].Text != "output of make all" || ended[0].Error == allow {
			t.Errorf("reported were %v and %v", began, ended)
		}
	}
}

// The host's own tools are not asked about, and not reported twice.
func TestHostTools(t *testing.T) {
	s := newSeat(t, "itself", backend.Program{})
	steward := &clitest.Steward{OnPermit: func(context.Context, event.ToolCall, policy.Action) (bool, string, error) {
		return false, "", nil
	}}
	in := backend.Input{Messages: []backend.Message{user("call vote")}, Tools: []backend.ToolSpec{{Name: "vote", Schema: []byte(`{"type":"object"}`)}}}
	got, err := backend.Collect(s.Turn(t.Context(), in, steward), nil)
	began, _ := steward.Tools()
	if err != nil || got.Text != "They said yes." || len(began)+len(steward.Asked()) > 0 {
		t.Errorf("said %q, %v; reported %v, asked %v", got.Text, err, began, steward.Asked())
	}
	in.Messages[0].Text = "call launch_run" // which is not one of them
	if got, err = backend.Collect(s.Turn(t.Context(), in, steward), nil); err != nil || got.Text != "They said no." {
		t.Errorf("said %q, %v", got.Text, err)
	}
}

// Files are served in the room's folder and nowhere else, written if that is
// allowed, and never where nothing may be.
func TestFiles(t *testing.T) {
	s := newSeat(t, "itself", backend.Program{})
	dir := s.room.Dir()
	outside := filepath.Join(t.TempDir(), "secret")
	for name, text := range map[string]string{outside: "secret", filepath.Join(dir, "a"): "inside"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	allow := true
	steward := &clitest.Steward{OnPermit: func(context.Context, event.ToolCall, policy.Action) (bool, string, error) {
		return allow, "because", nil
	}}
	var talk []backend.Message
	do := func(verb, path, want string) {
		t.Helper()
		talk = append(talk, user(verb+" "+path))
		got, err := s.say(t.Context(), steward, talk...)
		if err != nil || !strings.Contains(got.Text, want) || strings.Contains(got.Text, "secret<nil>") {
			t.Errorf("%s %s: %q, %v, want %q", verb, path, got.Text, err, want)
		}
		talk = append(talk, backend.Message{From: backend.Assistant, Text: got.Text})
	}
	do("read", filepath.Join(dir, "a"), "inside")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	do("read", filepath.Join(dir, "pipe"), "pipe is not a file") // nobody waits for it
	do("write", filepath.Join(dir, "pipe"), "pipe")
	do("read", outside, "is not in")
	do("read", filepath.Join(dir, "..", filepath.Base(filepath.Dir(outside)), "secret"), "is not in")
	do("read", filepath.Join(dir, "link"), "escapes")
	do("write", filepath.Join(dir, "sub/new"), "<nil>")
	do("write", outside, "is not in")
	do("write", filepath.Join(dir, "link"), "escapes")
	allow = false
	do("write", filepath.Join(dir, "b"), "because")
	s.room.Become("read only", true)
	allow = true
	do("write", filepath.Join(dir, "b"), "nothing may be written")
	if p, err := os.ReadFile(outside); err != nil || string(p) != "secret" {
		t.Errorf("outside is %q, %v", p, err)
	}
	if p, err := os.ReadFile(filepath.Join(dir, "sub/new")); err != nil || string(p) != "written" {
		t.Errorf("inside is %q, %v", p, err)
	}
}

// What is allowed once is one write within the call that it was for.
func TestAllowedOnce(t *testing.T) {
	s := newSeat(t, "itself", backend.Program{})
	steward := &clitest.Steward{OnPermit: func(_ context.Context, _ event.ToolCall, a policy.Action) (bool, string, error) {
		return a.Tool == "edit", "ask before", nil
	}}
	got, err := s.say(t.Context(), steward, user("edit "+filepath.Join(s.room.Dir(), "a")))
	if words := strings.Join(strings.Fields(got.Text), " "); err != nil || words != "edit-1: true edit-1: false edit-2: false" {
		t.Errorf("said %q, %v", got.Text, err)
	}
}

// A program in a room with a network of its own reaches our tools at the doorway of
// that, by the name that it has there; whoever comes from elsewhere does not. One that
// is given no tools needs no doorway.
func TestToolsAtADoorway(t *testing.T) {
	call := backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: "lookup", Input: "{}"}}}}
	tools := []backend.ToolSpec{{Name: "lookup", Schema: json.RawMessage(`{"type":"object"}`)}}
	play := func(door backend.Doorway, tools []backend.ToolSpec, scene ...backendtest.Reply) (calls int, err error) {
		s := newSeat(t, "itself", backend.Program{Env: map[string]string{sceneVar: sceneOf(t, scene...)}})
		s.door = &door
		host := &clitest.Steward{OnCall: func(context.Context, event.ToolCall) backend.ToolResult {
			calls++
			return backend.ToolResult{Text: "found"}
		}}
		_, err = backend.Collect(s.Turn(t.Context(), backend.Input{Messages: []backend.Message{user("go")}, Tools: tools}, host), nil)
		return calls, err
	}
	near := backend.Doorway{Listen: "127.0.0.1", Name: "localhost", From: netip.MustParsePrefix("127.0.0.0/8")}
	if n, err := play(near, tools, call, backendtest.Reply{}); err != nil || n != 1 {
		t.Errorf("at its doorway: %d calls, %v", n, err)
	}
	far := backend.Doorway{Listen: "127.0.0.1", Name: "127.0.0.1", From: netip.MustParsePrefix("172.17.0.0/16")}
	if n, err := play(far, tools, call, backendtest.Reply{}); err == nil || n != 0 {
		t.Errorf("from elsewhere: %d calls, %v", n, err)
	}
	_, err := play(backend.Doorway{}, tools, call, backendtest.Reply{})
	if want := "the program could not reach the tools that it is given from where it runs: there is no way out"; backend.KindOf(err) != backend.Invalid || err.Error() != want {
		t.Errorf("without a doorway: %v", err)
	}
	if _, err := play(backend.Doorway{}, nil, backendtest.Reply{}); err != nil {
		t.Errorf("without tools: %v", err)
	}
}
