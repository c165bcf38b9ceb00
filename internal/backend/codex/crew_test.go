package codex_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
)

// kid is the thread of the fake's own agent.
const kid = "t-kid"

// crew has the fake start an agent in its first turn, if it is one that does.
func (f *fakeCodex) crew(t *fakeThread, at func(object) object) {
	if t.Turns > 0 {
		if f.first != "" { // what the first turn used comes late
			f.tell("thread/tokenUsage/updated", object{"threadId": t.ID, "turnId": f.first, "tokenUsage": object{"last": object{"inputTokens": 10}}})
		}
		return
	}
	if f.like == "crew" {
		f.first, _ = at(object{})["turnId"].(string)
	}
	if f.like == "post" { // one of the second kind ends while the answer is being given
		f.tell("item/completed", at(object{"item": object{"type": "subAgentActivity", "id": "spawn", "kind": "started", "agentThreadId": kid}}))
		f.tell("turn/started", object{"threadId": kid, "turn": object{"id": "u-kid"}})
		f.tell("turn/completed", object{"threadId": kid, "turn": object{"id": "u-kid", "status": "completed"}})
		f.tell("thread/tokenUsage/updated", object{"threadId": kid, "turnId": "u-kid", "tokenUsage": object{"last": object{"inputTokens": 100}}})
		f.tell("item/completed", at(object{"item": object{"type": "agentMessage", "id": "item-0", "text": ""}}))
	}
	if f.like != "crew" && f.like != "busy" {
		return
	}
	f.tell("item/completed", at(object{"item": object{
		"type": "collabAgentToolCall", "id": "spawn", "tool": "spawnAgent", "status": "completed", "prompt": "do it",
		"receiverThreadIds": []string{kid}, "agentsStates": object{kid: object{"status": "pendingInit"}},
	}}))
}

// crewed has that agent work when the turn that started it has ended.
func (f *fakeCodex) crewed(t *fakeThread) {
	if t.Turns != 1 || f.like != "crew" && f.like != "busy" {
		return
	}
	f.tell("turn/started", object{"threadId": kid, "turn": object{"id": "u-kid"}})
	f.tell("thread/tokenUsage/updated", object{"threadId": kid, "turnId": "u-kid", "tokenUsage": object{"last": object{"inputTokens": 100}}})
	if f.like == "crew" {
		f.tell("turn/completed", object{"threadId": kid, "turn": object{"id": "u-kid", "status": "completed"}})
	}
}

// A turn that Codex has ended while an agent of its own works is not over: when that
// ends the next one is begun, and what the agent used counts.
func TestWoken(t *testing.T) {
	for like, input := range map[string]int64{"crew": 110, "post": 100} {
		s := newSeat(t, like, scene(says("Waiting."), backendtest.Reply{Needs: []string{"has ended"}, Parts: says("It came to this.").Parts}), 0)
		got, err := s.say(t.Context(), user("hello"))
		if err != nil || got.Text != "Waiting.\n\nIt came to this." || got.Usage.Input != input {
			t.Errorf("%s: said %q with %+v, %v", like, got.Text, got.Usage, err)
		}
	}
}

// An agent of Codex's own does not outlive a turn that is given up.
func TestCrewIsStopped(t *testing.T) {
	s := newSeat(t, "busy", scene(says("Waiting."), says("Going on.")), 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := backend.Collect(s.Turn(ctx, backend.Input{Messages: []backend.Message{user("hello")}}, &clitest.Steward{}), func(backend.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	if got, err := s.say(t.Context(), user("hello")); err != nil || got.Text != "Going on." || len(s.room.Starts()) != 1 {
		t.Errorf("then it said %q, %v, in process %d", got.Text, err, len(s.room.Starts()))
	}
}

func spawns() backendtest.Reply {
	return calls("multi_agent_v1:spawn_agent", `{"message":"CHILD TASK"}`)
}

// The real Codex ends its turn while an agent of its own works, of either kind that it
// has: the turn goes on when that has ended, and Codex is told what it came to.
func TestAgentOfItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("v1", func(t *testing.T) {
		t.Parallel()
		agentOfItsOwn(t, spawns(), 2)
	})
	t.Run("v2", func(t *testing.T) {
		t.Parallel()
		agentOfItsOwn(t, calls("collaboration:spawn_agent", `{"message":"CHILD TASK","task_name":"kid"}`), 2, "-c", "features.multi_agent_v2=true")
	})
}

func agentOfItsOwn(t *testing.T, spawn backendtest.Reply, reported int, args ...string) {
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		child := firstUser(q) == "CHILD TASK" || strings.Contains(q.Sent, "NEW_TASK")
		switch {
		case child && !strings.Contains(q.Sent, "echo worked"):
			return runs("until test -e spoken; do sleep 0.1; done; echo worked")
		case child:
			return says("forty-two")
		case q.Turns == 0:
			return spawn
		case strings.Contains(q.Sent, "forty-two"):
			return says("It came to forty-two.")
		case strings.Contains(q.Sent, "wait_agent brings it"):
			return calls("collaboration:wait_agent", "{}")
		}
		return says("Waiting.")
	}, args...)
	steward := &clitest.Steward{}
	got, err := backend.Collect(r.Turn(t.Context(), r.input("talk", user("go")), steward), func(d backend.Delta) {
		if d.Text != "" { // it does not wait for the agent
			_ = os.WriteFile(filepath.Join(r.room.Dir(), "spoken"), nil, 0o600)
		}
	})
	if err != nil || !strings.HasPrefix(got.Text, "Waiting.") || !strings.HasSuffix(got.Text, "It came to forty-two.") {
		t.Fatalf("said %q, %v", got.Text, err)
	}
	if n := int64(len(r.requests())); got.Usage != (event.Usage{Input: 10 * n, Output: 5 * n}) {
		t.Errorf("%d requests used %+v", n, got.Usage)
	}
	began, _ := steward.Tools()
	if len(began) != reported || len(steward.Asked()) != 1 {
		t.Errorf("reported were %v, and asked %v", began, steward.Asked())
	}
}

// firstUser is what the user said first.
func firstUser(q openaitest.Request) string {
	for _, m := range q.Messages {
		if m.From == "user" && !strings.HasPrefix(m.Text, "<") {
			return m.Text
		}
	}
	return ""
}

// A turn that is given up takes the agents of Codex's own with it, and what they run;
// the process stays.
func TestAgentOfItsOwnIsStopped(t *testing.T) {
	t.Parallel()
	r := newReal(t, func(q openaitest.Request) backendtest.Reply {
		switch {
		case firstUser(q) == "CHILD TASK":
			return runs("touch started; sleep 1000")
		case q.Turns == 0:
			return spawns()
		}
		return says("Waiting.")
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		eventually(t, "the agent works", func() bool {
			_, err := os.Stat(filepath.Join(r.room.Dir(), "started"))
			return err == nil
		})
	})
	_, err := backend.Collect(r.Turn(ctx, r.input("talk", user("go")), &clitest.Steward{}), nil)
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	eventually(t, "nothing runs but the server", func() bool { return len(r.room.Left()) == 1 })
	if n := len(r.room.Starts()); n != 1 {
		t.Errorf("%d processes were started", n)
	}
}

// What a turn had used when it failed is told with its failure.
func TestSpent(t *testing.T) {
	call := backendtest.Reply{Parts: []backendtest.Part{{Call: &backendtest.Call{Name: "lookup", Input: "{}"}}}, Usage: event.Usage{Input: 7, Output: 3}}
	s := newSeat(t, "itself", scene(call, backendtest.Reply{Fail: &backendtest.Failure{Kind: backend.Overloaded}}), 0)
	got, err := s.say(t.Context(), user("hello"))
	if backend.KindOf(err) != backend.Overloaded || got.Usage != call.Usage {
		t.Errorf("used %+v, %v", got.Usage, err)
	}
}
