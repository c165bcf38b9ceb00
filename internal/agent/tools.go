package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/prompt"
	"conclave/internal/tool"
)

// carryOut runs the tool calls of a reply in order and records each result as it
// comes: a call without one when the program dies has an unknown outcome. Calls
// that only look, one after another in the reply, are run together.
func (t *turn) carryOut(ctx context.Context, calls []event.ToolCall) ([]backend.ToolResult, error) {
	out := make([]backend.ToolResult, len(calls))
	most := cmp.Or(t.agent.Parallel, together)
	for i := 0; i < len(calls); {
		n := 1
		for t.looks(calls[i]) && i+n < len(calls) && n < most && t.looks(calls[i+n]) {
			n++
		}
		var done []tool.Result
		var err error
		if t.closed { // with a call before these
			done, n = []tool.Result{t.over()}, 1
		} else {
			done, err = t.runTogether(ctx, calls[i:i+n])
		}
		for k, c := range calls[i : i+n] {
			if err != nil {
				break
			}
			out[i+k], err = t.returned(ctx, c, done[k])
		}
		if err != nil {
			return nil, err
		}
		i += n
	}
	return out, nil
}

// together is how many tools run at once, unless the agent is configured
// otherwise.
const together = 8

// looks reports whether a call only looks at something.
func (t *turn) looks(c event.ToolCall) bool {
	x, ok := t.tools[c.Name]
	return ok && x.Tier() == tool.Read
}

// runTogether runs calls at the same time and waits for all of them. Whether
// they may is decided one after another.
func (t *turn) runTogether(ctx context.Context, calls []event.ToolCall) ([]tool.Result, error) {
	out, errs := make([]tool.Result, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		x, no, err := t.admit(ctx, c)
		switch {
		case err != nil:
			wg.Wait()
			return nil, err
		case no != nil:
			out[i] = *no
		case len(calls) == 1:
			out[i], errs[i] = run(ctx, x, c)
		default:
			wg.Go(func() { out[i], errs[i] = run(ctx, x, c) })
		}
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// run runs one tool. A tool that falls over ends the turn, not the program.
func run(ctx context.Context, x tool.Tool, c event.ToolCall) (res tool.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	if own, ok := x.(caller); ok {
		return own.call(ctx, c)
	}
	if res, err = x.Run(ctx, c.Input); err != nil {
		return res, fmt.Errorf("tool %s: %w", c.Name, err)
	}
	return res, nil
}

// A caller is a tool of a turn itself, which has to know which call it carries
// out. Whether it may is not asked of the kit: it has ways of its own.
type caller interface {
	call(ctx context.Context, c event.ToolCall) (tool.Result, error)
}

// use runs one tool and records what came of it.
func (t *turn) use(ctx context.Context, c event.ToolCall) (backend.ToolResult, error) {
	done, err := t.runTogether(ctx, []event.ToolCall{c})
	if err != nil {
		return backend.ToolResult{}, err
	}
	return t.returned(ctx, c, done[0])
}

// returned records what a tool gave back, all of it, and is what the model is
// shown of it.
func (t *turn) returned(ctx context.Context, c event.ToolCall, res tool.Result) (backend.ToolResult, error) {
	res.Text = t.clean(res.Text)
	text, err := t.content(ctx, res.Text)
	if err != nil {
		return backend.ToolResult{}, err
	}
	out := backend.ToolResult{Call: c.ID, Name: c.Name, Text: t.excerpt(c, res.Text, text), Error: res.Error}
	r := event.ToolReturned{Turn: t.turn, Call: c.ID, Name: c.Name, Result: text, Error: res.Error, Job: res.Job}
	for _, i := range res.Images {
		h, err := t.blobs.PutBlob(ctx, i.Data)
		if err != nil {
			return backend.ToolResult{}, &storageError{fmt.Errorf("keep a picture: %w", err)}
		}
		r.Media = append(r.Media, event.Media{Type: i.Type, Blob: h, Size: len(i.Data)})
		out.Images = append(out.Images, backend.Image{Type: i.Type, Data: i.Data})
	}
	f := t.fact("tool", r)
	if _, err = t.port.Submit(ctx, f); err == nil && t.conv != nil {
		err = t.conv.back(ctx, f.ID, r)
	}
	return out, err
}

// admit finds the tool of a call, or says why it is not carried out.
func (t *turn) admit(ctx context.Context, c event.ToolCall) (tool.Tool, *tool.Result, error) {
	x, ok := t.tools[c.Name]
	if !ok {
		no := tool.Failed(fmt.Sprintf("There is no tool %q here. %s", c.Name, t.offered()))
		return nil, &no, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(c.Input, &object); err != nil || object == nil {
		no := tool.Failed("The input of the call is not a JSON object.")
		return nil, &no, nil
	}
	if _, own := x.(caller); own {
		return x, nil, nil
	}
	no, err := t.permit(ctx, x, c)
	return x, no, err
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

func (t *turn) offers(name string) bool {
	return slices.ContainsFunc(t.in.Tools, func(s backend.ToolSpec) bool { return s.Name == name })
}

// outcomeTools are the tools that end the turn, as far as it may.
func (t *turn) outcomeTools(in prompt.In) []backend.ToolSpec {
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
			Schema:      t.voteSchema(in.Answers),
		})
	}
	return out
}

// widen lets the agent vote for those whose answers reached it in mid-turn.
func (t *turn) widen() {
	t.in.Tools = slices.Clone(t.in.Tools) // earlier calls were sent the old one
	for i := range t.in.Tools {
		if t.in.Tools[i].Name == event.ToolVote {
			t.in.Tools[i].Schema = t.voteSchema(t.shown)
		}
	}
}

// voteSchema names those who can be voted for. A backend that runs its own loop is
// told of its tools once, and is better kept going while they are the same: it is
// not told the labels, which are with the answers.
func (t *turn) voteSchema(answers []prompt.Answer) json.RawMessage {
	var labels []string
	for _, a := range answers {
		labels = append(labels, a.Label)
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	label := map[string]any{"type": "string", "enum": labels}
	if t.agent.Backend.Traits().OwnsLoop {
		label = map[string]any{"type": "string", "description": "The label of an agent whose answer you were shown, such as agent1."}
	}
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
