package app

import (
	"context"
	"encoding/json"
	"fmt"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/view"
)

const (
	spendName  = "spend"
	spendEvery = 1000 // events
)

// Spend implements [control.Jobs].
func (a *App) Spend(ctx context.Context, id event.FlowID) (view.Spend, error) {
	log, _, err := a.audited(ctx, id)
	if err != nil {
		return view.Spend{}, err
	}
	s, err := spend(ctx, log, id)
	if err != nil {
		return view.Spend{}, fmt.Errorf("read what was spent: %w", err)
	}
	for _, l := range s.Runs {
		run := event.FlowID(l.Name)
		if of, err := spend(ctx, log, run); err == nil { // one that never began has no log
			s = s.With(run, of)
		}
	}
	return s, nil
}

// spend folds a flow, from where it was folded to last.
func spend(ctx context.Context, log eventlog.Log, id event.FlowID) (view.Spend, error) {
	var s view.Spend
	if c, ok, err := log.LoadCheckpoint(ctx, id, spendName, view.SpendVersion); err == nil && ok {
		if json.Unmarshal(c.Data, &s) != nil || s.Seq != c.Seq {
			s = view.Spend{}
		}
	}
	kept := s.Seq
	for e, err := range log.Read(ctx, id, s.Seq+1) {
		if err != nil {
			return s, err
		}
		s = s.Apply(e)
	}
	if s.Seq >= kept+spendEvery {
		if data, err := json.Marshal(s); err == nil {
			_ = log.SaveCheckpoint(ctx, id, eventlog.Checkpoint{Name: spendName, Version: view.SpendVersion, Seq: s.Seq, Data: data}) // a cache
		}
	}
	return s, nil
}
