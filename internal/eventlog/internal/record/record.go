// Package record is the stored form of events and facts, shared by the engines:
// the body encoded, the time as a number, and what it means for two of them to
// be the same.
package record

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// A Record is an event or an inbox entry as an engine keeps it. Pos, Seq and At
// are zero for inbox entries.
type Record struct {
	Pos, Seq uint64
	At       int64 // nanoseconds since 1970; noTime for the zero time
	ID       string
	Agent    string
	Kind     string
	Body     []byte
}

const noTime = math.MinInt64

// OfFact encodes f. The record shares the bytes of an [event.Unknown].
func OfFact(f event.Fact) (Record, error) {
	if f.ID == "" {
		return Record{}, fmt.Errorf("a fact needs an id")
	}
	if f.Body == nil {
		return Record{}, fmt.Errorf("fact %s has no body", f.ID)
	}
	p, err := event.EncodeBody(f.Body)
	if err != nil {
		return Record{}, fmt.Errorf("fact %s: %w", f.ID, err)
	}
	return Record{ID: f.ID, Agent: string(f.Agent), Kind: event.Kind(f.Body), Body: p}, nil
}

// OfEvents encodes events, which all have to be of the given flow and numbered
// without a gap among themselves.
func OfEvents(flow event.FlowID, events []event.Event) ([]Record, error) {
	out := make([]Record, len(events))
	for i, e := range events {
		if e.Flow != flow {
			return nil, fmt.Errorf("event %s is of flow %q, the lease is for %q", e.ID, e.Flow, flow)
		}
		if e.Seq == 0 || e.Seq != events[0].Seq+uint64(i) {
			return nil, fmt.Errorf("event %s has number %d in place %d: %w", e.ID, e.Seq, i, eventlog.ErrGap)
		}
		r, err := OfFact(e.Fact)
		if err != nil {
			return nil, err
		}
		r.Seq, r.At = e.Seq, nanos(e.At)
		out[i] = r
	}
	return out, nil
}

// Same reports whether two records say the same: agent, kind and body.
func (r Record) Same(o Record) bool {
	return r.ID == o.ID && r.Agent == o.Agent && r.Kind == o.Kind && bytes.Equal(r.Body, o.Body)
}

// Fact decodes the fact.
func (r Record) Fact() (event.Fact, error) {
	b, err := event.DecodeBody(r.Kind, r.Body)
	if err != nil {
		return event.Fact{}, fmt.Errorf("fact %s: %w", r.ID, err)
	}
	return event.Fact{ID: r.ID, Agent: event.AgentID(r.Agent), Body: b}, nil
}

// Event decodes the event. A body that cannot be read is damage.
func (r Record) Event(flow event.FlowID) (event.Event, error) {
	f, err := r.Fact()
	if err != nil {
		return event.Event{}, fmt.Errorf("event %d of %s: %w: %w", r.Seq, flow, eventlog.ErrCorrupt, err)
	}
	return event.Event{Pos: r.Pos, Flow: flow, Seq: r.Seq, At: fromNanos(r.At), Fact: f}, nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == noTime {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
