package flowtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// Schedules is how many random worlds there are to be: fewer where each of them
// takes long.
func Schedules(n uint64) uint64 {
	if testing.Short() || raced {
		return n / 10
	}
	return n
}

// Thorough reports whether there are enough schedules for anything to come up.
func Thorough() bool { return Schedules(10) == 10 }

// Transcript is a log to be read.
func Transcript(log []event.Event) string {
	var out strings.Builder
	for _, e := range log {
		b, _ := event.EncodeBody(e.Body)
		fmt.Fprintf(&out, "%d %s %s %s %.200s\n", e.Seq, event.Kind(e.Body), e.Agent, e.ID, b)
	}
	return out.String()
}

// Checkpoints proves that a checkpoint taken anywhere leads to the same state and
// the same decisions as the log it stands for. Log is that of the world of a seed.
func Checkpoints[D Decider](t *testing.T, seeds uint64, fresh func() D, log func(seed uint64) []event.Event) {
	t.Helper()
	for seed := range seeds {
		whole, other := fresh(), fresh()
		for _, e := range log(seed) {
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
			other = fresh()
			if err := other.Restore(q); err != nil {
				t.Fatalf("seed %d, event %d: %v", seed, e.Seq, err)
			}
		}
	}
	if err := fresh().Restore([]byte("{")); err == nil {
		t.Error("half a checkpoint is taken up")
	}
}

// Cuts proves that a log may be cut after any event and taken up again: what was
// decided next is decided again, and under the same name. Resume is what becomes of
// a part of the log, and what is wrong with that.
func Cuts(t *testing.T, seed uint64, d flow.Sorter, whole []event.Event, resume func(part []event.Event) ([]event.Event, error)) {
	t.Helper()
	for k := 1; k <= len(whole); k++ {
		log, err := resume(whole[:k])
		if err != nil {
			t.Fatalf("seed %d cut after event %d: %v\n%s", seed, k, err, Transcript(log))
		}
		if k < len(whole) && d.Decides(whole[k].Body) && !flow.Same(whole[k].Fact, log[k].Fact) {
			t.Fatalf("seed %d: cut after event %d, what follows is %s and was %s", seed, k, log[k].ID, whole[k].ID)
		}
	}
}

// Damages proves of a log that is damaged, in which anything may stand, that the
// decider does not fall over it and that check says something is wrong. Look reads
// everything there is to read from a decider.
func Damages[D Decider](t *testing.T, seed uint64, log []event.Event, check func([]event.Event) []flow.Problem, fresh func() D, look func(D)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	log = slices.Clone(log)
	for range min(1+rng.IntN(3), len(log)) {
		i := rng.IntN(len(log))
		log = slices.Delete(log, i, i+1)
	}
	rng.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
	if len(log) > 1 && len(check(log)) == 0 {
		t.Fatalf("seed %d: a damaged log is called sound\n%s", seed, Transcript(log))
	}
	d := fresh()
	for _, e := range log {
		d.Step(e)
		d.Pending()
		d.Wake()
		look(d)
	}
}
