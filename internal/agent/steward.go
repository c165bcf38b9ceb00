package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

// host is the turn as a backend that runs its own loop sees it, for as long as
// the backend speaks. Calls of our tools are carried out one after another, under
// the turn's mutex; what the backend does with tools of its own is reported and
// asked about beside them, so that neither waits for the other: a call may take as
// long as a person does.
type host struct {
	t   *turn
	ctx context.Context // the turn's: what a call came to is recorded, also of one that is given up

	// refused is the call that was refused last, times how often in a row. Of the
	// turn's mutex.
	refused string
	times   int

	mu      sync.Mutex
	gone    bool
	trouble error // what failed beside a call
	busy    sync.WaitGroup
}

var _ backend.Steward = (*host)(nil)

// enter is whether the backend may speak to the turn still; if so it has to exit.
func (h *host) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return false
	}
	h.busy.Add(1)
	return true
}

func (h *host) exit() { h.busy.Done() }

// leave waits for whatever is being carried out and takes no more.
func (h *host) leave() {
	h.mu.Lock()
	h.gone = true
	h.mu.Unlock()
	h.busy.Wait()
	if h.t.trouble == nil {
		h.t.trouble = h.trouble
	}
}

// fail keeps what failed on our side, beside a call; the first counts.
func (h *host) fail(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trouble = cmp.Or(h.trouble, err)
	return err
}

// broken reports whether something has failed that ends the turn.
func (h *host) broken() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble
}

// turnOver is what a backend is told that speaks to a turn which is over.
const turnOver = "The turn is over."

// Call carries out a tool call, or puts an outcome forward. A failure of ours is
// told to the backend so that it finishes, and ends the turn when it has.
func (h *host) Call(ctx context.Context, c event.ToolCall) (res backend.ToolResult) {
	over := backend.ToolResult{Call: c.ID, Name: c.Name, Text: turnOver, Error: true, End: true}
	if !h.enter() {
		return over
	}
	defer h.exit()
	t := h.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.trouble != nil || h.broken() != nil {
		return over
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
		res, t.trouble = t.conclude(h.ctx, c)
	} else {
		res, t.trouble = h.serve(ctx, c)
	}
	if t.trouble == nil {
		t.trouble = h.stuck(c, res)
	}
	return res
}

// maxRefused is how often a backend's own loop may make a call that is refused in
// the same words, before its turn is ended: it would go on, and cost, for as long as
// a turn may take.
const maxRefused = 20

// stuck reports that a backend makes the same call in vain again and again. That a
// tool fails is not in vain: what it looks for may come in time.
func (h *host) stuck(c event.ToolCall, res backend.ToolResult) error {
	this := ""
	if res.Error && !res.End && h.t.judges(c) {
		this = c.Name + string(c.Input) + res.Text
	}
	if this == "" || this != h.refused {
		h.refused, h.times = this, 0
	}
	if h.times++; this == "" || h.times < maxRefused {
		return nil
	}
	return &backend.Error{Kind: backend.Garbled, Message: fmt.Sprintf("it has called %s %d times in the same words, and was refused each time: %s", c.Name, maxRefused, clip(res.Text, 200))}
}

// judges reports whether it is the turn that says no to a call: one of a tool that is
// not there, an outcome, or what a job or a team has its say about.
func (t *turn) judges(c event.ToolCall) bool {
	x, ok := t.tools[c.Name]
	_, own := x.(caller)
	return !ok || own || event.IsOutcome(c.Name)
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

// serve runs a tool for a backend's own loop. News comes with the result, unless
// that ends the turn: then nobody would act on it, and it begins the next. In a
// paused run the result is held back, since the backend would go on with it.
//
// A backend that gives the call up hears nothing of it, and the turn is none the
// worse: it may have grown tired of waiting.
func (h *host) serve(ctx context.Context, c event.ToolCall) (backend.ToolResult, error) {
	t := h.t
	if _, err := t.port.Submit(h.ctx, t.fact("tool-call", event.ToolCalled{Turn: t.turn, Tool: c})); err != nil {
		return backend.ToolResult{}, err
	}
	done, err := t.runTogether(ctx, []event.ToolCall{c})
	if err != nil && ctx.Err() != nil && h.ctx.Err() == nil {
		return t.returned(h.ctx, c, tool.Failed("The call was given up before it had returned."))
	}
	if err != nil {
		return backend.ToolResult{}, err
	}
	res, err := t.returned(h.ctx, c, done[0])
	if err != nil {
		return backend.ToolResult{}, err
	}
	if res.End = t.closed; res.End || ctx.Err() != nil {
		return res, nil
	}
	news, err := t.heard(h.ctx)
	if err != nil {
		return backend.ToolResult{}, err
	}
	if len(news) > 0 {
		res.News = joined(news)
		res.Text += "\n\n" + res.News
	}
	return res, nil
}

// Permit implements [backend.Steward]: by the same rules, and by the same people,
// as for a tool of ours. While the run is paused nothing is begun.
func (h *host) Permit(ctx context.Context, c event.ToolCall, a policy.Action) (allowed bool, why string, err error) {
	if !h.enter() {
		return false, turnOver, nil
	}
	defer h.exit()
	defer func() { // as in Call
		if r := recover(); r != nil {
			allowed, err = false, h.fail(panicked(r))
		}
	}()
	t := h.t
	if h.broken() != nil {
		return false, turnOver, nil
	}
	if t.ending {
		return false, "Your time is over: end the turn now with what you have.", nil
	}
	if err := t.box.standby(ctx); err != nil {
		return false, "", h.fail(err)
	}
	a, v := t.hand.Rule(a)
	no, err := t.decide(ctx, c, a, v)
	switch {
	case err != nil:
		return false, "", h.fail(err)
	case no != nil:
		return false, no.Text, nil
	}
	return true, "", nil
}

// Began implements [backend.Steward].
func (h *host) Began(ctx context.Context, c event.ToolCall) error {
	if !h.enter() {
		return nil
	}
	defer h.exit()
	t := h.t
	c.Input = t.bounded(c.Input)
	t.port.Live(live.Delta{Agent: t.id, Turn: t.turn, Kind: live.Tool, Text: c.Name, Call: t.calls})
	if _, err := t.port.Submit(ctx, t.fact("tool-call", event.ToolCalled{Turn: t.turn, Tool: c})); err != nil {
		return h.fail(err)
	}
	return nil
}

// Ended implements [backend.Steward]. News is told when no call of ours is being
// carried out; else it comes with the result of that.
func (h *host) Ended(ctx context.Context, r backend.ToolResult) (news string, err error) {
	if !h.enter() {
		return "", nil
	}
	defer h.exit()
	t := h.t
	text, err := t.content(ctx, t.clean(shortened(r.Text)))
	if err != nil {
		return "", h.fail(err)
	}
	f := t.fact("tool", event.ToolReturned{Turn: t.turn, Call: r.Call, Name: r.Name, Result: text, Error: r.Error})
	if _, err := t.port.Submit(ctx, f); err != nil {
		return "", h.fail(err)
	}
	if !t.mu.TryLock() {
		return "", nil
	}
	defer t.mu.Unlock()
	if t.closed || t.trouble != nil || !t.box.free() {
		return "", nil
	}
	all, err := t.heard(ctx)
	if err != nil {
		return "", h.fail(err)
	}
	return joined(all), nil
}

// What is recorded of a tool that is not ours: of its input, and of its result.
const (
	ownInput  = 16 << 10
	ownText   = 2 << 10 // of one text in an input that is longer
	ownResult = 64 << 10
)

// bounded is the input of a call as it is recorded: without secrets, and with long
// texts cut short.
func (t *turn) bounded(input json.RawMessage) json.RawMessage {
	var fields map[string]any
	if len(input) > ownInput && json.Unmarshal(input, &fields) == nil {
		for name, v := range fields {
			if s, ok := v.(string); ok && len(s) > ownText {
				fields[name] = clip(s, ownText) + " […]"
			}
		}
		input, _ = json.Marshal(fields) // it was JSON before
	}
	out := json.RawMessage(t.clean(string(input)))
	if len(out) > ownInput || !json.Valid(out) {
		out, _ = json.Marshal(map[string]string{"input": clip(string(out), ownText) + " […]"})
	}
	return out
}

// shortened is the beginning and the end of a long text.
func shortened(s string) string {
	if len(s) <= ownResult {
		return s
	}
	return cutEnd(s, ownResult/2) + "\n\n[…]\n\n" + cutStart(s, ownResult/2)
}
