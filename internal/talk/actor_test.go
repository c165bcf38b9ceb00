package talk_test

import (
	"fmt"
	"slices"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/talk"
)

// act is one thing the agent does in its turn.
func (w *world) act() {
	t, me := w.work.Turn, w.work.Agent
	fact := func(what string, b event.Body) event.Fact {
		return event.Fact{ID: w.id(t.Key(me) + "/" + what), Agent: me, Body: b}
	}
	waits := slices.ContainsFunc(w.s.Wants(), func(x talk.Want) bool { return !x.Over() && x.Agent != "" })
	switch n := w.rng.IntN(20); {
	case waits && w.rng.IntN(4) > 0: // it is parked
	case n < 3:
		w.hear(fact)
	case n < 7:
		w.call(fact)
	case n < 11 || n > 15:
		if len(w.open) == 0 {
			return
		}
		w.use(w.open[0], fact)
	case n == 11:
		b := event.Wished{Turn: t, Call: "x", Tool: "shell", Hash: event.Hash(fmt.Sprint(w.rng.IntN(3)))}
		w.submit(fact("wished", b))
	case n == 12:
		f := event.Failed{Turn: t, Code: "overloaded", Final: w.rng.IntN(3) == 0, RetryAfter: event.Duration(w.rng.IntN(2) * 30e9)}
		if w.rng.IntN(4) == 0 {
			f.Code = talk.CodeStopped
		}
		w.submit(fact("failed", f))
	case n == 13:
		if all := w.entries(); len(all) > 0 {
			w.submit(fact("compacted", event.Compacted{Turn: t, Through: w.one(all), Outline: w.rng.IntN(2) == 0}))
		}
	case n == 14:
		w.submit(fact("opened", event.Opened{Project: "p"}))
	case n == 15 && !waits:
		w.submit(fact("concluded", event.Concluded{Turn: t}))
	}
}

// call is a call of the model, paid for where there is a budget.
func (w *world) call(fact func(string, event.Body) event.Fact) {
	t := w.work.Turn
	c := event.Called{Turn: t, Text: w.text()}
	if w.work.Metered {
		q := fact("request", event.Requested{Turn: t, Amount: event.Amount{Tokens: w.rng.Int64N(100)}})
		w.submit(q)
		if !w.held[q.ID] || w.work == nil || w.work.Turn != t {
			return
		}
		c.Request = q.ID
		c.Usage.Input = w.rng.Int64N(q.Body.(event.Requested).Amount.Tokens + 1)
		if w.rng.IntN(6) == 0 {
			return // it never comes back
		}
	}
	for range w.rng.IntN(3) {
		name := "read_file"
		if w.rng.IntN(2) == 0 {
			name = event.ToolLaunchRun
		}
		c.Tools = append(c.Tools, event.ToolCall{ID: w.id("c"), Name: name})
	}
	w.submit(fact("call", c))
}

// use carries out a tool call: a run that is wanted is waited for.
func (w *world) use(c event.ToolCall, fact func(string, event.Body) event.Fact) {
	t, me := w.work.Turn, w.work.Agent
	if c.Name == event.ToolLaunchRun {
		id := fmt.Sprintf("want/%s/%d/%s", me, t.Round, c.ID)
		i := slices.IndexFunc(w.s.Wants(), func(x talk.Want) bool { return x.ID == id })
		if i < 0 {
			w.submit(event.Fact{ID: id, Agent: me, Body: event.Wanted{Turn: t, Call: c.ID, Launch: w.wish()}})
			return
		}
		if !w.s.Wants()[i].Over() {
			return
		}
	}
	w.submit(fact("returned", event.ToolReturned{Turn: t, Call: c.ID, Name: c.Name, Result: w.text()}))
}

// hear takes in what was said, as far as it was not taken back.
func (w *world) hear(fact func(string, event.Body) event.Fact) {
	var ids []string
	for _, n := range w.told {
		if n.Kind == talk.NoteMessage && !slices.ContainsFunc(w.told, func(o talk.Note) bool { return o.Back == n.Said.ID }) {
			ids = append(ids, n.Said.ID)
		}
	}
	w.told = nil
	if len(ids) > 0 {
		w.submit(fact("told", event.Told{Turn: w.work.Turn, Note: "message", Messages: ids}))
	}
}

func (w *world) submit(f event.Fact) {
	seq := uint64(len(w.log))
	events, do := flow.Advance(w.s, func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "session-1", Seq: seq, At: w.now, Fact: f}
	}, f)
	w.log = append(w.log, events...)
	for _, e := range events {
		w.note(e)
	}
	w.begin(do)
}

// note keeps what the world must know of the log.
func (w *world) note(e event.Event) {
	w.seen = w.seen.Apply(e)
	switch b := e.Body.(type) {
	case event.Said:
		w.said = append(w.said, e.ID)
	case event.Wanted:
		w.wanted = append(w.wanted, e.ID)
		w.turns[e.ID] = b.Turn
	case event.Requested:
		w.turns[e.ID] = b.Turn
	case event.Wished:
		w.turns[e.ID] = b.Turn
	case event.Asked:
		w.gates = append(w.gates, b)
	case event.Returned:
		w.ended[b.Run] = true
	case event.Granted:
		w.held[b.Request] = true
	case event.Called:
		if w.work != nil && w.work.Turn == b.Turn {
			w.open = append(w.open, b.Tools...)
		}
	case event.ToolReturned:
		w.open = slices.DeleteFunc(w.open, func(c event.ToolCall) bool { return c.ID == b.Call })
	case event.Concluded:
		w.over(b.Turn)
	case event.Failed:
		w.over(b.Turn)
	case event.Refused:
		if b.Over {
			w.over(w.turns[b.Ref])
		}
	}
}

func (w *world) over(t event.Turn) {
	if w.work != nil && w.work.Turn == t {
		w.work, w.told, w.open = nil, nil, nil
	}
}

// begin takes commands in.
func (w *world) begin(do []flow.Command) {
	for _, c := range do {
		switch c := c.(type) {
		case talk.Work:
			if w.work != nil {
				w.fail("turn %s begins in the middle of %s", c.Turn, w.work.Turn)
			}
			w.work, w.told = &c, nil
			w.open = open(c)
		case talk.Launch:
			if w.ended[c.Run] || slices.ContainsFunc(w.launch, func(l talk.Launch) bool { return l.Run == c.Run }) {
				w.fail("%s is launched although it goes on or is over", c.Run)
			}
			w.launch = append(w.launch, c)
		case flow.Tell:
			if n, ok := c.Note.(talk.Note); ok && w.work != nil && w.work.Key() == c.Work {
				w.told = append(w.told, n)
			}
		}
	}
}

// open are the calls in a turn that have no result.
func open(c talk.Work) []event.ToolCall {
	var out []event.ToolCall
	for _, x := range c.History {
		switch {
		case x.Turn.Round != c.Round:
		case x.Called != nil:
			out = append(out, x.Called.Tools...)
		case x.Returned != nil:
			out = slices.DeleteFunc(out, func(o event.ToolCall) bool { return o.ID == x.Returned.Call })
		}
	}
	return out
}

// crash forgets everything but the log.
func (w *world) crash() {
	before := w.launch
	w.s, w.work, w.launch, w.told, w.open = &talk.Session{}, nil, nil, nil, nil
	flow.Fold(w.s, w.log)
	seq := uint64(len(w.log))
	events, _ := flow.Advance(w.s, func(f event.Fact) event.Event {
		seq++
		return event.Event{Flow: "session-1", Seq: seq, At: w.now, Fact: f}
	}, event.Fact{ID: w.id("resumed"), Body: event.Resumed{}})
	w.log = append(w.log, events...)
	for _, e := range events {
		w.note(e)
	}
	w.work, w.launch, w.told, w.open = nil, nil, nil, nil
	w.begin(w.s.Pending())
	for _, l := range before {
		if !slices.ContainsFunc(w.launch, func(x talk.Launch) bool { return x.Run == l.Run }) {
			w.fail("%s is not gone on with", l.Run)
		}
	}
}

// compare holds what the session says of itself to what goes on.
func (w *world) compare() {
	asking := slices.ContainsFunc(w.s.Wants(), func(x talk.Want) bool { return x.Asked != nil && x.Closed == nil })
	want := talk.Idle
	switch {
	case asking:
		want = talk.Awaiting
	case len(w.launch) > 0:
		want = talk.Running
	case w.work != nil:
		want = talk.Chatting
	}
	got := w.s.Phase()
	_, resting := w.s.Wake()
	processing := got == talk.Results || got == talk.Partial || got == talk.Cancelled
	if got != want && !(want == talk.Chatting && processing) && !(want == talk.Idle && resting) {
		w.fail("is in phase %s, and should be in %s", got, want)
	}
	if shown := w.seen.Phase(); string(shown) != string(got) {
		w.fail("is in phase %s, and shown in %s", got, shown)
	}
	var held, seen []string
	for _, x := range w.s.Held() {
		held = append(held, x.ID)
	}
	for _, x := range w.seen.Talk.Held {
		seen = append(seen, x.ID)
	}
	if !slices.Equal(held, seen) {
		w.fail("%v are held, and shown are %v", held, seen)
	}
	if w.s.Project() != w.seen.Talk.Project || w.s.Waived() != w.seen.Talk.Waived {
		w.fail("another project is shown, or whether to ask")
	}
	l := w.s.Ledger()
	if c := l.Ceiling.Tokens; c != nil && l.Committed().Tokens > *c {
		w.fail("%d of %d tokens are committed", l.Committed().Tokens, *c)
	}
	for _, x := range w.s.Wants() {
		if got == talk.Idle && x.Agent != "" && x.Returned != nil && !x.Taken {
			w.fail("what %s has come to is nowhere", x.ID)
		}
	}
	if got == talk.Idle && (!w.s.AtRest() || len(l.Held) > 0) {
		w.fail("idle, and %d are held, at rest %t", len(l.Held), w.s.AtRest())
	}
}
