package codex_test

import (
	"context"
	"encoding/json"
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
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
	"conclave/internal/policy"

	"github.com/google/go-cmp/cmp"
)

// eventually waits for a condition, for as long as the test may run.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not happen: " + what)
		}
	}
}

func runs(command string) backendtest.Reply {
	p, _ := json.Marshal(map[string]string{"cmd": command})
	return calls("exec_command", string(p))
}

// What is said while Codex is busy reaches its model in order, and none of it is
// lost. // SR-11
func TestNewsWhileBusy(t *testing.T) {
	t.Parallel()
	news := func(q openaitest.Request) (out []string) {
		for _, m := range q.Messages {
			if m.From == "user" && strings.HasPrefix(m.Text, "news") {
				out = append(out, m.Text)
			}
		}
		return out
	}
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		switch got := news(q); {
		case q.Turns == 0:
			one := runs("echo one").Parts[0]
			return backendtest.Reply{Parts: []backendtest.Part{one, runs("echo two").Parts[0], runs("echo three").Parts[0]}}
		case len(got) < 3:
			return backendtest.Reply{Hang: true} // until it is told more
		default:
			return says(strings.Join(got, ", "))
		}
	})
	n := 0
	steward := &clitest.Steward{OnEnded: func(backend.ToolResult) (string, error) {
		n++
		return fmt.Sprintf("news %d", n), nil
	}}
	got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", user("go")), steward), nil)
	if err != nil || got.Text != "news 1, news 2, news 3" {
		t.Fatalf("it heard %q, %v", got.Text, err)
	}
	began, ended := steward.Tools()
	if len(began) != 3 || len(ended) != 3 || began[0].Name != "exec_command" || !strings.Contains(string(began[0].Input), "echo") {
		t.Errorf("reported were %v and %v", began, ended)
	}
	if !slices.ContainsFunc(ended, func(e backend.ToolResult) bool { return strings.TrimSpace(e.Text) == "two" && !e.Error }) {
		t.Errorf("results were %+v", ended)
	}
}

// A turn that is interrupted leaves no shell behind and the process as it was; the
// next turn goes on in the same conversation.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		if strings.Contains(last(q), cli.GoOn) {
			return says("Going on.")
		}
		return runs("touch started; setsid sleep 1000 & sleep 1000")
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		eventually(t, "the command runs", func() bool {
			_, err := os.Stat(filepath.Join(r.room.Dir(), "started"))
			return err == nil
		})
	})
	in := r.input("talk", user("work"))
	_, err := backend.Collect(r.Turn(ctx, in, &clitest.Steward{}), nil)
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	got, err := backend.Collect(r.Turn(t.Context(), in, &clitest.Steward{}), nil)
	if err != nil || got.Text != "Going on." {
		t.Fatalf("then it said %q, %v", got.Text, err)
	}
	if n := len(r.room.Starts()); n != 1 {
		t.Errorf("%d processes were started", n)
	}
	if err := r.Backend.(backend.Closer).Close(); err != nil {
		t.Error(err)
	}
	r.room.NoneLeft(t)
}

// A permission may be given long after it was asked for, or refused with a reason
// that the model is told.
func TestPermissions(t *testing.T) {
	t.Parallel()
	const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\nEOF"
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		switch {
		case strings.Contains(q.Sent, "not on a Sunday"):
			return says("Understood.")
		case q.Turns == 0:
			return runs(`echo "it's" > made.txt`)
		case q.Turns == 1:
			return runs(patch)
		case q.Turns == 2:
			return runs("rm made.txt")
		}
		return backendtest.Reply{Hang: true} // until it is told why
	})
	asked, answered := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		<-asked
		if _, err := os.Stat(filepath.Join(r.room.Dir(), "made.txt")); err == nil {
			t.Error("the command ran before it was allowed")
		}
		close(answered)
	})
	steward := &clitest.Steward{OnPermit: func(_ context.Context, _ event.ToolCall, a policy.Action) (bool, string, error) {
		if strings.HasPrefix(a.Target, "echo") {
			close(asked)
			<-answered
		}
		return !strings.HasPrefix(a.Target, "rm"), "not on a Sunday", nil
	}}
	got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", user("go")), steward), nil)
	wg.Wait()
	if err != nil || got.Text != "Understood." {
		t.Fatalf("said %q, %v", got.Text, err)
	}
	dir := r.room.Dir()
	for _, name := range []string{"made.txt", "new.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var targets []policy.Action
	for _, a := range steward.Asked() {
		a.Input = ""
		targets = append(targets, a)
	}
	if diff := cmp.Diff([]policy.Action{
		{Tool: "exec_command", Kind: policy.Command, Target: `echo "it's" > made.txt`, Dir: dir},
		{Tool: "apply_patch", Kind: policy.Write, Target: filepath.Join(dir, "new.txt")},
		{Tool: "exec_command", Kind: policy.Command, Target: "rm made.txt", Dir: dir},
	}, targets); diff != "" {
		t.Errorf("asked was (-want +got):\n%s", diff)
	}
}

// A server that is killed is started anew, and its conversation goes on: after a
// turn, and in the middle of one. // SR-12
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		if last(q) == "hang" {
			hangs <- struct{}{}
			return backendtest.Reply{Hang: true}
		}
		return says("Heard " + last(q))
	})
	kill := func(n int) { _ = syscall.Kill(r.room.Starts()[n], syscall.SIGKILL) }
	talk := []backend.Message{user("first")}
	if _, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), &clitest.Steward{}), nil); err != nil {
		t.Fatal(err)
	}
	kill(0)
	var wg sync.WaitGroup
	wg.Go(func() {
		<-hangs
		kill(1)
	})
	talk = append(talk, assistant("Heard first"), user("hang"))
	_, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), &clitest.Steward{}), nil)
	wg.Wait()
	if backend.KindOf(err) != backend.Broken || !strings.Contains(err.Error(), "signal 9") {
		t.Fatalf("the turn in which it was killed ended with %v", err)
	}
	got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), &clitest.Steward{}), nil)
	if err != nil || got.Text != "Heard "+cli.GoOn {
		t.Fatalf("then it said %q, %v", got.Text, err)
	}
	sent := r.requests()
	var said []string
	for _, m := range sent[len(sent)-1].Messages {
		if m.From == "user" && !strings.HasPrefix(m.Text, "<") {
			said = append(said, m.Text)
		}
	}
	if n := len(r.room.Starts()); n != 3 || !slices.Equal(said, []string{"first", "hang", cli.GoOn}) {
		t.Errorf("%d processes were started, and the model was told %q", n, said)
	}
}

var tools = []backend.ToolSpec{{Name: "new_answer", Description: "Answer.", Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"}}}`)}}

// The host's tools are called over the same pipe. If they change, the model is
// given the new ones and is told the conversation so far.
func TestHostTools(t *testing.T) {
	t.Parallel()
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		tool := "new_answer"
		if !slices.Contains(q.Tools, tool) {
			tool = "vote"
		}
		if strings.Contains(q.Sent, "taken down") {
			return says("Done with " + tool)
		}
		return calls(tool, `{"content":"forty-two"}`)
	})
	steward := &clitest.Steward{OnCall: func(context.Context, event.ToolCall) backend.ToolResult {
		return backend.ToolResult{Text: "taken down", Images: []backend.Image{{Type: "image/png", Data: []byte("not really")}}}
	}}
	in := r.input("run", user("What is it?"))
	in.Tools = tools
	got, err := backend.Collect(r.Turn(t.Context(), in, steward), nil)
	if err != nil || got.Text != "Done with new_answer" {
		t.Fatalf("said %q, %v", got.Text, err)
	}
	if c := steward.Calls(); len(c) != 1 || c[0].Name != "new_answer" || string(c[0].Input) != `{"content":"forty-two"}` {
		t.Errorf("called were %v", c)
	}
	in.Tools = []backend.ToolSpec{{Name: "vote", Description: "Vote.", Schema: tools[0].Schema}}
	in.Messages = append(in.Messages, assistant("It is needle."), user("Vote."))
	if _, err = backend.Collect(r.Turn(t.Context(), in, steward), nil); err != nil {
		t.Fatal(err)
	}
	sent := r.requests()
	end := sent[len(sent)-1]
	if slices.Contains(end.Tools, "new_answer") || !strings.Contains(end.Sent, "It is needle.") || len(r.room.Starts()) != 1 {
		t.Errorf("then it had the tools %v, and was sent %s", end.Tools, end.Sent)
	}
}

// Six at once, each with tools and a room of its own, keep out of one another's
// way.
func TestSixAtOnce(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 6 {
		r := newReal(t, func(q openaitest.Request) backendtest.Reply {
			if q.Turns%2 == 0 {
				return runs(fmt.Sprintf("echo number-%d", i))
			}
			return says("Ran " + q.Messages[len(q.Messages)-1].Text)
		})
		wg.Go(func() {
			var talk []backend.Message
			for range 3 {
				talk = append(talk, user("run it"))
				got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), &clitest.Steward{}), nil)
				if err != nil || !strings.Contains(got.Text, fmt.Sprintf("number-%d", i)) {
					t.Errorf("the agent %d said %q, %v", i, got.Text, err)
					return
				}
				talk = append(talk, assistant(got.Text))
			}
		})
	}
	wg.Wait()
}

// What the provider refuses is no answer, and says what kind of failure it was.
func TestProviderFailures(t *testing.T) {
	t.Parallel()
	kind := backend.Auth
	r := newReal(t, func(openaitest.Request) backendtest.Reply {
		return backendtest.Reply{Fail: &backendtest.Failure{Kind: kind}}
	})
	for _, kind = range []backend.ErrorKind{backend.Auth, backend.Invalid, backend.Overloaded, backend.Truncated, backend.Declined} {
		_, err := backend.Collect(r.Turn(t.Context(), r.input("", user("hello")), &clitest.Steward{}), nil)
		if got := backend.KindOf(err); got != kind {
			t.Errorf("%s was reported as %s: %v", kind, got, err)
		}
	}
	if n := len(r.room.Starts()); n != 1 {
		t.Errorf("%d processes were started", n)
	}
}

// In a room that is another one the server is another, with the conversation.
// Where nothing may be written and nothing confines, Codex does.
func TestAnotherRoom(t *testing.T) {
	t.Parallel()
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		if q.Messages[len(q.Messages)-1].From == "user" {
			return runs("touch written")
		}
		return says(fmt.Sprint("Turn ", q.Turns))
	})
	steward := &clitest.Steward{OnPermit: func(context.Context, event.ToolCall, policy.Action) (bool, string, error) {
		return false, "", nil
	}}
	talk := []backend.Message{user("one")}
	if _, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), steward), nil); err != nil {
		t.Fatal(err)
	}
	r.room.Become("another", true)
	talk = append(talk, assistant("Turn 1"), user("two"))
	got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", talk...), steward), nil)
	if err != nil || got.Text != "Turn 3" {
		t.Fatalf("said %q, %v", got.Text, err)
	}
	if _, err := os.Stat(filepath.Join(r.room.Dir(), "written")); err == nil || len(r.room.Starts()) != 2 {
		t.Errorf("it was written to, or not another process: %v", r.room.Starts())
	}
}

// A shell of the agent finds no key worth anything.
func TestKeyIsNotInReach(t *testing.T) {
	t.Parallel()
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		if q.Turns == 0 {
			return runs(`env; cat "$CODEX_HOME/config.toml" /proc/$PPID/environ | tr '\0' '\n'`)
		}
		return says("Seen.")
	})
	steward := &clitest.Steward{}
	if _, err := backend.Collect(r.Turn(t.Context(), r.input("talk", user("look")), steward), nil); err != nil {
		t.Fatal(err)
	}
	_, ended := steward.Tools()
	if len(ended) != 1 || !strings.Contains(ended[0].Text, "CODEX_HOME") || strings.Contains(ended[0].Text, secret) {
		t.Errorf("the shell saw %v", ended)
	}
	for _, q := range r.requests() {
		if strings.Contains(q.Sent, secret) {
			t.Error("the model was told the key")
		}
	}
}
