package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/event"
	"conclave/internal/tool"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// speaker is a backend through which a test speaks, and that keeps what it was
// sent.
type speaker struct {
	traits backend.Traits
	// speak gives the reply to the nth call, counted from 1.
	speak func(n int, in backend.Input) reply

	mu   sync.Mutex
	sent []backend.Input
}

// reply is what a speaker says: deltas, an error after them, or whatever else a
// function does.
type reply struct {
	after  time.Duration
	deltas []backend.Delta
	input  int64 // tokens it counts
	open   bool  // no Done at the end
	stop   string
	err    error
	do     func(context.Context, backend.ToolHost) error
}

func (s *speaker) Traits() backend.Traits { return s.traits }

func (s *speaker) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		r := s.speak(s.keep(in), in)
		select {
		case <-time.After(r.after):
		case <-ctx.Done():
			yield(backend.Delta{}, ctx.Err())
			return
		}
		for _, d := range r.deltas {
			if !yield(d, nil) {
				return
			}
		}
		if r.do != nil {
			if err := r.do(ctx, host); err != nil {
				yield(backend.Delta{}, err)
				return
			}
		}
		if r.err != nil {
			yield(backend.Delta{}, r.err)
		} else if !r.open {
			yield(backend.Delta{Done: &backend.Done{Stop: cmp.Or(r.stop, "end"), Usage: event.Usage{Input: r.input, Output: 5}}}, nil)
		}
	}
}

// keep notes a copy of what was sent and returns its number.
func (s *speaker) keep(in backend.Input) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	in.Messages, in.Tools = slices.Clone(in.Messages), slices.Clone(in.Tools)
	s.sent = append(s.sent, in)
	return len(s.sent)
}

// inputs is what the speaker has been sent so far.
func (s *speaker) inputs() []backend.Input {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// says speaks without calling anything.
func says(text string) reply { return reply{deltas: []backend.Delta{{Text: text}}} }

// calls calls tools: name and input in turn.
func calls(namesAndInputs ...string) reply {
	var r reply
	for i := 0; i < len(namesAndInputs); i += 2 {
		r.deltas = append(r.deltas, backend.Delta{Call: &event.ToolCall{
			ID: fmt.Sprint("c", i/2+1), Name: namesAndInputs[i], Input: backend.Arguments(namesAndInputs[i+1]),
		}})
	}
	return r
}

func answers(text string) reply { return calls(event.ToolNewAnswer, quote("content", text)) }
func votes(label string) reply {
	return calls(event.ToolVote, quote("agent_id", label, "reason", "It is the best."))
}
func fails(kind backend.ErrorKind) reply {
	return reply{err: &backend.Error{Kind: kind, Message: "as the test says"}}
}

func (r reply) in(d time.Duration) reply { r.after = d; return r }
func (r reply) and(more reply) reply     { r.deltas = append(r.deltas, more.deltas...); return r }

// quote is a JSON object of keys and texts in turn.
func quote(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	p, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(p)
}

// plays gives its replies one after another and then does the sensible thing.
func plays(replies ...reply) *speaker {
	return &speaker{speak: func(n int, in backend.Input) reply {
		if n <= len(replies) {
			return replies[n-1]
		}
		return sensible(in)
	}}
}

// sensible answers once, then votes for the first label in the alphabet, and
// presents.
func sensible(in backend.Input) reply {
	s := script.NewScene(in)
	switch {
	case !offers(in, event.ToolNewAnswer) && !offers(in, event.ToolVote):
		return says("The final answer.")
	case s.Own == "" && offers(in, event.ToolNewAnswer):
		return answers("An answer after " + fmt.Sprint(len(s.Peers)) + " others.")
	case offers(in, event.ToolVote):
		return votes(s.Answers[0].Label)
	}
	return answers(fmt.Sprint("More of it, call ", s.Call, " ", s.Own))
}

func offers(in backend.Input, name string) bool { return slices.Contains(offered(in), name) }

// offered are the names of the tools in an input, in the order of the alphabet.
func offered(in backend.Input) []string {
	var out []string
	for _, t := range in.Tools {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}

// whole is everything a model is sent, as one text.
func whole(in backend.Input) string {
	p, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(p)
}

// results are what the model was told its last calls gave.
func results(in backend.Input) []backend.ToolResult {
	for _, m := range slices.Backward(in.Messages) {
		if m.From == backend.Tool {
			return m.Results
		}
	}
	return nil
}

// words is the text of the last message of the user's.
func words(in backend.Input) string {
	for _, m := range slices.Backward(in.Messages) {
		if m.From == backend.User {
			return m.Text
		}
	}
	return ""
}

// gadget is a tool that does what a test wants.
type gadget struct {
	name string
	tier tool.Tier
	run  func(context.Context, json.RawMessage) (tool.Result, error)

	mu   sync.Mutex
	runs []string // its inputs
}

func (g *gadget) Name() string            { return g.name }
func (g *gadget) Description() string     { return "Does " + g.name + "." }
func (g *gadget) Schema() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }
func (g *gadget) Tier() tool.Tier         { return g.tier }

func (g *gadget) Run(ctx context.Context, in json.RawMessage) (tool.Result, error) {
	g.mu.Lock()
	g.runs = append(g.runs, string(in))
	g.mu.Unlock()
	if g.run == nil {
		return tool.Result{Text: g.name + " done"}, nil
	}
	return g.run(ctx, in)
}

func (g *gadget) inputs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.runs)
}

// takes is a tool that takes some time.
func takes(name string, d time.Duration) *gadget {
	return &gadget{name: name, run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
		select {
		case <-time.After(d):
			return tool.Result{Text: name + " done"}, nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}}
}

func actor(id event.AgentID, b backend.Backend, tools ...tool.Tool) agenttest.Actor {
	return agenttest.Actor{ID: id, Backend: b, Tools: tools}
}

// single are the rules of one agent that refines until it votes.
func single() event.Rules { return event.Defaults(event.Mode{Single: true}) }

// multi are the rules of several agents.
func multi() event.Rules { return event.Defaults(event.Mode{}) }

// mustContain complains about every part that is not in the text.
func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}
