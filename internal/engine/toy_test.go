package engine_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/mem"
	"conclave/internal/flow"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const flowID event.FlowID = "flow-test"

// toy is a decider whose rule a test writes. The rule sees every event once and
// says with the methods below what follows from it.
type toy struct {
	rule    func(*toy, event.Event)
	due     []event.Fact
	do      []flow.Command
	pending map[string]flow.Command
	wake    time.Time
	mark    string // for a rule to remember something by
	over    bool
}

func (t *toy) Step(e event.Event) flow.Ready {
	if len(t.due) > 0 && t.due[0].ID == e.ID {
		t.due = t.due[1:]
	}
	t.do = nil
	t.rule(t, e)
	return flow.Ready{Record: t.Due(), Do: t.do}
}

func (t *toy) Due() []event.Fact { return t.due[:min(1, len(t.due))] }

func (t *toy) Pending() []flow.Command {
	var out []flow.Command
	for _, k := range slices.Sorted(maps.Keys(t.pending)) {
		out = append(out, t.pending[k])
	}
	return out
}

func (t *toy) Wake() (time.Time, bool) { return t.wake, !t.wake.IsZero() }
func (t *toy) Done() bool              { return t.over && len(t.due) == 0 }

// record has a fact follow.
func (t *toy) record(f event.Fact) { t.due = append(t.due, f) }

// begin has a job begin.
func (t *toy) begin(key string) {
	if t.pending == nil {
		t.pending = map[string]flow.Command{}
	}
	t.pending[key] = job(key)
	t.do = append(t.do, job(key))
}

func (t *toy) command(c flow.Command) { t.do = append(t.do, c) }

// job is a piece of work that is only a name.
type job string

func (j job) Key() string { return string(j) }

// note is a fact that only says something.
func note(id, text string) event.Fact {
	return event.Fact{ID: id, Body: event.Told{Note: text}}
}

// said is what a note says.
func said(f event.Fact) string {
	if t, ok := f.Body.(event.Told); ok {
		return t.Note
	}
	return event.Kind(f.Body)
}

// doer makes a Doer of a function for each job.
type doer map[string]func(context.Context, engine.Port) []event.Fact

func (d doer) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	do := d[c.Key()]
	if do == nil {
		panic(fmt.Sprintf("nobody does %s", c.Key()))
	}
	return do(ctx, p)
}

// spy is a log that tells of every commit and may be told what to do with it.
type spy struct {
	eventlog.Log
	// commit stands in for the commit; next is the real one.
	commit func(events []event.Event, next func() error) error
	inbox  []event.Fact // yielded before the log's own

	mu    sync.Mutex
	story []string
}

func (s *spy) Commit(ctx context.Context, l eventlog.Lease, events []event.Event) error {
	next := func() error {
		err := s.Log.Commit(ctx, l, events)
		if err == nil {
			s.tell("commit %s", ids(events))
		}
		return err
	}
	if s.commit != nil {
		return s.commit(events, next)
	}
	return next()
}

func (s *spy) Inbox(ctx context.Context, id event.FlowID) iter.Seq2[event.Fact, error] {
	return func(yield func(event.Fact, error) bool) {
		for _, f := range s.inbox {
			if !yield(f, nil) {
				return
			}
		}
		s.Log.Inbox(ctx, id)(yield)
	}
}

func (s *spy) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.story = append(s.story, fmt.Sprintf(format, args...))
}

func (s *spy) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.story)
}

func ids(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.ID)
	}
	return fmt.Sprint(out)
}

// drive is a driver of a toy on a log.
func drive(t *testing.T, log eventlog.Log, rule func(*toy, event.Event), d engine.Doer) *engine.Driver {
	t.Helper()
	lease, err := log.Acquire(t.Context(), flowID, true)
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &toy{rule: rule} }, Doer: d}
}

// history is what a log holds, as ids.
func history(t *testing.T, log eventlog.Log) []string {
	t.Helper()
	var out []string
	for _, e := range read(t, log) {
		out = append(out, e.ID)
	}
	return out
}

func read(t *testing.T, log eventlog.Log) []event.Event {
	t.Helper()
	var out []event.Event
	for e, err := range log.Read(context.Background(), flowID, 1) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func newSpy() *spy { return &spy{Log: mem.New()} }
