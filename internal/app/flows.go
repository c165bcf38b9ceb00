package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/view"
)

// Flows implements [control.Control].
func (a *App) Flows(ctx context.Context) ([]control.Flow, error) {
	a.brood.reap()
	flows, err := a.flows(ctx)
	if err != nil {
		return nil, err
	}
	var out []control.Flow
	for _, f := range flows {
		row := control.Flow{Row: view.RowOf(f.First, f.Last), Offline: offline(f.First)}
		if row.ID = f.ID; f.Damaged != nil {
			row.Damaged = f.Damaged.Error()
		}
		if _, ok := f.First.Body.(event.SessionStarted); ok && f.Damaged == nil {
			a.sessionRow(ctx, &row, f.Last.Seq)
		} else if (row.Kind == view.KindJob || row.Kind == view.KindTeam) && f.Damaged == nil {
			a.jobRow(ctx, &row, f.Last.Seq)
		} else if !row.Finished {
			if d, ok, err := a.Driver(ctx, f.ID); err == nil && ok {
				row.Driver, row.Waiting = &d, a.waiting(ctx, f.ID)
			}
		}
		if text, err := a.Text(ctx, row.Task); err == nil {
			row.Task = event.Inline(text)
		}
		out = append(out, row)
	}
	a.answered(ctx, out)
	slices.SortStableFunc(out, func(x, y control.Flow) int { return y.Started.Compare(x.Started) })
	return out, nil
}

// flows lists what the log has; nothing if there is none.
func (a *App) flows(ctx context.Context) ([]eventlog.Flow, error) {
	log, err := a.existing(ctx)
	if _, none := errors.AsType[*control.NotFound](err); none {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return log.Flows(ctx)
}

// sessionRow adds what is not at the ends of a session's log. It waits for a
// person if a plan does, or the run that goes on.
func (a *App) sessionRow(ctx context.Context, row *control.Flow, seq uint64) {
	x, ok := a.listed(ctx, row, seq)
	if !ok {
		return
	}
	row.Row, row.Waiting = x.row, x.asks || x.running != "" && row.Driver != nil && a.waiting(ctx, x.running)
}

// A listing is a flow as a list shows it, after so many events.
type listing struct {
	seq     uint64
	row     view.Row
	asks    bool
	running event.FlowID
}

// listed is a session, a job or a team as a list shows it. One that has gone no further
// since it was listed last is not read again.
func (a *App) listed(ctx context.Context, row *control.Flow, seq uint64) (listing, bool) {
	if d, ok, err := a.Driver(ctx, row.ID); err == nil && ok {
		row.Driver = &d
	}
	if x, ok := a.rows.Load(row.ID); ok && x.(listing).seq == seq {
		return x.(listing), true
	}
	s, err := a.Open(ctx, row.ID)
	x := listing{seq: seq}
	switch {
	case err != nil:
		return x, false
	case s.Session != nil:
		x.row, x.asks, x.running = row.With(*s.Session), len(s.Session.Gates) > 0, s.Session.Running
	case s.Job != nil:
		x.row, x.asks = row.WithJob(*s.Job), len(s.Job.Gates) > 0
	case s.Team != nil:
		x.row, x.asks = row.WithTeam(*s.Team), len(s.Team.Gates) > 0
	default:
		return x, false
	}
	if s.Seq == seq { // else it went on meanwhile
		a.rows.Store(row.ID, x)
	}
	return x, true
}

// answered marks the sessions whose questions have their answers in the inbox. All
// are looked at in the time that one takes.
func (a *App) answered(ctx context.Context, rows []control.Flow) {
	log, err := a.existing(ctx)
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	for i := range rows {
		if r := &rows[i]; (r.Kind == view.KindSession || r.Kind == view.KindJob || r.Kind == view.KindTeam) && r.Waiting && r.Driver == nil {
			wg.Go(func() { r.Answered = a.replied(ctx, log, r.ID) })
		}
	}
	wg.Wait()
}

// replied reports whether everything a session asks was answered by somebody.
func (a *App) replied(ctx context.Context, log eventlog.Log, id event.FlowID) bool {
	now, err := a.Open(ctx, id)
	if err != nil {
		return false
	}
	open := map[string]int{}
	for _, g := range now.Gates() {
		open[g.Gate] = g.Revision
	}
	for f, err := range log.Unheard(ctx, id) {
		if r, ok := f.Body.(event.Replied); err == nil && ok && open[r.Gate] == r.Revision {
			delete(open, r.Gate)
		}
		if err != nil || len(open) == 0 {
			break
		}
	}
	return len(open) == 0
}

// waiting reports whether a run asks a person something.
func (a *App) waiting(ctx context.Context, id event.FlowID) bool {
	s, err := a.Open(ctx, id)
	return err == nil && len(s.Card.Gates) > 0
}

// offline reports whether no agent of a run, a job or a team calls a model.
func offline(first event.Event) bool {
	var seats []event.Seat
	switch b := first.Body.(type) {
	case event.RunStarted:
		seats = b.Spec.Seats
	case event.JobStarted:
		if b.Rules.Execute == event.ExecuteRun {
			return false // whoever is configured when it comes to that
		}
		seats = []event.Seat{b.Seat}
	case event.TeamStarted:
		seats = seatsOf(b)
	default:
		return false
	}
	return !slices.ContainsFunc(seats, func(s event.Seat) bool {
		return !slices.ContainsFunc(backends(), func(b backendKind) bool { return b.name == s.Backend && b.offline })
	})
}

// Driver implements [control.Control].
func (a *App) Driver(ctx context.Context, id event.FlowID) (control.Driver, bool, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return control.Driver{}, false, err
	}
	h, ok, err := log.Holder(ctx, id)
	return control.Driver{PID: h.PID, Since: h.Since}, ok, err
}

// nearest is how many ids are offered for one that is not there.
const nearest = 3

// Find implements [control.Control].
func (a *App) Find(ctx context.Context, typed string) (event.FlowID, error) {
	log, err := a.existing(ctx)
	if _, none := errors.AsType[*control.NotFound](err); none {
		return "", &control.NotFound{Typed: typed}
	}
	if err != nil {
		return "", err
	}
	flows, err := log.Flows(ctx)
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(flows, func(x, y eventlog.Flow) int { return y.First.At.Compare(x.First.At) })
	var all, match []event.FlowID
	for _, f := range flows {
		if string(f.ID) == typed {
			return f.ID, nil
		}
		all = append(all, f.ID)
		if strings.Contains(string(f.ID), typed) {
			match = append(match, f.ID)
		}
	}
	switch {
	case len(all) == 0:
		return "", &control.NotFound{}
	case typed == "":
		return all[0], nil
	case len(match) == 1:
		return match[0], nil
	case len(match) > 1:
		return "", &control.NotFound{Typed: typed, Several: match[:min(len(match), 10)]}
	}
	slices.SortStableFunc(all, func(x, y event.FlowID) int {
		return cmp.Compare(levenshtein.ComputeDistance(string(x), typed), levenshtein.ComputeDistance(string(y), typed))
	})
	return "", &control.NotFound{Typed: typed, Nearest: all[:min(len(all), nearest)]}
}

// Read implements [control.Control].
func (a *App) Read(ctx context.Context, id event.FlowID) iter.Seq2[event.Event, error] {
	return a.ReadFrom(ctx, id, 1)
}

// ReadFrom implements [control.Control].
func (a *App) ReadFrom(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	log, err := a.existing(ctx)
	if err != nil {
		return failed(err)
	}
	return log.Read(ctx, id, from)
}

// Follow implements [control.Control].
func (a *App) Follow(ctx context.Context, id event.FlowID, from uint64) iter.Seq2[event.Event, error] {
	log, err := a.events(ctx)
	if err != nil {
		return failed(err)
	}
	return log.Follow(ctx, id, from)
}

func failed(err error) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }
}

// Send implements [control.Control].
func (a *App) Send(ctx context.Context, id event.FlowID, f event.Fact) error {
	log, err := a.existing(ctx)
	if err != nil {
		return err
	}
	_, isJob, err := jobBegun(ctx, log, id)
	if err != nil {
		return err
	}
	_, isTeam, err := teamBegun(ctx, log, id)
	if err != nil {
		return err
	}
	switch {
	case isJob:
		f, err = a.toJob(ctx, id, f)
	case isTeam:
		f, err = a.toTeam(ctx, id, f)
	default:
		f, err = a.toOthers(ctx, log, id, f)
	}
	if err != nil {
		return err
	}
	switch p, err := event.EncodeBody(f.Body); {
	case err != nil:
		return err
	case len(p) > mostSaid:
		return control.Usagef("what is said is too long, %d KiB; %d KiB is the most, and what is longer can be put into a file and named", len(p)>>10, mostSaid>>10)
	}
	switch err := log.Send(ctx, id, f); {
	case errors.Is(err, eventlog.ErrConflict):
		return control.Usagef("not done: something else was said to %s as %s before", id, f.ID)
	case err != nil:
		return err
	}
	if r, ok := f.Body.(event.Replied); ok {
		return late(ctx, log, id, f.ID, r)
	}
	return nil
}

// toOthers makes something that is said to a run or a session fit for its inbox.
func (a *App) toOthers(ctx context.Context, log eventlog.Log, id event.FlowID, f event.Fact) (event.Fact, error) {
	switch f.Body.(type) {
	case event.Said, event.Revised, event.Renamed, event.Wanted, event.Amended, event.Waived, event.Pinned, event.Archived, event.Opened, event.Published,
		event.Outlined, event.Linked, event.Tiered:
		return a.sayable(ctx, log, id, f)
	case event.CancelRequested, event.Replied:
		return f, nil
	case event.Messaged, event.Withdrawn, event.WrapUpRequested, event.PauseRequested, event.ContinueRequested, event.StopRequested, event.Held:
		return a.steering(ctx, log, id, f)
	case event.Edited, event.Commented, event.Resolved, event.Responded, event.Drafted, event.Corrected:
		return f, control.Usagef("%s is something to say to a job, and %s is none", event.Kind(f.Body), id)
	}
	return f, control.Usagef("%s is not something to say to a run", event.Kind(f.Body))
}

// late tells whoever answers a question of a flow that nobody drives if somebody
// has done so before, or has changed what is asked: a driver would say it, and
// there is none.
func late(ctx context.Context, log eventlog.Log, id event.FlowID, ref string, r event.Replied) error {
	if _, held, err := log.Holder(ctx, id); held || err != nil {
		return nil // it says so itself; and what was sent is sent
	}
	for f, err := range log.Unheard(ctx, id) {
		if err != nil || f.ID == ref {
			break
		}
		switch b := f.Body.(type) {
		case event.Replied:
			if b.Gate == r.Gate && b.Revision == r.Revision {
				return control.Usagef("not done: this was answered before, with %s, which counts as soon as somebody goes on with it: conclave resume %s", b.Choice, id)
			}
		case event.Amended:
			if "launch/"+b.Want == r.Gate && b.Revision == r.Revision {
				return control.Usagef("not done: what was asked was changed meanwhile; take it up, and it is asked again: conclave resume %s", id)
			}
		}
	}
	return nil
}

// mostSaid bounds what people say in one event, long texts aside, which are kept
// beside it.
const mostSaid = 256 << 10

// steering is what is said to a run, with a text that fits its log.
func (a *App) steering(ctx context.Context, log eventlog.Log, id event.FlowID, f event.Fact) (event.Fact, error) {
	if s, ok, err := session(ctx, log, id); err != nil || ok {
		if err == nil && !hears(s.Kind, f.Body) {
			err = control.Usagef("%s is a session; this is said to a run of its", id)
		}
		return f, err
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

// Text implements [control.Control].
func (a *App) Text(ctx context.Context, c event.Content) (string, error) {
	if c.Blob == "" || c.Text != "" {
		return c.Text, nil
	}
	log, err := a.existing(ctx)
	if err != nil {
		return "", err
	}
	p, err := log.Blob(ctx, c.Blob)
	if err != nil {
		return "", fmt.Errorf("read a text: %w", err)
	}
	return string(p), nil
}
