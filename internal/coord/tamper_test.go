package coord_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// number gives events the numbers of their places, as a forger would.
func number(log []event.Event) []event.Event {
	out := slices.Clone(log)
	for i := range out {
		out[i].Seq = uint64(i + 1)
	}
	return out
}

func without(log []event.Event, i int) []event.Event {
	return slices.Delete(slices.Clone(log), i, i+1)
}

func doubled(log []event.Event, i int) []event.Event {
	return slices.Insert(slices.Clone(log), i+1, log[i])
}

// swapped exchanges two neighbours, times and all.
func swapped(log []event.Event, i int) []event.Event {
	out := slices.Clone(log)
	out[i], out[i+1] = out[i+1], out[i]
	out[i].At, out[i+1].At = log[i].At, log[i+1].At
	return out
}

// TestTampering: no event of a sound log can be taken out, doubled or moved
// without a trace. Where a forger numbers the rest anew, this holds for every
// decision: what decides it is in the log before it.
func TestTampering(t *testing.T) {
	var tried atomic.Int64
	forLogs(t, 150, func(_ *rand.Rand, log []event.Event) error {
		var run coord.Run
		found := func(what string, i int, forged []event.Event) error {
			tried.Add(1)
			if len(coord.Check(forged)) == 0 {
				return fmt.Errorf("%s: event %d, %s\n%s", what, i+1, event.Kind(log[i].Body), transcript(log))
			}
			return nil
		}
		for i := 1; i < len(log)-1; i++ {
			decided := run.Decides(log[i].Body)
			next := run.Decides(log[i+1].Body)
			for _, try := range []struct {
				what   string
				forged []event.Event
				must   bool
			}{
				{"taken out", without(log, i), true},
				{"taken out, numbered anew", number(without(log, i)), decided},
				{"doubled", doubled(log, i), true},
				{"doubled, numbered anew", number(doubled(log, i)), true},
				{"moved", swapped(log, i), true},
				{"moved, numbered anew", number(swapped(log, i)), decided || next},
			} {
				if err := found(try.what, i, try.forged); try.must && err != nil {
					return err
				}
			}
		}
		return nil
	})
	t.Logf("%d forgeries", tried.Load())
}

// TestAltering: a decision with another word in it is noticed, and nothing that
// happens to an input makes Check fall over.
func TestAltering(t *testing.T) {
	var altered, noticed atomic.Int64
	forLogs(t, 300, func(rng *rand.Rand, log []event.Event) error {
		var run coord.Run
		for i := range log {
			forged := slices.Clone(log)
			b, ok := alter(rng, log[i].Body)
			if !ok {
				continue
			}
			forged[i].Body = b
			problems := coord.Check(forged)
			altered.Add(1)
			if len(problems) > 0 {
				noticed.Add(1)
			} else if run.Decides(b) {
				x, _ := event.EncodeBody(b)
				return fmt.Errorf("event %d was altered to %s and nobody noticed\n%s", i+1, x, transcript(log))
			}
		}
		return nil
	})
	if altered.Load() == 0 {
		t.Error("nothing was altered")
	}
	t.Logf("%d alterations, %d noticed", altered.Load(), noticed.Load())
}

// alter changes one value somewhere in a body.
func alter(rng *rand.Rand, b event.Body) (event.Body, bool) {
	p, err := event.EncodeBody(b)
	if err != nil {
		return nil, false
	}
	var v any
	if json.Unmarshal(p, &v) != nil {
		return nil, false
	}
	q, err := json.Marshal(alterValue(rng, v))
	if err != nil {
		return nil, false
	}
	out, err := event.DecodeBody(event.Kind(b), q)
	if err != nil {
		return nil, false
	}
	return out, !flow.Same(event.Fact{Body: b}, event.Fact{Body: out})
}

func alterValue(rng *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return v
		}
		keys := slices.Sorted(func(yield func(string) bool) {
			for k := range v {
				if !yield(k) {
					return
				}
			}
		})
		k := keys[rng.IntN(len(keys))]
		v[k] = alterValue(rng, v[k])
		return v
	case []any:
		if len(v) == 0 {
			return v
		}
		i := rng.IntN(len(v))
		v[i] = alterValue(rng, v[i])
		return v
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return v
}

// TestForgedDecisions: a decision that nothing leads to is noticed wherever it
// stands, and Check survives it.
func TestForgedDecisions(t *testing.T) {
	forged := []event.Body{
		event.Assigned{Turn: event.Turn{Round: 99, Take: 1}, MayAnswer: true},
		event.Granted{Request: "none"}, event.Refused{Ref: "none"}, event.Admitted{Ref: "none"},
		event.Answered{Revision: 9, Content: event.Inline("x")}, event.Voted{For: "a"}, event.Interrupted{Why: "x"},
		event.Warned{}, event.Lost{Code: "x"}, event.Ending{By: event.StoppedByUser, Why: "x"},
		event.Chosen{Winner: "nobody", Order: []event.AgentID{"nobody"}}, event.Asked{Gate: "g"},
		event.Closed{Gate: "override", Choice: "nobody"}, event.Presenting{Draft: "nobody"}, event.Finished{Status: event.StatusSuccess},
	}
	forLogs(t, 100, func(rng *rand.Rand, log []event.Event) error {
		for _, b := range forged {
			i := 1 + rng.IntN(len(log)-1)
			e := event.Event{Flow: log[0].Flow, At: log[i].At, Fact: event.Fact{ID: "forged", Agent: "a", Body: b}}
			if len(coord.Check(number(slices.Insert(slices.Clone(log), i, e)))) == 0 {
				return fmt.Errorf("a forged %s before event %d", event.Kind(b), i+1)
			}
		}
		return nil
	})
}
