package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

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

// longestWords is how much of the end of a driver's log is looked at.
const longestWords = 8 << 10

// LastWords implements [control.Jobs].
func (a *App) LastWords(id event.FlowID) string {
	f, err := os.Open(filepath.Join(a.state("runs", string(id)), "driver.log"))
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > longestWords {
		_, _ = f.Seek(-longestWords, io.SeekEnd)
	}
	said, _ := io.ReadAll(io.LimitReader(f, longestWords))
	const mark = "conclave: " // as every message of the program begins
	text := "\n" + string(said)
	at := strings.LastIndex(text, "\n"+mark)
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(text[at+1+len(mark):])
}

// busy reports whether a job, a team or a session has something to do that waits for
// nobody but a driver.
func (a *App) busy(ctx context.Context, log eventlog.Log, id event.FlowID) (bool, error) {
	if settled, ok, err := settling(ctx, log, id); err != nil || ok {
		return err == nil && (!settled.rests || pendingFor(ctx, log, id, settled.Decider)), err
	}
	now, err := a.Open(ctx, id)
	switch {
	case err != nil:
		return false, err
	case now.Session != nil:
		return !atRest(*now.Session) || unheard(ctx, log, id, now.Session.Kind), nil
	}
	return false, control.Usagef("%s is no job, team or session; go on with it: conclave resume %[1]s", id)
}

// Adopt implements [control.Jobs]. A team may have been left on purpose, by whoever
// did not want it to spend more: its page offers to go on.
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
