package script

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// Options are how to play a script.
type Options struct {
	// Pace multiplies every delay in place of the script's own pace. At zero
	// nothing waits and every text is one delta.
	Pace *float64
}

// An agent plays a script. It has no state and starts no goroutines.
type agent struct {
	script *Script
	pace   float64
}

// New is an agent that plays s.
func New(s *Script, o Options) backend.Backend {
	a := &agent{script: s, pace: s.Pace}
	if o.Pace != nil {
		a.pace = *o.Pace
	}
	return a
}

func (a *agent) Traits() backend.Traits {
	return backend.Traits{OwnsLoop: a.script.OwnsLoop, Model: "script:" + a.script.Name, Price: true}
}

// Turn plays one step, or, for an agent that owns its loop, step after step
// until one calls no tool or the host has seen enough.
func (a *agent) Turn(ctx context.Context, in backend.Input, host backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		done, err := a.turn(ctx, in, host, yield)
		switch err {
		case errLeft, errCut:
		case nil:
			yield(backend.Delta{Done: &done}, nil)
		default:
			yield(backend.Delta{}, err)
		}
	}
}

// maxReplies bounds a turn whose script goes round in circles.
const maxReplies = 100

func (a *agent) turn(ctx context.Context, in backend.Input, host backend.ToolHost, yield func(backend.Delta, error) bool) (backend.Done, error) {
	var total event.Usage
	in.Messages = slices.Clip(in.Messages)
	for range maxReplies {
		r := &reply{ctx: ctx, agent: a, scene: NewScene(in), yield: yield}
		done, err := r.play()
		total = total.Add(done.Usage)
		if err != nil || !a.script.OwnsLoop {
			return done, err
		}
		done.Usage = total
		if len(r.calls) == 0 {
			return done, nil
		}
		results, end, err := carryOut(ctx, host, r.calls)
		if err != nil || end {
			done.Stop = "end"
			return done, err
		}
		in.Messages = append(in.Messages,
			backend.Message{From: backend.Assistant, Text: r.text.String(), Calls: r.calls},
			backend.Message{From: backend.Tool, Results: results})
	}
	return backend.Done{}, &backend.Error{Kind: backend.Invalid,
		Message: fmt.Sprintf("script %s: no end after %d replies", a.script.Name, maxReplies)}
}

// carryOut has the host make the calls of one complete reply, in order. All of
// them are made, as the model asked for all before it knew of any result.
func carryOut(ctx context.Context, host backend.ToolHost, calls []event.ToolCall) (results []backend.ToolResult, end bool, err error) {
	for _, c := range calls {
		res := host.Call(ctx, c)
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		results = append(results, res)
		end = end || res.End
	}
	return results, end, nil
}

// play plays the first step that fits.
func (r *reply) play() (backend.Done, error) {
	if err := r.ctx.Err(); err != nil {
		return backend.Done{}, err
	}
	steps := r.agent.script.steps
	i := slices.IndexFunc(steps, func(s step) bool { return s.when.fits(r.scene) })
	if i < 0 {
		return backend.Done{}, r.invalid(fmt.Errorf("no step fits model call %d (own answers: %d, peers' answers: %d, presenting: %v)",
			r.scene.Call, r.scene.own, len(r.scene.Peers), r.scene.presenting))
	}
	r.step = steps[i]
	for _, a := range r.step.do {
		if err := a.play(r); err != nil {
			return backend.Done{}, err
		}
	}
	return r.done(), r.ctx.Err()
}

// done ends a reply that was played to its end.
func (r *reply) done() backend.Done {
	d := backend.Done{Stop: r.stop}
	if d.Stop == "" {
		d.Stop = "end"
		if len(r.calls) > 0 {
			d.Stop = "tools"
		}
	}
	if r.usage != nil {
		d.Usage = *r.usage
		return d
	}
	d.Usage = event.Usage{Input: int64(len(r.scene.sent)+3) / 4, Output: int64(r.said+3) / 4}
	return d
}
