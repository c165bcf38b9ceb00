package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/mem"
	"conclave/internal/flow"
	"conclave/internal/tool"
)

// final is how every run of the trio ends, whatever happens to it on the way.
const final = "The last word of bob."

// look is a tool that takes its time.
type look struct{}

func (look) Name() string            { return "look" }
func (look) Description() string     { return "Looks." }
func (look) Schema() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }
func (look) Tier() tool.Tier         { return tool.Read }
func (look) Run(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
	select {
	case <-time.After(15 * time.Second):
		return tool.Result{Text: "seen"}, nil
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
}

// trio is a run of three agents that takes minutes: a tool call, a budget,
// answers that are blobs, votes that go stale, a presentation. Bob's answer is
// the longest, which is what all of them vote by.
func trio(t *testing.T) *agenttest.Stage {
	t.Helper()
	script := func(id event.AgentID, first string, answer string) agenttest.Actor {
		a := agenttest.Scripted(t, id, fmt.Sprintf(`
steps:
  - when: {presenting: true}
    do: [{delay: 20s}, {say: "The last word of %s."}]
  - when: {own: 0, call: 1}
    do: [{delay: %s}, {tool: {name: look, input: {at: "it"}}}]
  - when: {own: 0}
    do: [{delay: 5s}, {answer: %q}]
  - do: [{delay: 10s}, {vote: {for: longest, reason: It says the most.}}]
`, id, first, answer))
		a.Tools = []tool.Tool{look{}}
		return a
	}
	rules := event.Defaults(event.Mode{})
	rules.Budget.Tokens = new(int64(1_000_000))
	return agenttest.New(rules, "Say something.",
		script("ada", "10s", "Short."),
		script("bob", "30s", strings.Repeat("Much to say. ", 500)),
		script("cyd", "70s", strings.Repeat("Less to say. ", 400)))
}

// done complains unless the log tells of a whole run with the expected end.
func done(t *testing.T, log eventlog.Log) []event.Event {
	t.Helper()
	events := agenttest.Proved(t, log)
	f := agenttest.Finished(t, events)
	if f.Status != event.StatusSuccess || f.StoppedBy != event.StoppedByVotes || f.Answer.Text != final || f.Winner != "bob" {
		t.Fatalf("ended as %+v\n%s", f, agenttest.Transcript(events))
	}
	return events
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		began := time.Now()
		if err := trio(t).Start(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		done(t, log)
		if took := time.Since(began); took < 2*time.Minute {
			t.Errorf("the run took %v of its own time", took)
		}
	})
}

// Of a real run, too, no turn begins before the log holds its assignment.
func TestTurnsBeginAfterTheirCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := trio(t), mem.New()
		var begun atomic.Int32
		s.Doer = func(d engine.Doer) engine.Doer {
			return before{d, func(key string) {
				begun.Add(1)
				for _, e := range agenttest.Events(t, log) {
					switch b := e.Body.(type) {
					case event.Assigned:
						if b.Turn.Key(e.Agent) == key {
							return
						}
					case event.Presenting:
						if b.Turn.Key(e.Agent) == key {
							return
						}
					}
				}
				t.Errorf("%s was begun before it was asked for", key)
			}}
		}
		if err := s.Start(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		done(t, log)
		if begun.Load() < 7 {
			t.Errorf("%d turns were begun", begun.Load())
		}
	})
}

// before calls a function with the key of each command before it is done.
type before struct {
	engine.Doer
	call func(key string)
}

func (b before) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	b.call(c.Key())
	return b.Doer.Do(ctx, c, p)
}

// Anybody may cancel a run: it ends with what there is, and everybody who asked
// is answered.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		other := log.Open()
		s := trio(t)
		s.Doer = func(d engine.Doer) engine.Doer { return slowToStop{d} }
		time.AfterFunc(time.Minute, func() {
			for _, who := range []string{"ann", "joe"} {
				f := event.Fact{ID: "cancel/" + who, Body: event.CancelRequested{By: who}}
				if err := other.Send(context.Background(), agenttest.Flow, f); err != nil {
					t.Error(err)
				}
			}
		})
		if err := s.Start(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		events := agenttest.Proved(t, log)
		f := agenttest.Finished(t, events)
		if f.Status != event.StatusCancelled || f.StoppedBy != event.StoppedByUser || f.Answer.Empty() || f.Error != "cancelled by ann" {
			t.Errorf("ended as %+v", f)
		}
		admitted := map[string]bool{}
		for _, a := range agenttest.Bodies[event.Admitted](events, "") {
			admitted[a.Ref] = true
		}
		if !admitted["cancel/ann"] || !admitted["cancel/joe"] {
			t.Errorf("answered were %v", admitted)
		}
	})
}

// slowToStop has every turn take a while to end when it is told to.
type slowToStop struct{ engine.Doer }

func (s slowToStop) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	last := s.Doer.Do(ctx, c, p)
	if ctx.Err() != nil {
		<-time.After(time.Second)
	}
	return last
}

// Nobody can send a run its own decisions.
func TestForgedDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := mem.New()
		time.AfterFunc(time.Minute, func() {
			for i, b := range []event.Body{
				event.Finished{Status: event.StatusSuccess, Answer: event.Inline("Mine.")},
				event.Failed{Turn: event.Turn{Round: 1, Take: 1}, Code: "auth", Final: true},
				event.Proposed{Turn: event.Turn{Round: 1, Take: 1}, Outcomes: []event.Outcome{{Answer: &event.Answer{Content: event.Inline("Mine.")}}}},
				event.TimerFired{},
			} {
				f := event.Fact{ID: fmt.Sprintf("forged/%d", i), Agent: "bob", Body: b}
				if err := log.Send(context.Background(), agenttest.Flow, f); err != nil {
					t.Error(err)
				}
			}
		})
		if err := trio(t).Start(t.Context(), t, log); err != nil {
			t.Fatal(err)
		}
		for _, e := range done(t, log) {
			if strings.HasPrefix(e.ID, "forged") {
				t.Errorf("%s was taken in", e.ID)
			}
		}
	})
}
