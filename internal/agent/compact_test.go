package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/prompt"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// reader is a backend that looks n times before it answers, and counts how full
// its window is.
func reader(n int, window int, summary reply) *speaker {
	looked := 0
	sp := &speaker{traits: backend.Traits{Window: window}}
	sp.speak = func(_ int, in backend.Input) reply {
		if in.System == prompt.CompactSystem() {
			return summary
		}
		if looked++; looked <= n {
			r := calls("look", fmt.Sprintf(`{"at":%d}`, looked))
			r.input = int64(100 * len(in.Messages))
			return r
		}
		return answers("Done.")
	}
	return sp
}

// long is a tool that gives back a lot.
func long() *gadget {
	return &gadget{name: "look", run: func(context.Context, json.RawMessage) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("hay ", 500)}, nil
	}}
}

// A conversation that fills the window is put into fewer words: task, rules and
// the last exchanges stay as they are, and the log says what happened.
func TestCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reader(6, 1000, says("It looked at 1 to 4 and found nothing."))
		rules := event.Defaults(event.Mode{Single: true, Quick: true})
		events := agenttest.New(rules, "Find the needle.", actor("a", sp, long())).Play(t, mem.New())

		compacted := agenttest.Bodies[event.Compacted](events, "a")
		if len(compacted) != 1 {
			t.Fatalf("compacted %d times", len(compacted))
		}
		c := compacted[0]
		if c.Messages != 6 || c.Summary.Text != "It looked at 1 to 4 and found nothing." || c.After >= c.Before || c.Usage.Output != 5 {
			t.Errorf("recorded %#v", c)
		}
		in := sp.inputs()
		first, last := in[0], in[len(in)-1]
		if last.System != first.System {
			t.Error("the system prompt has changed")
		}
		if !strings.HasPrefix(last.Messages[0].Text, first.Messages[0].Text) {
			t.Error("the first message does not begin as it did")
		}
		mustContain(t, last.Messages[0].Text, "found nothing")
		if n := len(last.Messages); last.Messages[1].From != backend.Assistant || n >= 2+2*6 {
			t.Errorf("%d messages are left", n)
		}
		if diff := cmp.Diff(offered(first), offered(last)); diff != "" {
			t.Error(diff)
		}
	})
}

// When the model cannot summarise, what it did is kept by name, and the run goes
// on; so it does when the provider is the first to say that it is too much.
func TestCompactionWithoutASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reader(6, 1000, fails(backend.Overloaded))
		events := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Find it.", actor("a", sp, long())).Play(t, mem.New())
		c := agenttest.Bodies[event.Compacted](events, "a")
		if len(c) != 1 {
			t.Fatalf("compacted %d times", len(c))
		}
		mustContain(t, c[0].Summary.Text, `look {"at":1}`, `look {"at":2}`)
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
	})
}

func TestTooLongIsCompacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reader(6, 0, says("In short."))
		inner := sp.speak
		sp.speak = func(n int, in backend.Input) reply {
			if len(in.Messages) > 8 {
				return fails(backend.TooLong)
			}
			return inner(n, in)
		}
		events := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Find it.", actor("a", sp, long())).Play(t, mem.New())
		if c := agenttest.Bodies[event.Compacted](events, "a"); len(c) == 0 {
			t.Error("nothing was compacted")
		}
		if f := agenttest.Finished(t, events); f.Status != event.StatusSuccess {
			t.Errorf("ended as %+v", f)
		}
	})
}

// A backend that keeps its own conversation is not asked to put it into fewer
// words, whoever says that it is too long.
func TestOwnHistoryIsNotCompacted(t *testing.T) {
	for name, traits := range map[string]backend.Traits{"history": {NativeHistory: true, Window: 1000}, "loop": {OwnsLoop: true, Window: 1000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := &speaker{traits: traits}
				sp.speak = func(n int, in backend.Input) reply {
					if in.System == prompt.CompactSystem() {
						t.Error("asked for a summary")
					}
					if n > 4 {
						return fails(backend.TooLong)
					}
					r := says("Hm.") // no outcome
					r.input = 900
					return r
				}
				rules := event.Defaults(event.Mode{Single: true, Quick: true})
				rules.MaxAttempts = 6
				events := agenttest.New(rules, "Find it.", actor("a", sp)).Play(t, mem.New())
				if c := agenttest.Bodies[event.Compacted](events, "a"); len(c) > 0 {
					t.Errorf("compacted: %+v", c)
				}
			})
		})
	}
}

// Everything the agent was told stays word for word.
func TestCompactionKeepsWhatWeSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reader(6, 1000, says("In short."))
		inner := sp.speak
		sp.speak = func(n int, in backend.Input) reply {
			if n == 1 {
				return says("I think …") // no outcome, and told so
			}
			return inner(n, in)
		}
		events := agenttest.New(event.Defaults(event.Mode{Single: true, Quick: true}), "Find it.", actor("a", sp, long())).Play(t, mem.New())
		if len(agenttest.Bodies[event.Compacted](events, "a")) == 0 {
			t.Fatal("nothing was compacted")
		}
		in := sp.inputs()
		mustContain(t, in[len(in)-1].Messages[0].Text, "In short.", "The turn needs an outcome.")
	})
}
