package coord_test

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"conclave/internal/coord/coordtest"
	"conclave/internal/event"
)

// schedules is how many random runs to play: all of them by default, a tenth
// under the race detector, and what CONCLAVE_SCHEDULES says.
func schedules(t *testing.T, n int) uint64 {
	if s, err := strconv.Atoi(os.Getenv("CONCLAVE_SCHEDULES")); err == nil {
		return uint64(s)
	}
	if raceEnabled || testing.Short() {
		n /= 10
	}
	return uint64(n)
}

// each calls f for every seed below n, on all cores, and stops at a failure.
func each(n uint64, f func(seed uint64) bool) {
	var next atomic.Uint64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for !failed.Load() {
				seed := next.Add(1) - 1
				if seed >= n {
					return
				}
				if !f(seed) {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
}

func TestEverySchedule(t *testing.T) {
	n := schedules(t, 50_000)
	var events atomic.Int64
	each(n, func(seed uint64) bool {
		log, err := coordtest.Play(seed)
		events.Add(int64(len(log)))
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, transcript(log))
		}
		return err == nil
	})
	t.Logf("%d runs, %d events", n, events.Load())
}

func TestResumeAnywhere(t *testing.T) {
	n := schedules(t, 2_000)
	var cuts atomic.Int64
	each(n, func(seed uint64) bool {
		whole, err := coordtest.Play(seed)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return false
		}
		for k := 1; k <= len(whole); k++ {
			cuts.Add(1)
			if log, err := coordtest.Resume(seed, whole[:k]); err != nil {
				t.Errorf("seed %d cut after event %d: %v\n%s", seed, k, err, transcript(log))
				return false
			}
		}
		return true
	})
	t.Logf("%d logs resumed at %d places", n, cuts.Load())
}

// transcript is a log as its reader wants it: one short line an event.
func transcript(log []event.Event) string {
	var out []byte
	for _, e := range log {
		b, _ := event.EncodeBody(e.Body)
		if len(b) > 300 {
			b = append(b[:300], "…"...)
		}
		out = append(out, strconv.FormatUint(e.Seq, 10)+" "+e.At.Format("15:04:05")+" "+string(e.Agent)+" "+event.Kind(e.Body)+" "+e.ID+" "+string(b)+"\n"...)
	}
	return string(out)
}
