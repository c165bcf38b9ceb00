package backendtest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// A player plays a scene by the letter. Its faults are what a suite must notice.
type player struct {
	scene Scene
	owns  bool
	fault fault
	busy  *atomic.Int32 // turns that have begun and not ended
}

// A fault is one way to get the seam wrong.
type fault string

const (
	none           fault = ""
	doneTwice      fault = "yields Done twice"
	textAfterDone  fault = "speaks after Done"
	noDone         fault = "leaves Done out"
	emptyDelta     fault = "yields an empty delta"
	twoFields      fault = "sets two fields of a delta"
	afterError     fault = "goes on after an error"
	deltaWithError fault = "yields text and error together"
	deaf           fault = "ignores the context until it is done"
	wrongError     fault = "hides the context's error"
	losesText      fault = "drops the text before an error"
	fakesDone      fault = "ends a cut stream as if it were complete"
	mixesThinking  fault = "takes thinking for text"
	sameID         fault = "gives every call the same ID"
	noID           fault = "gives calls no ID"
	reorders       fault = "reverses calls"
	rawJSON        fault = "hands on input that is not JSON"
	dropsResults   fault = "does not send tool results"
	dropsSystem    fault = "does not send the system prompt"
	dropsTools     fault = "does not send the tools"
	dropsHistory   fault = "sends the last message only"
	noUsage        fault = "reports no usage"
	wrongStop      fault = "always stops with end"
	wrongKind      fault = "reports every error as broken"
	noRetry        fault = "forgets when to retry"
	plainError     fault = "yields errors that have no kind"
	ignoresEnd     fault = "goes on when told to end"
	yieldsCalls    fault = "owns its loop and yields calls too"
	callsHost      fault = "does not own its loop and calls the host"
	truncates      fault = "stops after 4096 bytes of text"
)

func (p *player) Traits() backend.Traits { return backend.Traits{OwnsLoop: p.owns} }

func (p *player) Turn(ctx context.Context, in backend.Input, h backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		p.busy.Add(1)
		defer p.busy.Add(-1)
		var usage event.Usage
		in.Messages = slices.Clone(in.Messages)
		for {
			r := p.reply(in)
			calls, ok := p.speak(ctx, r, h, yield)
			if !ok {
				return
			}
			usage = usage.Add(r.Usage)
			end := !p.owns || len(calls) == 0
			msg := backend.Message{From: backend.Tool}
			for _, c := range calls {
				if p.owns {
					res := h.Call(ctx, c)
					end = end || res.End && p.fault != ignoresEnd
					msg.Results = append(msg.Results, res)
				}
			}
			if err := ctx.Err(); err != nil {
				yield(backend.Delta{}, err)
				return
			}
			if end {
				p.done(r, usage, yield)
				return
			}
			in.Messages = append(in.Messages, backend.Message{From: backend.Assistant, Text: r.Text()}, msg)
		}
	}
}

// reply is what the scene answers to an input.
func (p *player) reply(in backend.Input) Reply {
	n := 0
	for _, m := range in.Messages {
		if m.From == backend.Assistant {
			n++
		}
	}
	r, ok := p.scene.Reply(n)
	if !ok || len(r.Missing(p.sent(in))) > 0 {
		return Reply{Fail: &Failure{Kind: backend.Invalid}}
	}
	return r
}

func (p *player) sent(in backend.Input) string {
	var out []string
	if p.fault != dropsSystem {
		out = append(out, in.System)
	}
	if p.fault != dropsTools {
		out = append(out, fmt.Sprint(in.Tools))
	}
	for i, m := range in.Messages {
		if p.fault == dropsHistory && i < len(in.Messages)-1 {
			continue
		}
		out = append(out, m.Text)
		if p.fault != dropsResults {
			out = append(out, fmt.Sprint(m.Results))
		}
	}
	return strings.Join(out, "\n")
}

// speak yields a reply up to its end.
func (p *player) speak(ctx context.Context, r Reply, h backend.ToolHost, yield func(backend.Delta, error) bool) (calls []event.ToolCall, ok bool) {
	if p.fault == emptyDelta && !yield(backend.Delta{}, nil) {
		return nil, false
	}
	for _, part := range r.Parts {
		if err := ctx.Err(); err != nil && p.fault != deaf {
			return nil, p.fail(err, yield)
		}
		d := backend.Delta{Text: part.Text, Thinking: part.Thinking}
		if part.Call != nil {
			d.Call = p.call(len(calls)+1, *part.Call)
			calls = append(calls, *d.Call)
		}
		if p.owns && d.Call != nil && p.fault != yieldsCalls {
			continue
		}
		if p.fault == callsHost && !p.owns && d.Call != nil {
			h.Call(ctx, *d.Call)
		}
		if !p.say(d, r, yield) {
			return nil, false
		}
	}
	if p.fault == reorders {
		slices.Reverse(calls)
	}
	return calls, p.end(ctx, r, yield)
}

// say yields one piece, spoiled by the fault.
func (p *player) say(d backend.Delta, r Reply, yield func(backend.Delta, error) bool) bool {
	switch {
	case p.fault == mixesThinking && d.Thinking != "":
		d = backend.Delta{Text: d.Thinking}
	case p.fault == twoFields && d.Text != "":
		d.Thinking = "too"
	case p.fault == losesText && (r.Fail != nil || r.Cut):
		return true
	case p.fault == truncates && len(d.Text) > 4096:
		d.Text = d.Text[:4096]
	}
	return yield(d, nil)
}

func (p *player) call(n int, c Call) *event.ToolCall {
	out := &event.ToolCall{ID: fmt.Sprint("c", n), Name: c.Name, Input: backend.Arguments(c.Input)}
	switch p.fault {
	case sameID:
		out.ID = "c"
	case noID:
		out.ID = ""
	case rawJSON:
		out.Input = []byte(c.Input)
	case reorders:
		if !p.owns && n == 1 && len(p.scene.Replies[0].Calls()) > 1 {
			out.Name = "store"
		}
	}
	return out
}

// end is what comes after the parts. It reports whether the reply is complete.
func (p *player) end(ctx context.Context, r Reply, yield func(backend.Delta, error) bool) bool {
	switch {
	case r.Cut && p.fault == fakesDone:
		return true
	case r.Cut:
		return false
	case r.Hang:
		<-ctx.Done()
	case r.Fail != nil:
		return p.fail(p.failure(*r.Fail), yield)
	}
	if err := ctx.Err(); err != nil && p.fault != deaf {
		return p.fail(err, yield)
	}
	return true
}

func (p *player) failure(f Failure) error {
	switch p.fault {
	case wrongKind:
		f.Kind = backend.Broken
	case noRetry:
		f.RetryAfter = 0
	case plainError:
		return fmt.Errorf("%s", f.Kind)
	}
	return &backend.Error{Kind: f.Kind, Message: "as the scene says", RetryAfter: f.RetryAfter}
}

func (p *player) fail(err error, yield func(backend.Delta, error) bool) bool {
	d := backend.Delta{}
	switch p.fault {
	case wrongError:
		err = &backend.Error{Kind: backend.Broken, Message: err.Error()}
	case deltaWithError:
		d.Text = "x"
	}
	if yield(d, err) && p.fault == afterError {
		yield(backend.Delta{Text: "but"}, nil)
	}
	return false
}

func (p *player) done(r Reply, usage event.Usage, yield func(backend.Delta, error) bool) {
	d := backend.Done{Stop: r.StopReason(), Usage: usage}
	switch p.fault {
	case noDone:
		return
	case noUsage:
		d.Usage = event.Usage{}
	case wrongStop:
		d.Stop = "end"
	}
	if !yield(backend.Delta{Done: &d}, nil) {
		return
	}
	switch p.fault {
	case doneTwice:
		yield(backend.Delta{Done: &d}, nil)
	case textAfterDone:
		yield(backend.Delta{Text: "more"}, nil)
	}
}
