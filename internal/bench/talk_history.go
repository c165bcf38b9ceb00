package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/flow"
	"conclave/internal/live"
	"conclave/internal/talk"
	"conclave/internal/view"
)

// written is a conversation of n turns, as events.
func written(n int) ([]event.Event, *scribe, error) {
	first := event.Event{Flow: "session-1", Seq: 1, At: time.Unix(1e9, 0).UTC(), Fact: event.Fact{ID: "started", Body: event.SessionStarted{Kind: event.SessionInteractive}}}
	all := []event.Event{first}
	s := &scribe{to: func(events []event.Event) error { all = append(all, events...); return nil }}
	err := s.open(first)
	for i := 1; i <= n && err == nil; i++ {
		err = s.turn(i, false)
	}
	return all, s, err
}

// histories builds what the model is sent in turn 1,001 of a conversation that
// was never put into fewer words. The floor decodes the same entries from JSON.
func histories(ctx context.Context, _ string) ([]row, error) {
	_, s, err := written(1000)
	if err != nil {
		return nil, err
	}
	said := event.Fact{ID: "said/1001", Body: event.Said{Text: event.Inline("And now?")}}
	_, do := flow.Advance(&s.d, func(f event.Fact) event.Event {
		return event.Event{Flow: s.last.Flow, Seq: s.last.Seq + 1, At: s.last.At, Fact: f}
	}, said)
	i := slices.IndexFunc(do, func(c flow.Command) bool { _, ok := c.(talk.Work); return ok })
	if i < 0 {
		return nil, errors.New("nobody is set to work")
	}
	work := do[i].(talk.Work)
	data, err := json.Marshal(work.History)
	if err != nil {
		return nil, err
	}
	m := &mute{}
	k := &agent.Talker{Flow: "session-1", Blobs: mem.New(), Agent: &agent.Agent{Seat: work.Staffed.Seat, Backend: m}}
	f, o, err := paired(51,
		func() error { var v []talk.Entry; return json.Unmarshal(data, &v) },
		func() error {
			m.sent = 0
			if k.Do(ctx, work, m); m.sent < 2000 {
				return fmt.Errorf("%d messages were sent", m.sent)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return []row{against("what the model is sent in turn 1,001, made of 1,000 turns", fmt.Sprintf("decoding their %.1f MB of JSON", float64(len(data))/1e6), f, o, 1)}, nil
}

// mute is a model that counts what it is sent, says a word, and is recorded
// nowhere.
type mute struct{ sent int }

func (m *mute) Traits() backend.Traits { return backend.Traits{Model: hostModel} }

func (m *mute) Turn(_ context.Context, in backend.Input, _ backend.ToolHost) iter.Seq2[backend.Delta, error] {
	m.sent = len(in.Messages)
	return func(yield func(backend.Delta, error) bool) {
		_ = yield(backend.Delta{Text: "Yes."}, nil) && yield(backend.Delta{Done: &backend.Done{Stop: "end"}}, nil)
	}
}

func (m *mute) Submit(context.Context, ...event.Fact) ([]event.Event, error) { return nil, nil }
func (m *mute) Notes() []any                                                 { return nil }
func (m *mute) Told() <-chan struct{}                                        { return nil }
func (m *mute) Live(live.Delta)                                              {}
func (m *mute) Leave(error)                                                  {}

// folds compares what an event costs the window's fold of a conversation after
// 10,000 turns with what it costs after 100.
func folds(context.Context, string) ([]row, error) {
	all, _, err := written(10_100)
	if err != nil {
		return nil, err
	}
	at := func(round int) int {
		return slices.IndexFunc(all, func(e event.Event) bool {
			a, ok := e.Body.(event.Assigned)
			return ok && a.Round == round
		})
	}
	early, late := all[at(101):at(201)], all[at(10_001):at(10_100)]
	fold := func(s view.Snapshot, events []event.Event) view.Snapshot {
		for _, e := range events {
			s = s.Apply(e)
		}
		return s
	}
	young := fold(view.Snapshot{}, all[:at(101)])
	old := fold(young, all[at(101):at(10_001)])
	if n := old.Session.Turns.Len(); n < 10_000 {
		return nil, fmt.Errorf("the fold has %d turns", n)
	}
	f, o, err := paired(201, func() error { fold(young, early); return nil }, func() error { fold(old, late); return nil })
	if err != nil {
		return nil, err
	}
	return []row{against("an event folded into a conversation of 10,000 turns", "into one of 100", f/time.Duration(len(early)), o/time.Duration(len(late)), 2)}, nil
}
