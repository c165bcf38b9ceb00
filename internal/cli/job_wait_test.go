package cli

import (
	"context"
	"io"
	"iter"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// A mired job has drivers that take it up, say why they cannot go on, and end.
type mired struct {
	control.Control
	events []event.Event
	woken  int
	words  string
}

func (m *mired) Open(context.Context, event.FlowID) (view.Snapshot, error) {
	var s view.Snapshot
	for _, e := range m.events {
		s = s.Apply(e)
	}
	return s, nil
}

func (m *mired) Read(context.Context, event.FlowID) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range m.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *mired) Follow(ctx context.Context, _ event.FlowID, _ uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		<-ctx.Done()
		yield(event.Event{}, ctx.Err())
	}
}

func (m *mired) Wake(_ context.Context, id event.FlowID) error {
	m.woken++
	m.events = append(m.events, event.Event{Flow: id, Seq: uint64(len(m.events) + 1), Fact: event.Fact{Body: event.Resumed{Epoch: uint64(m.woken)}}})
	return nil
}

func (m *mired) Driver(context.Context, event.FlowID) (d control.Driver, driven bool, err error) {
	return d, false, nil
}
func (m *mired) Listen(context.Context, event.FlowID, bool, func(live.Delta)) {}
func (m *mired) LastWords(event.FlowID) string                                { return m.words }

// Whoever waits for a job that no driver brings further is told what the last one
// said, after one attempt: that it was taken up is not progress.
func TestWaitForMiredJob(t *testing.T) {
	for words, want := range map[string]string{
		"git is not installed\x1b[2J": "job-1 does not go on: git is not installed",
		"":                            "see why with: conclave resume job-1",
	} {
		m := &mired{words: words, events: []event.Event{{Flow: "job-1", Seq: 1, Fact: event.Fact{Body: event.JobStarted{Title: "x"}}}}}
		e := &env{Streams: Streams{Out: io.Discard, Err: io.Discard}}
		err := e.waitJob(t.Context(), m, "job-1", false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") || codeOf(err) != exitFailed {
			t.Errorf("%v", err)
		}
		if m.woken != 1 {
			t.Errorf("%d drivers were called", m.woken)
		}
	}
}

// The exit code says how a job stands: of wait, of new --wait and of resume.
func TestJobOutcome(t *testing.T) {
	for state, want := range map[view.JobState]int{
		view.JobCompleted: exitOK, view.JobFailed: exitFailed, view.JobCancelled: exitCancelled,
		view.JobReview: exitRefused, view.JobTrouble: exitRefused,
	} {
		if got, _ := exitCode(jobOutcome(view.Job{State: state}), &sink{}); got != want {
			t.Errorf("%s: %d, not %d", state, got, want)
		}
	}
}
