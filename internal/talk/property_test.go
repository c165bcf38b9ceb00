package talk_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/talk"
)

func schedules(n uint64) uint64 {
	if testing.Short() || raceEnabled {
		return n / 10
	}
	return n
}

// Whatever people, agents and clients say and runs bring, in any order and with
// crashes in between, the log is sound: it replays to the same decisions, no turns
// overlap, no run is launched twice, no gate closes twice, and what is spent stays
// below the ceiling.
func TestEverySchedule(t *testing.T) {
	count := map[string]int{}
	for seed := range schedules(3000) {
		w := play(seed, 120)
		if w.err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, w.err, transcript(w.log))
		}
		if err := settled(w.log); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, transcript(w.log))
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
	for seed := range schedules(80) {
		whole := play(seed, 60).log
		for k := 1; k <= len(whole); k++ {
			w := resume(seed, whole[:k], 12)
			if w.err == nil {
				w.err = settled(w.log)
			}
			if w.err != nil {
				t.Fatalf("seed %d cut after event %d: %v\n%s", seed, k, w.err, transcript(w.log))
			}
			if k < len(whole) && w.s.Decides(whole[k].Body) && !flow.Same(whole[k].Fact, w.log[k].Fact) {
				t.Fatalf("seed %d: cut after event %d, what follows is %s and was %s", seed, k, w.log[k].ID, whole[k].ID)
			}
		}
	}
}

// A checkpoint taken anywhere leads to the same state and the same decisions as
// the log it stands for.
func TestCheckpointAnywhere(t *testing.T) {
	for seed := range schedules(200) {
		log := play(seed, 60).log
		var whole, other talk.Session
		for _, e := range log {
			whole.Step(e)
			other.Step(e)
			p, err := whole.Checkpoint()
			if err != nil || len(whole.Due()) > 0 {
				continue
			}
			q, err := other.Checkpoint()
			if err != nil || !bytes.Equal(p, q) {
				t.Fatalf("seed %d, event %d: %v\n is %s\nwas %s", seed, e.Seq, err, q, p)
			}
			other = talk.Session{}
			if err := other.Restore(q); err != nil {
				t.Fatalf("seed %d, event %d: %v", seed, e.Seq, err)
			}
		}
	}
	if err := new(talk.Session).Restore([]byte("{")); err == nil {
		t.Error("half a checkpoint is taken up")
	}
}

func transcript(log []event.Event) string {
	out := ""
	for _, e := range log {
		b, _ := event.EncodeBody(e.Body)
		out += fmt.Sprintf("%d %s %s %.200s\n", e.Seq, event.Kind(e.Body), e.ID, b)
	}
	return out
}

// Anything may stand in a log that is damaged: the decider does not fall over it,
// and Check says that something is wrong.
func TestDamagedLogs(t *testing.T) {
	for seed := range schedules(600) {
		rng := rand.New(rand.NewPCG(seed, 3))
		log := slices.Clone(play(seed, 40).log)
		for range 1 + rng.IntN(3) {
			i := rng.IntN(len(log))
			log = slices.Delete(log, i, i+1)
		}
		rng.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
		if len(log) > 1 && len(talk.Check(log)) == 0 {
			t.Fatalf("seed %d: a damaged log is called sound\n%s", seed, transcript(log))
		}
		// The decider alone, with what was there before anything was decided.
		var s talk.Session
		for _, e := range log {
			s.Step(e)
			s.Pending()
			s.Phase()
			s.Wake()
			s.AtRest()
		}
	}
}
