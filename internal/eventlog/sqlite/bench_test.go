package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/sqlite"
)

const committers = 32

func openB(b *testing.B) *sqlite.Log {
	b.Helper()
	log, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), ".conclave"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { log.Close() })
	return log
}

// The floor under BenchmarkCommitAlone.
func BenchmarkFsync(b *testing.B) {
	if err := eventlogtest.SyncAppends(filepath.Join(b.TempDir(), "x"), b.N, 512); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkCommitAlone(b *testing.B) {
	log := openB(b)
	l, err := log.Acquire(b.Context(), "run-1", false)
	if err != nil {
		b.Fatal(err)
	}
	events := eventlogtest.Sample("run-1", 1, uint64(b.N))
	b.ResetTimer()
	for i := range events {
		if err := log.Commit(b.Context(), l, events[i:i+1]); err != nil {
			b.Fatal(err)
		}
	}
}

// The floor under BenchmarkCommitGrouped: what a group weighs, in one append.
func BenchmarkFsyncGrouped(b *testing.B) {
	if err := eventlogtest.SyncAppends(filepath.Join(b.TempDir(), "x"), (b.N+committers-1)/committers, committers*512); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkCommitGrouped(b *testing.B) {
	log := openB(b)
	each := (b.N + committers - 1) / committers
	run, err := eventlogtest.Committers(b.Context(), log, committers, each)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := run(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(each*committers)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkRead100k(b *testing.B) {
	log := openB(b)
	l, err := log.Acquire(b.Context(), "run-1", false)
	if err != nil {
		b.Fatal(err)
	}
	const total, step = 100_000, 1000
	for from := uint64(1); from < total; from += step {
		if err := log.Commit(b.Context(), l, eventlogtest.Sample("run-1", from, from+step-1)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		n := 0
		for _, err := range log.Read(b.Context(), "run-1", 1) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != total {
			b.Fatalf("%d events", n)
		}
	}
}

// What a window costs: a commit until a follower in the same process has it.
func BenchmarkFollow(b *testing.B) {
	log := openB(b)
	l, err := log.Acquire(b.Context(), "run-1", false)
	if err != nil {
		b.Fatal(err)
	}
	got := make(chan uint64)
	go func() {
		for e, err := range log.Follow(b.Context(), "run-1", 1) {
			if err != nil {
				return
			}
			got <- e.Seq
		}
	}()
	events := eventlogtest.Sample("run-1", 1, uint64(b.N))
	b.ResetTimer()
	for i := range events {
		if err := log.Commit(b.Context(), l, events[i:i+1]); err != nil {
			b.Fatal(err)
		}
		if seq := <-got; seq != events[i].Seq {
			b.Fatalf("event %d, want %d", seq, events[i].Seq)
		}
	}
}

func BenchmarkFlows(b *testing.B) {
	log := openB(b)
	for i := range 1000 {
		f := event.FlowID(fmt.Sprintf("run-%d", i))
		l, err := log.Acquire(b.Context(), f, false)
		if err != nil {
			b.Fatal(err)
		}
		if err := log.Commit(b.Context(), l, eventlogtest.Sample(f, 1, 50)); err != nil {
			b.Fatal(err)
		}
		l.Release()
	}
	for b.Loop() {
		if list, err := log.Flows(b.Context()); err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}
