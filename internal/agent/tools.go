package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/tool"
)

// carryOut runs the tool calls of a reply, one after another, and records each
// result as it comes: a call without one when the program dies has an unknown
// outcome.
func (t *turn) carryOut(ctx context.Context, calls []event.ToolCall) ([]backend.ToolResult, error) {
	var out []backend.ToolResult
	for _, c := range calls {
		r, err := t.use(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// use runs one tool and records what came of it.
func (t *turn) use(ctx context.Context, c event.ToolCall) (backend.ToolResult, error) {
	res, err := t.runTool(ctx, c)
	if err != nil {
		return backend.ToolResult{}, fmt.Errorf("tool %s: %w", c.Name, err)
	}
	text, err := t.crew.content(ctx, res.Text)
	if err != nil {
		return backend.ToolResult{}, err
	}
	f := t.fact("tool", event.ToolReturned{Turn: t.turn, Call: c.ID, Name: c.Name, Result: text, Error: res.Error})
	if _, err := t.port.Submit(ctx, f); err != nil {
		return backend.ToolResult{}, err
	}
	return backend.ToolResult{Call: c.ID, Name: c.Name, Text: res.Text, Error: res.Error}, nil
}

func (t *turn) runTool(ctx context.Context, c event.ToolCall) (tool.Result, error) {
	x, ok := t.tools[c.Name]
	if !ok {
		return tool.Result{Error: true, Text: fmt.Sprintf("There is no tool %q here. %s", c.Name, t.offered())}, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(c.Input, &object); err != nil || object == nil {
		return tool.Result{Error: true, Text: "The input of the call is not a JSON object."}, nil
	}
	return x.Run(ctx, c.Input)
}

func (t *turn) offered() string {
	var names []string
	for _, s := range t.in.Tools {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return "None is offered in this turn."
	}
	return "Offered are: " + strings.Join(names, ", ") + "."
}

// host is the turn as a backend that runs its own loop sees it, for as long as
// the backend speaks.
type host struct {
	t    *turn
	gone bool // guarded by the turn's mutex
}

// leave waits for a call that is being carried out and takes no more.
func (h *host) leave() {
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	h.gone = true
}

// Call carries out a tool call, or puts an outcome forward. A failure of ours is
// told to the backend so that it finishes, and ends the turn when it has.
func (h *host) Call(ctx context.Context, c event.ToolCall) (res backend.ToolResult) {
	t := h.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.gone || t.closed || t.trouble != nil {
		return backend.ToolResult{Call: c.ID, Name: c.Name, Text: "The turn is over.", Error: true, End: true}
	}
	// The goroutine is the backend's: a fault in a tool must not be its end.
	defer func() {
		if r := recover(); r != nil {
			t.trouble = panicked(r)
		}
		if t.trouble != nil {
			res = backend.ToolResult{Call: c.ID, Name: c.Name, Text: t.trouble.Error(), Error: true, End: true}
		}
	}()
	if event.IsOutcome(c.Name) && t.offers(c.Name) {
		res, t.trouble = t.conclude(ctx, c)
	} else {
		res, t.trouble = t.serve(ctx, c)
	}
	return res
}

// conclude puts forward the outcome of a backend's own loop.
func (t *turn) conclude(ctx context.Context, c event.ToolCall) (backend.ToolResult, error) {
	why, over, err := t.propose(ctx, event.Fact{}, []event.ToolCall{c})
	if err != nil {
		return backend.ToolResult{}, err
	}
	t.closed = over
	return backend.ToolResult{Call: c.ID, Name: c.Name, Text: cmp.Or(why, "Taken."), Error: why != "", End: over}, nil
}

// serve runs a tool for a backend's own loop. News comes with the result: there
// is no other moment at which the agent could hear of it.
func (t *turn) serve(ctx context.Context, c event.ToolCall) (backend.ToolResult, error) {
	if _, err := t.port.Submit(ctx, t.fact("tool-call", event.ToolCalled{Turn: t.turn, Tool: c})); err != nil {
		return backend.ToolResult{}, err
	}
	res, err := t.use(ctx, c)
	if err != nil {
		return backend.ToolResult{}, err
	}
	news, err := t.heard(ctx)
	if err != nil {
		return backend.ToolResult{}, err
	}
	if news != "" {
		res.Text += "\n\n" + news
	}
	return res, nil
}

func (t *turn) offers(name string) bool {
	return slices.ContainsFunc(t.in.Tools, func(s backend.ToolSpec) bool { return s.Name == name })
}

// outcomeTools are the tools that end the turn, as far as it may.
func outcomeTools(in prompt.In) []backend.ToolSpec {
	var out []backend.ToolSpec
	if in.MayAnswer {
		out = append(out, backend.ToolSpec{
			Name:        event.ToolNewAnswer,
			Description: "Give your complete answer to the task. Ends your turn.",
			Schema:      json.RawMessage(`{"type":"object","properties":{"content":{"type":"string","description":"The whole answer. It must stand on its own."}},"required":["content"]}`),
		})
	}
	if in.MayVote {
		out = append(out, backend.ToolSpec{
			Name:        event.ToolVote,
			Description: "Vote for the best answer. Ends your turn.",
			Schema:      voteSchema(in.Answers),
		})
	}
	return out
}

// widen lets the agent vote for those whose answers reached it in mid-turn.
func (t *turn) widen() {
	t.in.Tools = slices.Clone(t.in.Tools) // earlier calls were sent the old one
	for i := range t.in.Tools {
		if t.in.Tools[i].Name == event.ToolVote {
			t.in.Tools[i].Schema = voteSchema(t.shown)
		}
	}
}

func voteSchema(answers []prompt.Answer) json.RawMessage {
	var labels []string
	for _, a := range answers {
		labels = append(labels, a.Label)
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	label := map[string]any{"type": "string", "enum": labels}
	s, err := json.Marshal(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"agent_id": label,
			"reason":   map[string]any{"type": "string", "description": "Why this answer is the best."},
			"ranking":  map[string]any{"type": "array", "items": label, "description": "Optional: all agents, best first."},
		},
		"required": []string{"agent_id", "reason"},
	})
	if err != nil {
		panic(err) // strings and maps always marshal
	}
	return s
}
