package app

import (
	"context"
	"errors"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
)

// Wake implements [control.Jobs].
func (a *App) Wake(ctx context.Context, id event.FlowID) error {
	log, err := a.existing(ctx)
	if err != nil {
		return err
	}
	if _, driven, err := log.Holder(ctx, id); err != nil || driven {
		return err // whoever drives it hears what is said
	}
	busy, err := a.busy(ctx, log, id)
	if err != nil || !busy {
		return err
	}
	_, err = a.Background(ctx, id, nil)
	if _, driven, held := log.Holder(ctx, id); err != nil && held == nil && driven {
		return nil // somebody was faster
	}
	return err
}

// busy reports whether a job or a session has something to do that waits for
// nobody but a driver.
func (a *App) busy(ctx context.Context, log eventlog.Log, id event.FlowID) (bool, error) {
	if _, ok, err := jobBegun(ctx, log, id); err != nil || ok {
		if err != nil {
			return false, err
		}
		now, err := jobStanding(ctx, log, id)
		if err != nil {
			return false, err
		}
		return !now.AtRest() || pendingFor(ctx, log, id, now), nil
	}
	now, err := a.Open(ctx, id)
	switch {
	case err != nil:
		return false, err
	case now.Session != nil:
		return !atRest(*now.Session) || unheard(ctx, log, id, now.Session.Kind), nil
	}
	return false, control.Usagef("%s is neither a job nor a session; go on with it: conclave resume %[1]s", id)
}

// Adopt implements [control.Jobs].
func (a *App) Adopt(ctx context.Context) error {
	flows, err := a.flows(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range flows {
		switch b := f.First.Body.(type) {
		case event.JobStarted:
		case event.SessionStarted:
			if b.Kind != event.SessionCompanion {
				continue
			}
		default:
			continue
		}
		if f.Damaged == nil {
			errs = append(errs, a.Wake(ctx, f.ID))
		}
	}
	return errors.Join(errs...)
}
