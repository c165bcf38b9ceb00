package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"conclave/internal/app"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/flow"
)

// resumes takes up a run of 100,000 events: until its card can be shown, and
// until its agents work again. The floor reads the checkpoints and the tail from
// the same log and does nothing with them.
func resumes(ctx context.Context, dir string) ([]row, error) {
	const id event.FlowID = "run-long"
	if err := longRun(ctx, dir, id, 100_000); err != nil {
		return nil, err
	}
	var cards, works []time.Duration
	floor, err := median(21, func() error {
		log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
		if err != nil {
			return err
		}
		defer log.Close()
		from := uint64(1)
		for _, name := range []string{"view", "decider"} {
			c, ok, err := log.LoadCheckpoint(ctx, id, name, checkpointVersion[name])
			if err != nil || !ok {
				return fmt.Errorf("checkpoint %s: %v %w", name, ok, err)
			}
			from = c.Seq
		}
		for _, err := range log.Read(ctx, id, from) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for range 21 {
		t := time.Now()
		a, err := app.Open(dir)
		if err != nil {
			return nil, err
		}
		s, err := a.Open(ctx, id)
		if err == nil && s.Seq < 100_000 {
			err = fmt.Errorf("the snapshot has %d events", s.Seq)
		}
		if err = errors.Join(err, a.Close()); err != nil {
			return nil, err
		}
		cards = append(cards, time.Since(t))
		d, err := takeUp(ctx, dir, id)
		if err != nil {
			return nil, err
		}
		works = append(works, d)
	}
	return []row{
		within("a run of 100,000 events: card ready", floor, middle(cards), 150*time.Millisecond),
		within("a run of 100,000 events: resumed, agents at work", floor, middle(works), 150*time.Millisecond),
	}, nil
}

// checkpointVersion is what the program writes today.
var checkpointVersion = map[string]int{"view": app.SnapshotVersion, "decider": (&coord.Run{}).CheckpointVersion()}

func within(what string, floor, ours, atMost time.Duration) row {
	return row{
		what: what, floor: short(floor) + " (reading checkpoint and tail)", ours: short(ours),
		ratio: fmt.Sprintf("%.2f×", float64(ours)/float64(floor)), budget: "≤ " + short(atMost), ok: ours <= atMost,
	}
}

// longRun writes a run in which one agent calls a tool again and again.
func longRun(ctx context.Context, dir string, id event.FlowID, n int) error {
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return err
	}
	defer log.Close()
	rules := event.Defaults(event.Mode{})
	rules.MaxCalls, rules.RunLimit = n, event.Duration(1000*time.Hour)
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	d, started, err := newRun(ctx, log, id, patient, 3, rules)
	if err != nil {
		return err
	}
	defer d.Lease.Release()
	d.Observe = app.Keep(log, id)
	d.Doer = &busy{n: n, size: 200, leave: leave}
	if err := d.Start(ctx, started); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// busy calls a tool until there are n events, then leaves.
type busy struct {
	n     int
	size  int // of each text
	leave func()
}

func (b *busy) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	w := c.(coord.Work)
	if w.Agent != "a0" {
		<-ctx.Done()
		return nil
	}
	for i := 1; ; i++ {
		var facts []event.Fact
		for range 20 {
			call := fmt.Sprintf("%s/%d", w.Key(), len(facts)+40*i)
			facts = append(facts,
				event.Fact{ID: call + "/call", Agent: w.Agent, Body: event.Called{Turn: w.Turn, Call: 1, Tools: []event.ToolCall{{ID: call, Name: "shell"}}, Text: event.Inline(strings.Repeat("x", b.size))}},
				event.Fact{ID: call + "/tool", Agent: w.Agent, Body: event.ToolReturned{Turn: w.Turn, Call: call, Name: "shell", Result: event.Inline(strings.Repeat("y", b.size))}})
		}
		events, err := p.Submit(ctx, facts...)
		if err != nil {
			return nil
		}
		if int(events[len(events)-1].Seq) >= b.n {
			b.leave()
			<-ctx.Done()
			return nil
		}
	}
}

// first stops the clock when an agent is set to work.
type first struct {
	at    chan time.Time
	leave func()
}

func (f first) Do(ctx context.Context, _ flow.Command, _ engine.Port) []event.Fact {
	select {
	case f.at <- time.Now():
		f.leave()
	default:
	}
	<-ctx.Done()
	return nil
}

func takeUp(ctx context.Context, dir string, id event.FlowID) (time.Duration, error) {
	begin := time.Now()
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	lease, err := log.Acquire(ctx, id, false)
	if err != nil {
		return 0, err
	}
	defer lease.Release()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	f := first{make(chan time.Time, 1), leave}
	d := &engine.Driver{Log: log, Lease: lease, Doer: f, Decider: func() flow.Decider { return &coord.Run{} }}
	if err := d.Resume(ctx); !errors.Is(err, context.Canceled) {
		return 0, err
	}
	return (<-f.at).Sub(begin), nil
}

// recovery kills the program in the middle of a run and takes the time from the
// start of the next process until it has recorded that the run goes on. The
// floor is the start of a process.
func recovery(_ context.Context, dir string) ([]row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	floor, err := median(21, func() error { return exec.Command(prog, "--version").Run() })
	if err != nil {
		return nil, err
	}
	var all []time.Duration
	for i := range 15 {
		project := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(project, 0o700); err != nil {
			return nil, err
		}
		if _, err := until(prog, project, `"kind":"answered"`, "run", "--json", "a task"); err != nil {
			return nil, err
		}
		d, err := until(prog, project, `"kind":"resumed"`, "resume", "--json")
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	o := middle(all)
	r := against("`kill -9`, then `conclave resume` until the run goes on", "start of the process", floor, o, 0)
	r.budget, r.ok = "≤ 150 ms over it", o-floor <= 150*time.Millisecond
	return []row{r}, nil
}

// until runs the program until it prints a line with the given words, kills it
// and returns how long that took.
func until(prog, dir, words string, args ...string) (time.Duration, error) {
	cmd := exec.Command(prog, args...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if strings.Contains(sc.Text(), words) {
			took := time.Since(begin)
			_ = cmd.Process.Signal(syscall.SIGKILL)
			_ = cmd.Wait()
			return took, nil
		}
	}
	return 0, fmt.Errorf("%v ended without %s: %w", args, words, cmd.Wait())
}
