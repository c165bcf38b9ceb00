package coord_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"conclave/internal/coord"
	"conclave/internal/coord/coordtest"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// inputs are the events of a log that no run decides.
func inputs(log []event.Event) []event.Event {
	var run coord.Run
	return slices.DeleteFunc(slices.Clone(log), func(e event.Event) bool { return run.Decides(e.Body) })
}

// rerun puts inputs before a fresh run. Between two of them, when nothing is
// due, rest may replace the run by another.
func rerun(inputs []event.Event, rest func(*coord.Run) *coord.Run) []event.Event {
	run := &coord.Run{}
	var out []event.Event
	for _, in := range inputs {
		events, _ := flow.Advance(run, func(f event.Fact) event.Event {
			return event.Event{Flow: in.Flow, At: in.At, Fact: f}
		}, in.Fact)
		for _, e := range events {
			e.Seq = uint64(len(out) + 1)
			out = append(out, e)
		}
		if rest != nil {
			run = rest(run)
		}
	}
	return out
}

// differ compares two logs, each event after it went through norm, and says
// where they part.
func differ(a, b []event.Event, norm func(event.Fact) event.Fact) error {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return fmt.Errorf("%d events and %d", len(a), len(b))
		}
		if x, y := norm(a[i].Fact), norm(b[i].Fact); !flow.Same(x, y) {
			return fmt.Errorf("event %d is\n%s\nand\n%s", i+1, transcript(a[i:i+1]), transcript(b[i:i+1]))
		}
	}
	return nil
}

func asItIs(f event.Fact) event.Fact { return f }

// forLogs calls f with random sound logs.
func forLogs(t *testing.T, n int, f func(rng *rand.Rand, log []event.Event) error) {
	t.Helper()
	each(schedules(t, n), func(seed uint64) bool {
		log, err := coordtest.Play(seed)
		if err == nil {
			err = f(rand.New(rand.NewPCG(seed, 5)), log)
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		return err == nil
	})
}

// TestSameInputsSameLog: a log follows from its inputs and their times alone.
func TestSameInputsSameLog(t *testing.T) {
	forLogs(t, 2000, func(_ *rand.Rand, log []event.Event) error {
		return differ(log, rerun(inputs(log), nil), asItIs)
	})
}

// TestSeatOrder: the order in which agents sit decides nothing. What is decided
// about several of them at one moment may be recorded in another order.
func TestSeatOrder(t *testing.T) {
	sorted := func(log []event.Event) []string {
		var out []string
		for _, e := range log {
			f := withoutWords(e.Fact)
			b, _ := event.EncodeBody(f.Body)
			if _, start := f.Body.(event.RunStarted); !start {
				out = append(out, fmt.Sprintf("%s %s %s", f.ID, f.Agent, b))
			}
		}
		slices.Sort(out)
		return out
	}
	forLogs(t, 2000, func(rng *rand.Rand, log []event.Event) error {
		in := inputs(log)
		start := in[0].Body.(event.RunStarted)
		seats := slices.Clone(start.Spec.Seats)
		rng.Shuffle(len(seats), func(i, j int) { seats[i], seats[j] = seats[j], seats[i] })
		start.Spec.Seats = seats
		in[0].Body = start
		got, want := sorted(rerun(in, nil)), sorted(log)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				return fmt.Errorf("listed as %v:\n%s", seats, strings.Join(got[max(0, i-1):min(len(got), i+2)], "\n"))
			}
		}
		// Listing them in another order before they are seated changes nothing at all.
		if again := event.Seated(start.Seed, seats); !reflect.DeepEqual(again, log[0].Body.(event.RunStarted).Spec.Seats) {
			return fmt.Errorf("seated as %v", again)
		}
		return nil
	})
}

// withoutWords leaves out sentences for people, which list agents as they sit.
func withoutWords(f event.Fact) event.Fact {
	switch b := f.Body.(type) {
	case event.Ending:
		b.Why = ""
		f.Body = b
	case event.Finished:
		b.Error = ""
		f.Body = b
	case event.Refused:
		b.Why = ""
		f.Body = b
	case event.Lost:
		b.Message = ""
		f.Body = b
	}
	return f
}

// TestCheckpoints: a run taken up from a checkpoint decides as the one that wrote
// it, at every place where nothing is due.
func TestCheckpoints(t *testing.T) {
	forLogs(t, 500, func(_ *rand.Rand, log []event.Event) error {
		var failure error
		again := rerun(inputs(log), func(run *coord.Run) *coord.Run {
			p, err := run.Checkpoint()
			restored := &coord.Run{}
			if err == nil {
				err = restored.Restore(p)
			}
			if err == nil && !sameOutlook(run, restored) {
				err = fmt.Errorf("%s was restored as another run", p)
			}
			if failure == nil {
				failure = err
			}
			return restored
		})
		if failure != nil {
			return failure
		}
		return differ(log, again, asItIs)
	})
}

// sameOutlook compares what two runs show of themselves.
func sameOutlook(a, b *coord.Run) bool {
	atA, okA := a.Wake()
	atB, okB := b.Wake()
	x, errX := json.Marshal(a.Pending())
	y, errY := json.Marshal(b.Pending())
	return okA == okB && atA.Equal(atB) && a.Done() == b.Done() && reflect.DeepEqual(a.Rules(), b.Rules()) &&
		errX == nil && errY == nil && string(x) == string(y)
}
