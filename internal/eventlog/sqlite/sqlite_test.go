package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/sqlite"
)

func TestMain(m *testing.M) {
	if job := os.Getenv("EVENTLOG_HELPER"); job != "" {
		os.Exit(helper(job))
	}
	goleak.VerifyTestMain(m)
}

func TestLog(t *testing.T) {
	for name, set := range map[string]func(*sqlite.Log){
		"as it is":       func(*sqlite.Log) {},
		"covering often": func(l *sqlite.Log) { l.CoverEvery(3) },
	} {
		t.Run(name, func(t *testing.T) {
			eventlogtest.Run(t, eventlogtest.Engine{New: func(t *testing.T) func() eventlog.Log {
				// A path that an unescaped URI would not survive.
				dir := filepath.Join(t.TempDir(), "a ?#%20 path", ".conclave")
				t.Cleanup(func() { sound(t, dir) })
				return func() eventlog.Log {
					log := open(t, dir)
					set(log)
					return log
				}
			}})
		})
	}
}

func open(t *testing.T, dir string) *sqlite.Log {
	t.Helper()
	log, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// sound checks a log that nobody has open.
func sound(t *testing.T, dir string) {
	t.Helper()
	log, err := sqlite.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	problems, err := log.Check(ctx)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Check: %v, %v", problems, err)
	}
}

// Flows large enough for several blocks, interleaved with one another.
func TestBlocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".conclave")
	log := open(t, dir)
	log.CoverEvery(1000)
	const flows, big = 3, 9_000
	next := map[event.FlowID]uint64{}
	commit := func(f event.FlowID, l eventlog.Lease, n int) {
		t.Helper()
		var events []event.Event
		for i := range uint64(n) {
			events = append(events, marked(f, next[f]+1+i))
		}
		if err := log.Commit(ctx, l, events); err != nil {
			t.Fatal(err)
		}
		next[f] += uint64(n)
	}
	leases := map[event.FlowID]eventlog.Lease{}
	for i := range flows {
		f := event.FlowID(fmt.Sprint("run-", i))
		leases[f] = acquire(t, log, f)
	}
	for i := range 4 {
		for f, l := range leases {
			commit(f, l, 500+i)
		}
	}
	commit("run-1", leases["run-1"], big) // more than a block at once
	commit("run-0", leases["run-0"], 10)
	for range 2 {
		for f, last := range next {
			for _, from := range []uint64{1, 1024, last - 600, last} {
				want := from
				for e, err := range log.Read(ctx, f, from) {
					if err != nil || e.Seq != want {
						t.Fatalf("%s: event %d, %v, want %d", f, e.Seq, err, want)
					}
					want++
				}
				if want != last+1 {
					t.Fatalf("%s from %d ends before %d, want %d", f, from, want, last+1)
				}
			}
			// What is in a block is known by its id.
			if err := log.Send(ctx, f, marked(f, 5).Fact); err != nil {
				t.Fatal(err)
			}
		}
		log.Close()
		log = open(t, dir)
	}
	list, err := log.Flows(ctx)
	if err != nil || len(list) != flows || list[0].ID != "run-0" || list[1].ID != "run-1" {
		t.Fatalf("Flows: %v, %v", list, err)
	}
	for _, f := range list {
		if f.First.Seq != 1 || f.Last.Seq != next[f.ID] {
			t.Errorf("%s goes from %d to %d, want %d", f.ID, f.First.Seq, f.Last.Seq, next[f.ID])
		}
	}
	log.Close()
	sound(t, dir)
}

// Where files cannot be watched followers see what others do all the same.
func TestPoll(t *testing.T) {
	dir := t.TempDir()
	log, other := open(t, dir), open(t, dir)
	other.PollOnly()
	ctx, cancel := context.WithCancel(t.Context())
	got, done := make(chan uint64), make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range other.Follow(ctx, "run-1", 1) {
			if err != nil {
				t.Error(err)
			}
			got <- e.Seq
		}
	}()
	l := acquire(t, log, "run-1")
	for n := uint64(1); n <= 4; n++ {
		if err := log.Commit(ctx, l, eventlogtest.Sample("run-1", n, n)); err != nil {
			t.Fatal(err)
		}
		if seq := <-got; seq != n {
			t.Fatalf("event %d, want %d", seq, n)
		}
	}
	cancel()
	<-done
}

// Whoever commits notices what others have committed before, and tells the
// followers: they may not hear of it in any other way, since what the bell rings
// for is then known already.
func TestCommitWakes(t *testing.T) {
	dir := t.TempDir()
	log, other := open(t, dir), open(t, dir)
	other.Deaf()
	ctx, cancel := context.WithCancel(t.Context())
	got, done := make(chan uint64), make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range other.Follow(ctx, "run-1", 1) {
			if err != nil {
				t.Error(err)
			}
			got <- e.Seq
		}
	}()
	l, own := acquire(t, log, "run-1"), acquire(t, other, "run-2")
	for n := uint64(1); n <= 4; n++ {
		if err := log.Commit(ctx, l, eventlogtest.Sample("run-1", n, n)); err != nil {
			t.Fatal(err)
		}
		if err := other.Commit(ctx, own, eventlogtest.Sample("run-2", n, n)); err != nil {
			t.Fatal(err)
		}
		if seq := <-got; seq != n {
			t.Fatalf("event %d, want %d", seq, n)
		}
	}
	cancel()
	<-done
}

// Once somebody has followed the watch stays, and nothing else does: following
// again leaves no trace, and where files cannot be watched no poll goes on.
func TestIdle(t *testing.T) {
	for name, follows := range map[string]int{"watch": 1, "poll": 0} {
		t.Run(name, func(t *testing.T) {
			log := open(t, filepath.Join(t.TempDir(), ".conclave"))
			if name == "poll" {
				log.PollOnly()
			}
			l := acquire(t, log, "run-1")
			if err := log.Commit(ctx, l, eventlogtest.Sample("run-1", 1, 1)); err != nil {
				t.Fatal(err)
			}
			follow := func() {
				for range log.Follow(ctx, "run-1", 1) {
					break
				}
			}
			for range follows {
				follow()
			}
			before := goleak.IgnoreCurrent()
			for range 3 {
				follow()
			}
			goleak.VerifyNone(t, before)
		})
	}
}

func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".conclave")
	log := open(t, dir)
	acquire(t, log, "run-1")
	if _, err := log.PutBlob(ctx, []byte("x")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func acquire(t *testing.T, log eventlog.Log, f event.FlowID) eventlog.Lease {
	t.Helper()
	l, err := log.Acquire(ctx, f, false)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
