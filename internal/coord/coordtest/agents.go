package coordtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"conclave/internal/event"
)

// RandomStart draws a run: up to seven agents and any rules.
func RandomStart(rng *rand.Rand) event.RunStarted {
	mode := event.Mode{Single: rng.IntN(5) == 0, Quick: rng.IntN(4) == 0}
	r := event.Defaults(mode)
	n := 1
	if !mode.Single {
		n = 1 + rng.IntN(7)
	}
	some := func(p *bool, one int) { *p = *p || rng.IntN(one) == 0 }
	some(&r.SkipVoting, 8)
	some(&r.DisableInjection, 5)
	some(&r.DeferVoting, 4)
	some(&r.Planning, 8)
	r.Execute = r.Planning && rng.IntN(2) == 0
	if !r.Quick {
		r.MaxAnswers = 1 + rng.IntN(4)
	}
	r.MaxAnswersGlobal = max(0, rng.IntN(12)-6)
	r.FairnessLead = rng.IntN(4)
	if rng.IntN(4) == 0 {
		r.MaxSimilarity = 0.7
	}
	if rng.IntN(4) == 0 {
		r.Version = 1
	}
	r.MaxAttempts = 1 + rng.IntN(4)
	r.MaxCalls = 3 + rng.IntN(20)
	r.VotingRule = []event.VotingRule{event.Plurality, event.Borda}[rng.IntN(2)]
	if rng.IntN(2) == 0 {
		r.Strategy = []event.Strategy{event.WinnerReuse, event.WinnerPresent, event.Synthesize}[rng.IntN(3)]
	}
	if rng.IntN(4) == 0 {
		r.Override = event.Override{On: true, Wait: event.Duration(time.Duration(rng.IntN(2)) * time.Minute)}
	}
	if rng.IntN(3) == 0 {
		r.Permission = event.Override{On: true, Wait: event.Duration(time.Duration(rng.IntN(2)) * time.Minute)}
	}
	if rng.IntN(3) == 0 {
		r.FirstRound = event.Duration(time.Duration(1+rng.IntN(60)) * time.Second)
		r.LaterRounds = event.Duration(time.Duration(1+rng.IntN(60)) * time.Second)
		r.RoundGrace = event.Duration(time.Duration(rng.IntN(20)) * time.Second)
	}
	if rng.IntN(5) == 0 {
		r.RunLimit = event.Duration(time.Duration(1+rng.IntN(120)) * time.Second)
		r.RunGrace = min(r.RunGrace, r.RunLimit/4)
	}
	if rng.IntN(4) == 0 {
		t := int64(rng.IntN(20_000))
		r.Budget.Tokens = &t
	}
	if rng.IntN(6) == 0 {
		m := event.Money(rng.IntN(200_000))
		r.Budget.Cost = &m
	}
	s := event.RunStarted{Rules: r, Seed: rng.Uint64(), Spec: event.RunSpec{Task: event.Inline("a task")}}
	for i := range n {
		s.Spec.Seats = append(s.Spec.Seats, event.Seat{Agent: event.AgentID(string(rune('a' + i))), Backend: "script"})
	}
	s.Spec.Seats = event.Seated(s.Seed, s.Spec.Seats)
	if rng.IntN(4) == 0 {
		s.Spec.ContextPaths = []event.ContextPath{{Path: "/src", Write: rng.IntN(2) == 0}}
	}
	return s
}

// play lets one job do one thing.
func (w *World) play(j *job) {
	switch {
	case j.stopped:
		if w.rng.IntN(8) == 0 {
			j.hung = true // does not stop when told to
			return
		}
		w.submit(w.fact(j, "failed", event.Failed{Turn: j.turn, Code: "stopped", Message: "stopped", Usage: usage(w.rng, 20), Request: j.granted}))
	case len(j.open) > 0 && !j.wished && w.rng.IntN(3) == 0:
		w.wish(j)
	case len(j.open) > 0:
		j.wished = false
		call := j.open[0]
		j.open = j.open[1:]
		w.submit(w.fact(j, "result/"+call, event.ToolReturned{Turn: j.turn, Call: call, Name: "shell", Result: event.Inline("done"), Job: w.job()}))
	case len(j.notes) > 0 && w.rng.IntN(2) == 0:
		n := j.notes[0]
		j.notes = j.notes[1:]
		w.submit(w.fact(j, fmt.Sprintf("told/%d", len(j.notes)), told(j, n)))
	case j.metered && j.granted == "":
		w.request(j)
	case w.rng.IntN(30) == 0:
		w.submit(w.fact(j, "failed", event.Failed{
			Turn: j.turn, Code: "overloaded", Message: "the provider is down", Final: w.rng.IntN(3) == 0,
			RetryAfter: event.Duration(max(0, w.rng.IntN(60)-30)) * event.Duration(time.Second),
			Usage:      usage(w.rng, 100), Request: j.granted,
		}))
	case w.rng.IntN(60) == 0:
		w.submit(w.fact(j, "compacted", event.Compacted{Turn: j.turn, Messages: 3, Summary: event.Inline("so far"), Usage: usage(w.rng, 1200), Request: j.granted}))
		j.calls, j.granted = j.calls+1, ""
	default:
		w.call(j)
	}
}

// wish asks whether the next tool may be used, and waits if a person has to
// decide.
func (w *World) wish(j *job) {
	j.wished = true
	f := w.fact(j, "wished", event.Wished{Turn: j.turn, Call: j.open[0], Tool: "shell", Action: event.Inline("make"), Hash: event.HashOf([]byte{byte(w.rng.IntN(4))})})
	for _, e := range w.submit(f) {
		if a, ok := e.Body.(event.Asked); ok && a.Ref == f.ID {
			j.waits = a.Gate
		}
	}
}

func (w *World) fact(j *job, what string, b event.Body) event.Fact {
	return event.Fact{ID: fmt.Sprintf("%s/%s/%d", j.key, what, len(w.Log)), Agent: j.agent, Body: b}
}

func (w *World) request(j *job) {
	j.requests++
	f := w.fact(j, fmt.Sprintf("request/%d", j.requests), event.Requested{Turn: j.turn, Amount: event.Amount{Tokens: 1200, Cost: 12_000}})
	for _, e := range w.submit(f) {
		if g, ok := e.Body.(event.Granted); ok && g.Request == f.ID {
			j.granted = f.ID
		}
		if r, ok := e.Body.(event.Refused); ok && r.Ref == f.ID && r.Code == event.RefusedWait {
			j.waits = "budget"
		}
	}
}

// call is one model call and what the model said with it.
func (w *World) call(j *job) {
	j.calls++
	c := event.Called{Turn: j.turn, Call: j.calls, Usage: usage(w.rng, 1200), Request: j.granted}
	j.granted = ""
	if w.rng.IntN(4) == 0 && (j.work == nil || j.calls < j.work.Calls) {
		id := fmt.Sprintf("tool%d", j.calls)
		c.Tools = append(c.Tools, event.ToolCall{ID: id, Name: "shell", Input: json.RawMessage(`{"command": "cat <in >out && true"}`)})
		j.open = append(j.open, id)
		w.submit(w.fact(j, "call", c))
		return
	}
	if j.work == nil {
		text := event.Inline("the final answer")
		if w.rng.IntN(8) == 0 {
			text = event.Content{}
		}
		w.submit(w.fact(j, "call", c), w.fact(j, "presented", event.Presented{Turn: j.turn, Content: text}))
		return
	}
	p := event.Proposed{Turn: j.turn, Outcomes: w.outcomes(j), Follows: w.rng.IntN(4) == 0}
	if !p.Follows {
		w.submit(w.fact(j, "call", c), w.fact(j, "proposed", p))
		return
	}
	called := w.fact(j, "call", c)
	switch w.submit(w.fact(j, "proposed", p)); {
	case w.working[j.key] == j: // it was refused
		w.submit(called)
	case w.rng.IntN(8) > 0: // else nobody ever hears of it
		w.late = append(w.late, called)
	}
}

// outcomes are mostly sensible.
func (w *World) outcomes(j *job) []event.Outcome {
	switch n := w.rng.IntN(20); {
	case n == 0:
		return nil
	case n == 1:
		return []event.Outcome{w.vote(j), w.answer(j)}
	case n == 2:
		return []event.Outcome{w.vote(j)}
	case n == 3:
		return []event.Outcome{w.answer(j)}
	case j.work.MayVote && (!j.work.MayAnswer || n < 12):
		return []event.Outcome{w.vote(j)}
	}
	return []event.Outcome{w.answer(j)}
}

func (w *World) vote(*job) event.Outcome {
	label := func() event.Label { return event.Label(fmt.Sprintf("agent%d", 1+w.rng.IntN(len(w.start.Spec.Seats)))) }
	v := &event.Vote{For: label(), Reason: "it is the best"}
	if w.rng.IntN(15) == 0 {
		v.For = "agent99"
	}
	for range w.rng.IntN(4) {
		v.Ranking = append(v.Ranking, label())
	}
	return event.Outcome{Vote: v}
}

func (w *World) answer(*job) event.Outcome {
	text := fmt.Sprintf("answer %d", len(w.Log))
	switch w.rng.IntN(15) {
	case 0:
		text = ""
	case 1:
		text = "the same as ever"
	}
	return event.Outcome{Answer: &event.Answer{
		Content: event.Inline(text), Print: event.HashOf([]byte(text)), Similarity: w.rng.Float64() * 0.9,
	}}
}

func usage(rng *rand.Rand, atMost int64) event.Usage {
	in := rng.Int64N(atMost/2 + 1)
	return event.Usage{Input: in, Output: rng.Int64N(atMost/2 + 1), Cost: event.Money(10 * in)}
}
