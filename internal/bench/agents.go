package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
)

// agents has 10,000 scripted agents at work at once, in runs of seven, and takes
// the memory when all of them wait for their model; then they answer and vote,
// and every run is brought to its end. The floor is as many goroutines that
// wait.
func agents(ctx context.Context, dir string) ([]row, error) {
	const count, size = 10_000, 7
	base := resident()
	floor := goroutines(count)
	log, err := sqlite.Open(ctx, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	before := settled()
	rules := event.Defaults(event.Mode{})
	rules.DeferVoting, rules.Strategy = true, event.WinnerReuse
	var wg sync.WaitGroup
	errs := make(chan error, count)
	begin := time.Now()
	for i := 0; i < count; i += size {
		n := min(size, count-i)
		d, started, err := newRun(ctx, log, event.FlowID(fmt.Sprintf("run-%d", i)), patient, n, rules)
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			defer d.Lease.Release()
			if err := d.Start(ctx, started); err != nil {
				errs <- err
			}
		})
	}
	begun := time.Since(begin)
	during := settled()
	rss := resident()
	wg.Wait()
	took := time.Since(begin)
	select {
	case err := <-errs:
		return nil, err
	default:
	}
	each := (during - before) / count
	return []row{{
		what: fmt.Sprintf("memory per agent, %d at work in runs of %d", count, size), floor: fmt.Sprintf("%.1f KiB (a waiting goroutine)", float64(floor)/1024),
		ours: fmt.Sprintf("%.1f KiB", float64(each)/1024), ratio: fmt.Sprintf("%.1f×", float64(each)/float64(floor)), budget: "≤ 64 KiB", ok: each <= 64<<10,
	}, {
		what: "resident memory of the whole process with them", floor: fmt.Sprintf("%.0f MB before", float64(base)/1e6), ours: fmt.Sprintf("%.0f MB", float64(rss)/1e6),
		ratio: "", budget: "base ≤ 40 MB", ok: base <= 40e6,
	}, {
		what: fmt.Sprintf("the same %d agents: all runs started / all finished", count), floor: "their model takes 20 s, twice",
		ours: fmt.Sprintf("%s / %s", short(begun), short(took)), ratio: "", budget: "", ok: true,
	}}, nil
}

const patient = `
name: patient
steps:
  - when: {presenting: true}
    do: [{say: the final answer}]
  - when: {own: 0}
    do: [{delay: 20s}, {answer: a first answer}]
  - do: [{delay: 20s}, {vote: {for: first, reason: it is the best}}]
`

// settled is the heap and the stacks once nothing is left to collect.
func settled() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// goroutines is the memory of one goroutine that waits.
func goroutines(n int) int64 {
	before := settled()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { <-stop })
	}
	each := (settled() - before) / int64(n)
	close(stop)
	wg.Wait()
	return max(each, 1)
}

// resident is the memory the kernel counts for this process.
func resident() int64 {
	p, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(p))
	pages, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
