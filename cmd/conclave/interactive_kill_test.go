package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A conversation whose processes are killed at random moments, while the agent
// talks, a run waits for approval, goes on or has just come back, goes on each
// time as if nothing had happened: what was acknowledged is there, a question is
// still open, a run is launched once, a message heard once, a tool used once, and
// in the end everything is as where nobody was killed.
//
// IM-06.1
func TestInteractiveKilledAnywhere(t *testing.T) {
	t.Parallel()
	most := int64(200)
	if testing.Short() || raceEnabled {
		most = 16
	}
	calm := newParlour(t, nil)
	var none tally
	want := calm.converse(t, &none)
	if len(want) < 20 {
		t.Fatalf("an undisturbed conversation is %q", want)
	}
	var all tally
	all.most = most
	var wg sync.WaitGroup
	for worker := range uint64(2) {
		rng := rand.New(rand.NewPCG(worker, 11))
		wg.Go(func() {
			for all.n.Load() < most && !t.Failed() {
				k := newParlour(t, rng)
				if diff := cmp.Diff(want, k.converse(t, &all)); diff != "" && !t.Failed() {
					t.Errorf("%s: undisturbed (-) and killed (+):\n%s", k.dir, diff)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("killed %d times: %v", all.n.Load(), all.phases)
	for _, p := range []view.SessionPhase{view.SessionPhaseChatting, view.SessionPhaseAwaiting, view.SessionPhaseRunning, view.SessionPhaseResults} {
		if all.phases[p] == 0 && most > 100 && !t.Failed() {
			t.Errorf("nobody was killed while %s", p)
		}
	}
}

// A tally counts the kills, by what the session did.
type tally struct {
	n      atomic.Int64
	most   int64
	mu     sync.Mutex
	phases map[view.SessionPhase]int
}

func (c *tally) add(p view.SessionPhase) {
	c.n.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phases == nil {
		c.phases = map[view.SessionPhase]int{}
	}
	c.phases[p]++
}

// converse has the whole conversation and tells it. Processes that are killed are
// started again, as a person would.
func (k *parlour) converse(t *testing.T, c *tally) []string {
	t.Helper()
	k.says(t, c, "write about tides")
	k.settles(t, c)
	k.answers(t, c, "approve")
	k.settles(t, c)

	k.says(t, c, "launch rivers")
	k.settles(t, c)
	k.answers(t, c, "deny", "--reason", "not now")
	k.settles(t, c)

	k.says(t, c, "launch trees")
	k.settles(t, c)
	k.says(t, c, "mind the memory")
	k.answers(t, c, "approve")
	k.settles(t, c)

	k.says(t, c, "goodbye")
	k.settles(t, c)
	if t.Failed() {
		return nil // and the first fault is what is to be seen
	}
	return k.examine(t)
}

// says says something once: again only if nothing of it was recorded.
func (k *parlour) says(t *testing.T, c *tally, text string) {
	t.Helper()
	for !t.Failed() && !k.heard(t, text) {
		if k.does(t, c, "sessions", "say", "--json", string(k.id), text) {
			k.settlesOnce(t, c, func(view.Session) bool { return k.heard(t, text) })
		}
	}
}

// heard reports whether the log has something that was said.
func (k *parlour) heard(t *testing.T, text string) bool {
	t.Helper()
	return slices.ContainsFunc(bodies[event.Said](k.read(t, k.id)), func(s event.Said) bool { return s.Text.Text == text })
}

// settles has the session go on until it waits for a person.
func (k *parlour) settles(t *testing.T, c *tally) {
	t.Helper()
	for s := k.now(t); !t.Failed() && !waits(s); s = k.now(t) {
		k.does(t, c, "resume", "-q", string(k.id))
	}
}

// settlesOnce is until a resume has come to its end, or what is looked for is
// there.
func (k *parlour) settlesOnce(t *testing.T, c *tally, until func(view.Session) bool) {
	t.Helper()
	for !t.Failed() && (until == nil || !until(k.now(t))) {
		if !k.does(t, c, "resume", "-q", string(k.id)) {
			return
		}
	}
}

// answers answers the question that is open, once.
func (k *parlour) answers(t *testing.T, c *tally, how string, more ...string) {
	t.Helper()
	s := k.now(t)
	if len(s.Gates) != 1 || s.Gates[0].Revision != 1 {
		t.Errorf("%s: %s, and nobody is asked: %+v", k.dir, s.Phase(), s.Gates)
		return
	}
	answered := func(now view.Session) bool { return len(now.Gates) == 0 }
	for !t.Failed() && !answered(k.now(t)) {
		k.does(t, c, append([]string{how, string(k.id)}, more...)...)
		// One that was killed may have been heard or not; going on tells.
		k.settlesOnce(t, c, answered)
	}
}

func waits(s view.Session) bool {
	return len(s.Gates) > 0 || s.State() == view.SessionIdle
}

// does runs the program, and may kill it a moment after one of the next events.
func (k *parlour) does(t *testing.T, c *tally, args ...string) (killed bool) {
	t.Helper()
	if t.Failed() {
		return false
	}
	before := k.now(t)
	x := k.start(t, args...)
	ctx, done := context.WithTimeout(t.Context(), limit)
	var wg sync.WaitGroup
	if k.rng != nil && c.n.Load() < c.most && k.rng.IntN(4) > 0 {
		after, moment := k.rng.IntN(25), time.Duration(k.rng.IntN(4000))*time.Microsecond
		var at string
		switch {
		case after == 0: // before anything, or in the middle of the start
			moment *= 15
		case after%4 == 0: // where few events are, and much hangs on them
			at, after = []string{"asked", "closed", "launched", "returned"}[k.rng.IntN(4)], 1000
			moment *= 4
		}
		wg.Go(func() { k.killAfter(ctx, x, before, after, at, moment) })
	}
	x.readers.Wait()
	_ = x.cmd.Wait()
	done()
	wg.Wait()
	for line := range strings.Lines(x.out.String()) {
		k.acknowledge(t, strings.TrimSuffix(line, "\n"))
	}
	s := k.now(t) // which compares
	if x.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		c.add(s.Phase())
		return true
	}
	if n := x.cmd.ProcessState.ExitCode(); n != 0 && n != 5 {
		t.Errorf("%s: conclave %s: %s\n%s", k.dir, strings.Join(args, " "), x.cmd.ProcessState, x.everything())
	}
	return false
}

// killAfter kills a process a moment after the n-th new event of the session or
// of its runs, or the first of that kind, or as soon as the session waits for a
// person again.
func (k *parlour) killAfter(ctx context.Context, x *process, s view.Session, n int, at string, moment time.Duration) {
	events := make(chan event.Event)
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, done := context.WithCancel(ctx)
	defer done()
	follow := func(id event.FlowID, from int) {
		wg.Go(func() {
			for e, err := range k.a.Follow(ctx, id, uint64(from+1)) {
				if err != nil {
					return
				}
				select {
				case events <- e:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for id, lines := range k.seen {
		follow(id, len(lines))
	}
	for worked := !waits(s); n > 0 && !(worked && waits(s)); n-- {
		select {
		case e := <-events:
			if e.Flow == k.id {
				if s = s.Apply(e); event.Kind(e.Body) == at {
					n = 1 // the last
				}
			}
			worked = worked || !waits(s)
			if l, ok := e.Body.(event.Launched); ok {
				follow(l.Run, 0)
			}
		case <-ctx.Done():
			return
		}
	}
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-timer.C:
		_ = syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL)
	case <-ctx.Done():
	}
}

// examine checks what must hold in the end, and tells the conversation without
// what killing may change: when, how often, and that an outcome is not known.
func (k *parlour) examine(t *testing.T) []string {
	t.Helper()
	events := k.read(t, k.id)
	for seq, line := range k.acknowledged {
		if k.seen[k.id][seq-1] != line {
			t.Errorf("%s: event %d was acknowledged as\n%s\nand the log has\n%s", k.dir, seq, line, k.seen[k.id][seq-1])
		}
	}
	k.once(t, events)
	k.sound(t)
	k.nobodyLeft(t)
	k.effects(t, events)
	s := k.now(t)
	var out []string
	for i := range s.Turns.Len() {
		turn := s.Turns.At(i)
		out = append(out, "you: "+turn.Text.Text)
		for _, step := range turn.Steps.All(0) {
			switch step.Kind {
			case view.StepText, view.StepSaid:
				out = append(out, string(step.Kind)+": "+step.Text.Text)
			case view.StepTool:
				out = append(out, "tool: "+step.Tool)
			case view.StepRun:
				out = append(out, "run")
			}
		}
		for _, r := range turn.Runs {
			out = append(out, fmt.Sprintf("run: %s, %s: %s", r.Launch.Task.Text, r.Status, r.Answer.Text))
		}
		if !turn.Over || turn.Failed != "" {
			t.Errorf("%s: turn %d: over %v, failed %q", k.dir, i+1, turn.Over, turn.Failed)
		}
	}
	return out
}

// once checks that nothing is in the log twice that must be there once.
func (k *parlour) once(t *testing.T, events []event.Event) {
	t.Helper()
	said, heard, calls := map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Said:
			said[b.Text.Text]++
			heard[e.ID] += 0
		case event.Assigned:
			if b.Take <= 1 {
				for _, m := range b.Messages {
					heard[m]++
				}
			}
		case event.Told:
			for _, m := range b.Messages {
				heard[m]++
			}
		case event.ToolReturned:
			calls[fmt.Sprint(b.Round, "/", b.Call)]++
		case event.Launched:
			calls["launched for "+b.Want]++
		case event.Returned:
			calls["returned "+string(b.Run)]++
		case event.Concluded:
			calls[fmt.Sprint("concluded ", b.Round)]++
		}
	}
	for _, counts := range []map[string]int{said, heard, calls} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			if n := counts[what]; n != 1 {
				t.Errorf("%s: %s: %d times", k.dir, what, n)
			}
		}
	}
}

// effects checks what tools have done in the world: once if it was recorded, at
// most once if nobody knows.
func (k *parlour) effects(t *testing.T, events []event.Event) {
	t.Helper()
	var unknown []string
	for _, r := range bodies[event.ToolReturned](events) {
		if r.Error {
			unknown = append(unknown, r.Name)
		}
	}
	root := filepath.Join(k.dir, ".conclave", "workspace", "projects", "tides")
	count := func(path, of string) int {
		p, err := os.ReadFile(path)
		if err != nil {
			return 0
		}
		return strings.Count(string(p), of)
	}
	for tool, n := range map[string]int{
		"create_project":      count(filepath.Join(root, "CONTEXT.md"), "write about tides"),
		"note_decision":       count(filepath.Join(root, "CONTEXT.md"), "One page at most."),
		"shell":               count(filepath.Join(root, "..", "..", "count"), "once\n"),
		"publish_deliverable": count(filepath.Join(root, "deliverables", "note.md"), "the final answer"),
	} {
		if n > 1 || n == 0 && len(unknown) == 0 {
			t.Errorf("%s: %s was done %d times (unknown: %v)", k.dir, tool, n, unknown)
		}
	}
}
