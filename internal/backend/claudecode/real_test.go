package claudecode_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// A stage is the real program in a room, with a model that answers as told.
type stage struct {
	t       *testing.T
	room    *clitest.Room
	program backend.Program
	agent   backend.Backend
	answer  func(claudetest.Request) backendtest.Reply

	mu       sync.Mutex
	requests []claudetest.Request
}

func newStage(t *testing.T, answer func(claudetest.Request) backendtest.Reply) *stage {
	t.Helper()
	path := clitest.Installed(t, clitest.Claude)
	s := &stage{t: t, answer: answer}
	url := claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		answer := s.answer
		s.mu.Unlock()
		return answer(r)
	})
	s.room = clitest.NewRoom(t)
	s.program = claudetest.Program(path, url)
	s.agent = s.open(s.program)
	return s
}

// script has the model answer otherwise from now on.
func (s *stage) script(answer func(claudetest.Request) backendtest.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// open makes an agent that is closed before the room is looked at.
func (s *stage) open(p backend.Program) backend.Backend {
	b := claudecode.New(p, claudetest.Key)
	s.t.Cleanup(func() {
		if err := b.(backend.Closer).Close(); err != nil {
			s.t.Error(err)
		}
		s.room.NoneLeft(s.t)
	})
	return b
}

// again closes the agent and makes another one in its place.
func (s *stage) again() {
	s.t.Helper()
	if err := s.agent.(backend.Closer).Close(); err != nil {
		s.t.Fatal(err)
	}
	s.room.NoneLeft(s.t)
	s.agent = s.open(s.program)
}

// sent is what the model was sent, call by call.
func (s *stage) sent() []claudetest.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// input is a turn of the conversation named by a thread.
func (s *stage) input(thread string, said ...string) backend.Input {
	in := backend.Input{System: "You are the agent of needleSystem.", Thread: thread, Room: s.room, Tools: tools}
	for i, text := range said {
		from := backend.User
		if i%2 == 1 {
			from = backend.Assistant
		}
		in.Messages = append(in.Messages, backend.Message{From: from, Text: text})
	}
	return in
}

var tools = []backend.ToolSpec{{Name: "lookup", Description: "Look something up.", Schema: []byte(`{"type":"object","properties":{"key":{"type":"string"}}}`)}}

func (s *stage) turn(ctx context.Context, in backend.Input, host backend.ToolHost) (backend.Reply, error) {
	return backend.Collect(s.agent.Turn(ctx, in, host), nil)
}

func (s *stage) say(host backend.ToolHost, thread string, said ...string) string {
	s.t.Helper()
	r, err := s.turn(s.t.Context(), s.input(thread, said...), host)
	if err != nil {
		s.t.Fatalf("%v: %v", said, err)
	}
	return r.Text
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// echo answers with what was said last.
func echo(r claudetest.Request) backendtest.Reply {
	return claudetest.Say("You said: " + claudetest.Last(r))
}

// Ten turns in one process, each with what is new alone, and the model with
// everything; the program sees nothing of the key. // SR-10
func TestTenTurnsInOneProcess(t *testing.T) {
	t.Parallel()
	s := newStage(t, echo)
	var said []string
	for i := range 10 {
		said = append(said, fmt.Sprintf("Number %d.", i))
		got := s.say(&clitest.Steward{}, "talk", said...)
		if want := fmt.Sprintf("You said: Number %d.", i); got != want {
			t.Fatalf("turn %d: %q", i, got)
		}
		said = append(said, got)
	}
	if pids := s.room.Starts(); len(pids) != 1 {
		t.Errorf("processes %v, want one", pids)
	}
	last := s.sent()[9]
	if got := claudetest.Said(last); len(got) != 10 || got[3] != "Number 3." {
		t.Errorf("the model was sent %q", got)
	}
	if !strings.Contains(last.System, "needleSystem") || !slices.Contains(last.Tools, "mcp__conclave__lookup") {
		t.Errorf("the system prompt or our tool is missing: %v", last.Tools)
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.room.Starts()[0]))
	if err != nil || strings.Contains(string(env), claudetest.Key) {
		t.Errorf("the key is in the program's environment (%v)", err)
	}
}

// What the agent is told while it works arrives in order, all of it, in the same
// turn. // SR-11
func TestNewsWhileBusy(t *testing.T) {
	t.Parallel()
	const n = 5
	s := newStage(t, func(r claudetest.Request) backendtest.Reply {
		if r.Turns < n {
			return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": fmt.Sprintf("echo step%d", r.Turns)}))
		}
		return claudetest.Say("Heard.")
	})
	told := 0
	host := &clitest.Steward{OnEnded: func(r backend.ToolResult) (string, error) {
		told++
		return fmt.Sprintf("news%d", told), nil
	}}
	s.say(host, "talk", "Begin.")
	last := s.sent()[len(s.sent())-1].Sent
	at := -1
	for i := range n {
		word := fmt.Sprintf("news%d", i+1)
		if strings.Count(last, word) != 1 || strings.Index(last, word) < at {
			t.Errorf("%s was told %d times, at %d after %d", word, strings.Count(last, word), strings.Index(last, word), at)
		}
		at = strings.Index(last, word)
	}
	began, ended := host.Tools()
	if len(began) != n || len(ended) != n || ended[0].Text != "step0" || ended[0].Name != "Bash" || began[0].ID != ended[0].Call {
		t.Errorf("tools were reported as %+v, %+v", began, ended)
	}
}

// A permission that is answered late is waited for; what is refused does not happen,
// and the agent is told why.
func TestPermission(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	file := filepath.Join(s.room.Dir(), "made.txt")
	s.script(func(r claudetest.Request) backendtest.Reply {
		switch r.Turns {
		case 0:
			return claudetest.Reply(claudetest.Use("Write", map[string]string{"file_path": file, "content": "hello"}))
		case 1:
			return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": "ls -a"}))
		}
		return echo(r)
	})
	asked, answer := make(chan policy.Action), make(chan bool)
	host := &clitest.Steward{OnPermit: func(_ context.Context, _ event.ToolCall, a policy.Action) (bool, string, error) {
		asked <- a
		return <-answer, "because of rule seven", nil
	}}
	done := make(chan string)
	go func() { done <- s.say(host, "talk", "Begin.") }()
	if a := <-asked; a.Kind != policy.Write || a.Target != file {
		t.Errorf("asked about %+v", a)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written before it was allowed")
	}
	answer <- true
	if a := <-asked; a.Kind != policy.Command || a.Target != "ls -a" {
		t.Errorf("asked about %+v", a)
	}
	answer <- false
	if got := <-done; !strings.Contains(got, "because of rule seven") {
		t.Errorf("the agent heard %q", got)
	}
	if b, _ := os.ReadFile(file); string(b) != "hello" {
		t.Errorf("the file holds %q", b)
	}
}

// Killed in the middle of a turn, the program is started anew and knows everything
// that was said: by its own record if it had time to write it, else from us. // SR-10
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprintf("recorded %v", written), func(t *testing.T) {
			reached := make(chan struct{})
			s := newStage(t, func(r claudetest.Request) backendtest.Reply {
				if claudetest.Last(r) == "Die." && len(r.Messages) > 2 && r.Turns == 1 {
					close(reached)
					return backendtest.Reply{Parts: []backendtest.Part{{Text: "I am"}}, Hang: true}
				}
				return echo(r)
			})
			first := s.say(&clitest.Steward{}, "talk", "Remember needleEarlier.")
			failed := make(chan error)
			go func() {
				_, err := s.turn(t.Context(), s.input("talk", "Remember needleEarlier.", first, "Die."), &clitest.Steward{})
				failed <- err
			}()
			<-reached
			if written {
				await(t, "the program has recorded it", func() bool {
					return strings.Contains(s.record(), `"content":"Die."}`) && strings.Contains(s.record(), first)
				})
			}
			s.script(echo)
			if err := syscall.Kill(s.room.Starts()[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; backend.KindOf(err) != backend.Broken || !strings.Contains(err.Error(), "signal 9") {
				t.Errorf("the turn ended with %v", err)
			}
			got := s.say(&clitest.Steward{}, "talk", "Remember needleEarlier.", first, "Die.")
			if written && got != "You said: You were interrupted before you had finished. Go on." {
				t.Errorf("after that it said %q", got)
			}
			last := s.sent()[len(s.sent())-1]
			if len(s.room.Starts()) != 2 || !strings.Contains(last.Sent, "needleEarlier") || !strings.Contains(last.Sent, "Die.") {
				t.Errorf("%d processes; the model was sent %q", len(s.room.Starts()), claudetest.Said(last))
			}
		})
	}
}

// record is what the program has written down of its conversations.
func (s *stage) record() string {
	names, _ := filepath.Glob(filepath.Join(s.room.Home(), ".claude", "projects", "*", "*.jsonl"))
	var out strings.Builder
	for _, name := range names {
		b, _ := os.ReadFile(name)
		out.Write(b)
	}
	return out.String()
}

// heavy skips a test of many programs where only we are watched, not they.
func heavy(t *testing.T) {
	t.Helper()
	if raced || testing.Short() {
		t.Skip("takes many programs")
	}
}

// Another process of ours goes on with a conversation that one before it had, and
// one whose program has lost its memory is told what was said.
func TestResumedByAnother(t *testing.T) {
	t.Parallel()
	heavy(t)
	s := newStage(t, echo)
	first := s.say(&clitest.Steward{}, "talk", "Remember needleEarlier.")
	s.again()
	s.say(&clitest.Steward{}, "talk", "Remember needleEarlier.", first, "And now?")
	if said := claudetest.Said(s.sent()[1]); len(said) != 2 || said[0] != "Remember needleEarlier." {
		t.Errorf("the model was sent %q", said)
	}
	// Another room: another process, the same conversation.
	s.room.Become("another", true)
	s.say(&clitest.Steward{}, "talk", "Remember needleEarlier.", first, "And now?", "Now.", "In here?")
	last := s.sent()[2]
	if said := claudetest.Said(last); len(s.room.Starts()) != 3 || len(said) != 3 || slices.Contains(last.Tools, "Write") {
		t.Errorf("%d processes; the model was sent %q with %v", len(s.room.Starts()), said, last.Tools)
	}
	s.again()
	if err := os.RemoveAll(filepath.Join(s.room.Home(), ".claude")); err != nil {
		t.Fatal(err)
	}
	s.say(&clitest.Steward{}, "talk", "Remember needleEarlier.", first, "And now?", "Now.", "Go home.")
	said := claudetest.Said(s.sent()[3])
	if len(said) != 1 || !strings.Contains(said[0], "needleEarlier") || !strings.HasSuffix(said[0], "Go home.") {
		t.Errorf("the model was sent %q", said)
	}
}

// A turn that is cut while a shell runs ends at once; the shell ends with it and the
// process goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	mark := filepath.Join(s.room.Dir(), "started")
	s.script(func(r claudetest.Request) backendtest.Reply {
		if r.Turns == 0 {
			return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": "touch started; sleep 1000"}))
		}
		return echo(r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := s.turn(ctx, s.input("talk", "Begin."), &clitest.Steward{})
		failed <- err
	}()
	await(t, "the shell runs", func() bool { _, err := os.Stat(mark); return err == nil })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	await(t, "only the program is left", func() bool { return len(s.room.Left()) == 1 })
	if got := s.say(&clitest.Steward{}, "talk", "Begin.", "…", "Still there?"); got != "You said: Still there?" {
		t.Errorf("after that it said %q", got)
	}
	if pids := s.room.Starts(); len(pids) != 1 {
		t.Errorf("processes %v, want one", pids)
	}
}

// Closed while a shell runs that does not want to end: nothing is left. // SR-07
func TestClosedWithAShell(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	mark := filepath.Join(s.room.Dir(), "started")
	s.script(func(r claudetest.Request) backendtest.Reply {
		return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": "trap '' TERM INT; (setsid sleep 1000 &); touch started; while :; do sleep 1; done"}))
	})
	failed := make(chan error)
	go func() {
		_, err := s.turn(t.Context(), s.input("talk", "Begin."), &clitest.Steward{})
		failed <- err
	}()
	await(t, "the shell runs", func() bool { _, err := os.Stat(mark); return err == nil })
	if err := s.agent.(backend.Closer).Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the turn was not cut")
	}
	s.room.NoneLeft(t)
}

// Six at once, each with its own conversation.
func TestSixAtOnce(t *testing.T) {
	t.Parallel()
	heavy(t)
	path := clitest.Installed(t, clitest.Claude)
	url := claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply {
		if r.Turns%2 == 0 {
			return claudetest.Reply(claudetest.Use("Bash", map[string]string{"command": "echo done"}))
		}
		return claudetest.Say("My words were " + claudetest.Said(r)[0])
	})
	b := claudecode.New(claudetest.Program(path, url), claudetest.Key)
	var all sync.WaitGroup
	rooms := make([]*clitest.Room, 6)
	for i := range rooms {
		rooms[i] = clitest.NewRoom(t)
	}
	for i, room := range rooms {
		all.Go(func() {
			said := []backend.Message{}
			for turn := range 3 {
				said = append(said, backend.Message{From: backend.User, Text: fmt.Sprintf("agent%d turn%d", i, turn)})
				r, err := backend.Collect(b.Turn(t.Context(), backend.Input{Messages: said, Thread: "t", Room: room}, &clitest.Steward{}), nil)
				if want := fmt.Sprintf("My words were agent%d turn0", i); err != nil || r.Text != want {
					t.Errorf("agent %d turn %d: %q, %v", i, turn, r.Text, err)
				}
				said = append(said, backend.Message{From: backend.Assistant, Text: r.Text})
			}
		})
	}
	all.Wait()
	if err := b.(backend.Closer).Close(); err != nil {
		t.Error(err)
	}
	for _, room := range rooms {
		if len(room.Starts()) != 1 {
			t.Errorf("processes %v, want one", room.Starts())
		}
	}
}
