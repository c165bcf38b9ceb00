package backendtest

import (
	"context"
	"iter"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// A talk is a conversation played to its end. It looks the same whether the
// backend owns its loop or not.
type talk struct {
	text     string
	thinking string
	calls    []event.ToolCall
	usage    event.Usage
	stop     string // of the last reply
	turns    int
	err      error
}

// A host answers tool calls: by itself for a backend that owns its loop, through
// the loop in converse for any other.
type host struct {
	answer func(event.ToolCall) backend.ToolResult

	mu    sync.Mutex
	calls []event.ToolCall
}

func (h *host) Call(_ context.Context, c event.ToolCall) backend.ToolResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c)
	res := h.answer(c)
	res.Call, res.Name = c.ID, c.Name
	return res
}

// tools are what every scene offers.
var tools = []backend.ToolSpec{
	{Name: "lookup", Description: "Look something up.", Schema: []byte(`{"type":"object","properties":{"key":{"type":"string"}}}`)},
	{Name: "store", Description: "Store something.", Schema: []byte(`{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}}}`)},
}

func opening() backend.Input {
	return backend.Input{
		System:   "You are the agent of needleSystem.",
		Messages: []backend.Message{{From: backend.User, Text: "Please begin with needleUser."}},
		Tools:    tools,
	}
}

// maxTurns bounds a conversation that does not come to an end.
const maxTurns = 10

// converse talks until the agent calls no more tools.
func (k *checker) converse(ctx context.Context, in backend.Input, answer func(event.ToolCall) backend.ToolResult) talk {
	traits := k.backend.Traits()
	h := &host{answer: answer}
	var out talk
	for out.turns = 1; out.turns <= maxTurns; out.turns++ {
		r, err := k.read(k.backend.Turn(ctx, in, h))
		out.text += r.Text
		out.thinking += r.Thinking
		out.usage = out.usage.Add(r.Usage)
		out.stop, out.err = r.Stop, err
		out.calls = append(out.calls, r.Calls...)
		if traits.OwnsLoop {
			if len(r.Calls) > 0 {
				k.errorf("a backend that owns its loop yielded calls for somebody else to make: %v", r.Calls)
			}
			out.calls = h.calls
			return out
		}
		if err != nil || len(r.Calls) == 0 {
			return out
		}
		if len(h.calls) > 0 {
			k.errorf("a backend that does not own its loop called the host")
		}
		more := []backend.Message{{From: backend.Assistant, Text: r.Text, Calls: r.Calls, Native: r.Native}, results(r.Calls, answer)}
		if traits.NativeHistory {
			in.Messages = more[1:]
		} else {
			in.Messages = append(in.Messages, more...)
		}
	}
	k.errorf("no end after %d turns", maxTurns)
	return out
}

func results(calls []event.ToolCall, answer func(event.ToolCall) backend.ToolResult) backend.Message {
	m := backend.Message{From: backend.Tool}
	for _, c := range calls {
		res := answer(c)
		res.Call, res.Name = c.ID, c.Name
		m.Results = append(m.Results, res)
	}
	return m
}

// nothing is a tool that has nothing to say.
func nothing(event.ToolCall) backend.ToolResult { return backend.ToolResult{Text: "ok"} }

// read reads a stream to its very end, checks its form, and puts it together.
func (k *checker) read(stream iter.Seq2[backend.Delta, error]) (backend.Reply, error) {
	var deltas []backend.Delta
	var failed error
	done := false
	for d, err := range stream {
		switch {
		case failed != nil:
			k.errorf("something came after the error %v: %+v, %v", failed, d, err)
		case done:
			k.errorf("something came after Done: %+v, %v", d, err)
		case err != nil:
			failed = err
			if d != (backend.Delta{}) {
				k.errorf("a delta came with the error %v: %+v", err, d)
			}
			continue
		}
		k.form(d)
		deltas = append(deltas, d)
		done = done || d.Done != nil
	}
	return backend.Collect(func(yield func(backend.Delta, error) bool) {
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
		if failed != nil {
			yield(backend.Delta{}, failed)
		}
	}, nil)
}

// form checks that a delta is exactly one thing.
func (k *checker) form(d backend.Delta) {
	n := 0
	for _, set := range []bool{d.Text != "", d.Thinking != "", d.Call != nil, d.Did != nil, d.Done != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		k.errorf("a delta has %d fields set: %+v", n, d)
	}
	if d.Call != nil && (d.Call.ID == "" || d.Call.Name == "") {
		k.errorf("a call without an ID or a name: %+v", *d.Call)
	}
}

// say is one turn without tools to call.
func (k *checker) say() talk { return k.converse(k.ctx, opening(), nothing) }
