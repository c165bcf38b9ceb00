package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/internal/control"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/job"
	"conclave/internal/talk"
)

// LLMRequest implements [control.Jobs]. The system prompt and the tools are kept
// with the call; the messages are the facts before it, as the decider of the flow
// remembers them, which is what its agent was given.
func (a *App) LLMRequest(ctx context.Context, id event.FlowID, seq uint64) (control.LLMRequest, error) {
	log, last, err := a.audited(ctx, id)
	if err != nil {
		return control.LLMRequest{}, err
	}
	missing := &control.NotFound{What: "model call", Typed: fmt.Sprintf("%s %d", id, seq)}
	if seq == 0 || seq > last {
		return control.LLMRequest{}, missing
	}
	e, err := eventAt(ctx, log, id, seq)
	if err != nil {
		return control.LLMRequest{}, err
	}
	call, ok := e.Body.(event.Called)
	if !ok {
		return control.LLMRequest{}, missing
	}
	h, err := hearing(ctx, log, e, call)
	if err != nil {
		return control.LLMRequest{}, fmt.Errorf("read what was sent: %w", err)
	}
	return a.llmRequest(ctx, e, call, h), nil
}

// heard is what an agent knew before a call.
type heard struct {
	dialog.Part
	seqs map[string]uint64 // of facts by their ids
}

// hearing goes through a flow up to a call of its agent's.
func hearing(ctx context.Context, log eventlog.Log, call event.Event, body event.Called) (heard, error) {
	h := heard{seqs: map[string]uint64{}}
	var d flow.Decider
	var first event.Body
	for e, err := range log.Read(ctx, call.Flow, 1) {
		if err != nil {
			return h, err
		}
		if e.Seq >= call.Seq {
			break
		}
		if e.Seq == 1 {
			first = e.Body
			d = remembering(first)
		}
		h.seqs[e.ID] = e.Seq
		if d != nil {
			d.Step(e)
		} else {
			h.witness(e, call.Agent, body.Turn)
		}
	}
	switch d := d.(type) {
	case *job.Job:
		h.Part = d.History()
	case *talk.Session:
		h.Summary, h.Pins, h.History = d.History()
	}
	if s, ok := first.(event.RunStarted); ok { // with which every prompt of a run begins
		h.History = append([]dialog.Entry{{Said: &event.Said{Text: s.Spec.Task}}}, h.History...)
		h.seqs[""] = 1
	}
	return h, nil
}

// remembering is a decider that keeps the conversation of its agent; nil for a run,
// whose agents begin anew with every round.
func remembering(first event.Body) flow.Decider {
	switch f := first.(type) {
	case event.JobStarted:
		return &job.Job{}
	case event.SessionStarted:
		if talks(f.Kind) {
			return &talk.Session{}
		}
	}
	return nil
}

// witness takes in what happened before in the turn of a run.
func (h *heard) witness(e event.Event, a event.AgentID, turn event.Turn) {
	if e.Agent != a {
		return
	}
	x := dialog.Entry{ID: e.ID, At: e.At, Turn: turn}
	switch f := e.Body.(type) {
	case event.Assigned:
		h.Part = dialog.Part{}
		return
	case event.Presenting:
		h.Part = dialog.Part{}
		return
	case event.Called:
		x.Called = &f
	case event.ToolReturned:
		x.Returned = &f
	case event.Compacted:
		h.Part = dialog.Part{Summary: &f}
		return
	default:
		return
	}
	h.History = append(h.History, x)
}

// llmRequest puts a call into the form in which it is shown.
func (a *App) llmRequest(ctx context.Context, e event.Event, call event.Called, h heard) control.LLMRequest {
	b := &bounds{each: detailMost, left: detailAll}
	out := control.LLMRequest{Flow: e.Flow, Seq: e.Seq, At: e.At, Agent: e.Agent, Model: call.Model, Usage: call.Usage, Messages: []control.LLMMessage{}}
	if s := call.Sent; s != nil {
		out.System = a.bounded(ctx, s.System, b)
		text := a.bounded(ctx, s.Tools, b)
		if json.Unmarshal([]byte(text), &out.Tools) != nil && text != "" {
			out.Tools = text
		}
	}
	out.Reply = a.spoken(ctx, dialog.Entry{Called: &call}, e.Seq, b) // before the rest: it is what is looked for
	if s := h.Summary; s != nil {
		out.Messages = append(out.Messages, control.LLMMessage{From: "user", Text: a.bounded(ctx, s.Summary, b), Summary: true})
	}
	for _, x := range slices.Concat(h.Pins, h.History) {
		out.Messages = append(out.Messages, a.spoken(ctx, x, h.seqs[x.ID], b))
	}
	out.Cut = b.cut
	return out
}

// spoken is an entry of a conversation as a message.
func (a *App) spoken(ctx context.Context, x dialog.Entry, seq uint64, b *bounds) control.LLMMessage {
	m := control.LLMMessage{From: "user", Seq: seq}
	switch {
	case x.Said != nil:
		m.Text = a.bounded(ctx, x.Said.Text, b)
	case x.Briefed != nil:
		m.Text = a.bounded(ctx, x.Briefed.Text, b)
	case x.Called != nil:
		m.From, m.Text = "assistant", a.bounded(ctx, x.Called.Text, b)
		for _, c := range x.Called.Tools {
			if text := b.take(string(c.Input)); len(text) < len(c.Input) {
				c.Input, _ = json.Marshal(text)
			}
			m.Calls = append(m.Calls, c)
		}
	case x.Returned != nil:
		m.From, m.Tool, m.Call, m.Error = "tool", x.Returned.Name, x.Returned.Call, x.Returned.Error
		m.Text = a.bounded(ctx, x.Returned.Result, b)
	case x.Ended != nil:
		m.Text = a.bounded(ctx, x.Ended.Answer, b)
	}
	return m
}
