package coord_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/coord"
	"conclave/internal/event"
)

// act lets an agent do something in its turn, or in the one named after an @.
func (s *stage) act(who string, w []string) error {
	name, at, other := strings.Cut(who, "@")
	a := actor{s: s, id: event.AgentID(name), turn: s.turns[event.AgentID(name)]}
	if other {
		if _, err := fmt.Sscanf(at, "%d.%d", &a.turn.Round, &a.turn.Take); err != nil {
			return fmt.Errorf("a turn is written 1.2: %w", err)
		}
	}
	if len(w) == 0 {
		return fmt.Errorf("%s does what?", who)
	}
	verbs := map[string]func([]string) error{
		"answers": a.answers, "votes": a.votes, "proposes": a.proposes, "presents": a.presents,
		"calls": a.calls, "uses": a.uses, "returns": a.returns, "hears": a.hears, "fails": a.fails,
		"requests": a.requests, "spends": a.spends, "wishes": a.wishes, "compacts": a.compacts,
	}
	verb, ok := verbs[w[0]]
	if !ok {
		return fmt.Errorf("nobody knows how to %q", w[0])
	}
	return verb(w[1:])
}

type actor struct {
	s    *stage
	id   event.AgentID
	turn event.Turn
}

func (a actor) say(what string, b event.Body) {
	a.s.submit(event.Fact{ID: a.s.id(a.turn.Key(a.id) + "/" + what), Agent: a.id, Body: b})
}

func (a actor) propose(out ...event.Outcome) {
	a.say("proposed", event.Proposed{Turn: a.turn, Outcomes: out})
}

func answer(text string, similarity float64) event.Outcome {
	return event.Outcome{Answer: &event.Answer{
		Content: event.Inline(text), Print: event.HashOf([]byte(strings.Join(strings.Fields(text), " "))), Similarity: similarity,
	}}
}

// vote is a vote for an agent, or for a label nobody has.
func (a actor) vote(who string) event.Outcome {
	return event.Outcome{Vote: &event.Vote{For: a.s.label(who)}}
}

func (s *stage) label(who string) event.Label {
	for _, seat := range s.start.Spec.Seats {
		if string(seat.Agent) == who {
			return seat.Label
		}
	}
	return event.Label(who)
}

func (a actor) answers(w []string) error {
	like, follows := 0.0, false
	for _, x := range w[1:] {
		if x == "calling" {
			follows = true
			continue
		}
		v, ok := strings.CutPrefix(x, "like=")
		if !ok {
			return fmt.Errorf("not understood: %s", x)
		}
		var err error
		if like, err = strconv.ParseFloat(v, 64); err != nil {
			return err
		}
	}
	a.say("proposed", event.Proposed{Turn: a.turn, Outcomes: []event.Outcome{answer(w[0][1:], like)}, Follows: follows})
	return nil
}

func (a actor) votes(w []string) error {
	o, follows := a.vote(w[0]), false
	for i := 1; i < len(w); i++ {
		if w[i] == "calling" {
			follows = true
			continue
		}
		if list, ok := strings.CutPrefix(w[i], "ranking="); ok {
			for _, x := range strings.Split(list, ",") {
				o.Vote.Ranking = append(o.Vote.Ranking, a.s.label(x))
			}
			continue
		}
		if w[i] != "because" || i+1 == len(w) {
			return fmt.Errorf("not understood: %s", w[i])
		}
		i++
		o.Vote.Reason = strings.TrimPrefix(w[i], `"`)
	}
	a.say("proposed", event.Proposed{Turn: a.turn, Outcomes: []event.Outcome{o}, Follows: follows})
	return nil
}

func (a actor) proposes(w []string) error {
	var out []event.Outcome
	for i := 0; i < len(w); i++ {
		switch w[i] {
		case "nothing":
		case "nonsense":
			out = append(out, event.Outcome{})
		case "answer":
			i++
			out = append(out, answer(w[i][1:], 0))
		case "vote":
			i++
			out = append(out, a.vote(w[i]))
		default:
			return fmt.Errorf("not understood: %s", w[i])
		}
	}
	a.propose(out...)
	return nil
}

func (a actor) presents(w []string) error {
	a.say("presented", event.Presented{Turn: a.turn, Content: event.Inline(w[0][1:])})
	return nil
}

func tool(name string) event.ToolCall {
	return event.ToolCall{ID: "call of " + name, Name: name, Input: json.RawMessage(`{"on":"<this> & that"}`)}
}

func (a actor) calls(w []string) error {
	c := event.Called{Turn: a.turn, Call: 1, Usage: event.Usage{Input: 10, Output: 10}}
	for _, name := range w {
		c.Tools = append(c.Tools, tool(name))
	}
	a.say("call", c)
	return nil
}

func (a actor) uses(w []string) error {
	a.say("tool", event.ToolCalled{Turn: a.turn, Tool: tool(w[0])})
	return nil
}

func (a actor) returns(w []string) error {
	r := event.ToolReturned{Turn: a.turn, Call: tool(w[0]).ID, Name: w[0]}
	for _, x := range w[1:] {
		if id, ok := strings.CutPrefix(x, "job="); ok {
			r.Job = &event.Job{ID: id}
		} else {
			r.Job.Ended = x
		}
	}
	a.say("result", r)
	return nil
}

// wishes asks whether a tool may be used for what is said.
func (a actor) wishes(w []string) error {
	a.say("wished", event.Wished{
		Turn: a.turn, Call: tool(w[0]).ID, Tool: w[0], Action: event.Inline(w[1][1:]), Hash: event.HashOf([]byte(w[1])),
	})
	return nil
}

func (a actor) compacts(w []string) error {
	amount, err := money(w)
	a.say("compacted", event.Compacted{Turn: a.turn, Messages: 4, Summary: event.Inline("so far"), Usage: event.Usage{Input: amount.Tokens, Cost: amount.Cost}, Request: a.s.asked[a.id]})
	delete(a.s.asked, a.id)
	return err
}

func (a actor) hears([]string) error {
	key := a.turn.Key(a.id)
	if len(a.s.notes[key]) == 0 {
		return fmt.Errorf("nobody told it anything")
	}
	n := a.s.notes[key][0]
	a.s.notes[key] = a.s.notes[key][1:]
	t := event.Told{Turn: a.turn, Note: n.Kind, Seen: n.Seen}
	switch n.Kind {
	case coord.NoteMessage:
		t.Messages = []string{n.Said.ID}
	case coord.NoteJob:
		t.Job = &event.Job{ID: n.Job, Ended: "stopped"}
	}
	a.say("told", t)
	return nil
}

func (a actor) fails(w []string) error {
	f := event.Failed{Turn: a.turn, Code: w[0], Message: w[0], Request: a.s.asked[a.id]}
	for _, x := range w[1:] {
		if text, ok := strings.CutPrefix(x, `"`); ok {
			f.Message = text
		} else if after, ok := strings.CutPrefix(x, "after="); ok {
			d, err := time.ParseDuration(after)
			if err != nil {
				return err
			}
			f.RetryAfter = event.Duration(d)
		} else {
			f.Final = x == "final"
		}
	}
	delete(a.s.asked, a.id)
	a.say("failed", f)
	return nil
}

func money(w []string) (event.Amount, error) {
	var out event.Amount
	for _, x := range w {
		cost, isCost := strings.CutPrefix(x, "cost=")
		n, err := strconv.ParseInt(cost, 10, 64)
		switch {
		case err != nil:
			return out, err
		case isCost:
			out.Cost = event.Money(n)
		default:
			out.Tokens = n
		}
	}
	return out, nil
}

func (a actor) requests(w []string) error {
	amount, err := money(w)
	if err != nil {
		return err
	}
	a.s.asked[a.id] = a.s.id(a.turn.Key(a.id) + "/request")
	a.s.submit(event.Fact{ID: a.s.asked[a.id], Agent: a.id, Body: event.Requested{Turn: a.turn, Amount: amount}})
	return nil
}

func (a actor) spends(w []string) error {
	amount, err := money(w)
	if err != nil {
		return err
	}
	a.say("call", event.Called{
		Turn: a.turn, Call: 1, Usage: event.Usage{Input: amount.Tokens, Cost: amount.Cost}, Request: a.s.asked[a.id],
	})
	delete(a.s.asked, a.id)
	return nil
}
