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

// jobRow adds what is not at the ends of a job's log.
func (a *App) jobRow(ctx context.Context, row *control.Flow, seq uint64) {
	if x, ok := a.listed(ctx, row, seq); ok {
		row.Row, row.Waiting = x.row, x.asks
	}
}
