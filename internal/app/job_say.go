package app

import (
	"context"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/jobdir"
)

// toJob makes something that is said to a job fit for its inbox. What a job does
// not hear would wait there for ever.
func (a *App) toJob(ctx context.Context, id event.FlowID, f event.Fact) (event.Fact, error) {
	if s, ok := deciderOfJob().(flow.Sorter); !ok || !s.Hears(f.Body) {
		return f, control.Usagef("%s is not something to say to a job, and %s is one", event.Kind(f.Body), id)
	}
	var err error
	switch b := f.Body.(type) {
	case event.Edited:
		if b.Text.Size > jobdir.LongestEdit {
			return f, control.Usagef("%s is too long, %d KiB; what is edited can have %d KiB", b.Path, b.Text.Size>>10, jobdir.LongestEdit>>10)
		}
		b.Text, err = a.shelve(ctx, b.Text)
		f.Body = b
	case event.Corrected:
		b.Text, err = a.shelve(ctx, b.Text)
		f.Body = b
	}
	return f, err
}

// toTeam makes something that is said to a team fit for its inbox.
func (a *App) toTeam(ctx context.Context, id event.FlowID, f event.Fact) (event.Fact, error) {
	if s, ok := deciderOfTeam().(flow.Sorter); !ok || !s.Hears(f.Body) {
		return f, control.Usagef("%s is not something to say to a team, and %s is one", event.Kind(f.Body), id)
	}
	m, ok := f.Body.(event.Messaged)
	if !ok {
		return f, nil
	}
	var err error
	m.Text, err = a.shelve(ctx, m.Text)
	f.Body = m
	return f, err
}

// jobRow adds what is not at the ends of the log of a job or a team.
func (a *App) jobRow(ctx context.Context, row *control.Flow, seq uint64) {
	if x, ok := a.listed(ctx, row, seq); ok {
		row.Row, row.Waiting = x.row, x.asks
	}
}
