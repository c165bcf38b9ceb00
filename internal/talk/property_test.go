package talk_test

import (
	"fmt"
	"testing"

	"conclave/internal/event"
	"conclave/internal/flow/flowtest"
	"conclave/internal/talk"
)

// Whatever people, agents and clients say and runs bring, in any order and with
// crashes in between, the log is sound: it replays to the same decisions, no turns
// overlap, no run is launched twice, no gate closes twice, and what is spent stays
// below the ceiling.
func TestEverySchedule(t *testing.T) {
	count := map[string]int{}
	for seed := range flowtest.Schedules(3000) {
		w := play(seed, 120)
		if w.err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, w.err, flowtest.Transcript(w.log))
		}
		if err := settled(w.log); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, flowtest.Transcript(w.log))
		}
		for _, e := range w.log {
			count[event.Kind(e.Body)]++
		}
	}
	for _, kind := range []string{"launched", "returned", "asked", "closed", "amended", "interrupted", "told", "compacted", "granted", "refused", "failed", "concluded"} {
		if count[kind] < 100 {
			t.Errorf("%d of %s: the schedules test nothing of it", count[kind], kind)
		}
	}
	t.Log(count)
}

// settled is that every wanted run has come to one thing at most: refused, not
// approved, or launched once and returned once.
func settled(log []event.Event) error {
	ends := map[string]int{}
	of := map[event.FlowID]string{}
	runs := map[string]int{}
	for _, e := range log {
		switch b := e.Body.(type) {
		case event.Refused:
			ends[b.Ref]++
		case event.Closed:
			if b.Choice == event.LaunchDeny && len(b.Gate) > 7 {
				ends[b.Gate[len("launch/"):]]++
			}
		case event.Launched:
			of[b.Run] = b.Want
			runs[b.Want]++
		case event.Returned:
			ends[of[b.Run]]++
		}
	}
	for _, e := range log {
		if _, ok := e.Body.(event.Wanted); ok && (ends[e.ID] > 1 || runs[e.ID] > 1) {
			return fmt.Errorf("%s has ended %d times and was launched %d times", e.ID, ends[e.ID], runs[e.ID])
		}
	}
	return nil
}

// A log may be cut after any event and taken up again: what was decided next is
// decided again, and under the same name.
func TestResumeAnywhere(t *testing.T) {
	for seed := range flowtest.Schedules(80) {
		flowtest.Cuts(t, seed, newSession(), play(seed, 60).log, func(part []event.Event) ([]event.Event, error) {
			w := resume(seed, part, 12)
			if w.err == nil {
				w.err = settled(w.log)
			}
			return w.log, w.err
		})
	}
}

// A checkpoint taken anywhere leads to the same state and the same decisions as
// the log it stands for.
func TestCheckpointAnywhere(t *testing.T) {
	flowtest.Checkpoints(t, flowtest.Schedules(200), newSession, func(seed uint64) []event.Event { return play(seed, 60).log })
}

// Anything may stand in a log that is damaged: the decider does not fall over it,
// and Check says that something is wrong.
func TestDamagedLogs(t *testing.T) {
	for seed := range flowtest.Schedules(600) {
		flowtest.Damages(t, seed, play(seed, 40).log, talk.Check, newSession, func(s *talk.Session) { s.Phase(); s.AtRest() })
	}
}
