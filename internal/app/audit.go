package app

import (
	"context"
	"errors"
	"fmt"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/view"
)

// The audit is the log itself, a page at a time: nothing is written for it, and no
// call gives all of it at once.
const (
	auditMost    = 200     // rows of a page
	auditLooked  = 2000    // events that are looked at for one
	auditChunk   = 250     // of them at first
	auditBlobs   = 4 << 20 // bytes of long texts that are read for the previews of one
	auditPreview = 1 << 20 // the longest of them
	auditRuns    = 50      // the newest runs that are listed with their flow
)

// Audit implements [control.Jobs].
func (a *App) Audit(ctx context.Context, id event.FlowID, q control.AuditQuery) (control.AuditPage, error) {
	log, last, err := a.audited(ctx, id)
	if err != nil {
		return control.AuditPage{}, err
	}
	if q.Limit <= 0 || q.Limit > auditMost {
		q.Limit = auditMost
	}
	p := &auditPager{a: a, ctx: ctx, log: log, q: q, page: control.AuditPage{Rows: []view.AuditRow{}, Total: last}, blobs: auditBlobs}
	sources := []*auditSource{{id: id, next: last}}
	if q.Runs {
		runs, err := a.runsOf(ctx, id)
		if err != nil {
			return control.AuditPage{}, err
		}
		for _, r := range runs {
			if n, err := lastSeq(ctx, log, r); err == nil && n > 0 {
				sources = append(sources, &auditSource{id: r, next: n})
			}
		}
	}
	if q.Text != "" {
		return p.search(sources)
	}
	return p.list(sources)
}

// audited is the log with a flow in it, and the number of its last event.
func (a *App) audited(ctx context.Context, id event.FlowID) (eventlog.Log, uint64, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return nil, 0, err
	}
	n, err := lastSeq(ctx, log, id)
	if errors.Is(err, eventlog.ErrNotFound) {
		err = &control.NotFound{What: "flow", Typed: string(id)}
	}
	return log, n, err
}

// lastSeq is the number of the last event of a flow. A log that cannot tell it by
// itself is asked for the list of flows.
func lastSeq(ctx context.Context, log eventlog.Log, id event.FlowID) (uint64, error) {
	if x, ok := log.(interface {
		Last(context.Context, event.FlowID) (uint64, error)
	}); ok {
		n, err := x.Last(ctx, id)
		if err == nil && n == 0 {
			err = eventlog.ErrNotFound
		}
		return n, err
	}
	flows, err := log.Flows(ctx)
	if err != nil {
		return 0, err
	}
	for _, f := range flows {
		if f.ID == id {
			return f.Last.Seq, nil
		}
	}
	return 0, eventlog.ErrNotFound
}

// runsOf are the newest runs that a job or a session has launched.
func (a *App) runsOf(ctx context.Context, id event.FlowID) ([]event.FlowID, error) {
	now, err := a.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []event.FlowID
	switch {
	case now.Job != nil:
		for _, p := range now.Job.Phases {
			if p.Run != "" {
				out = append(out, p.Run)
			}
		}
	case now.Session != nil:
		for _, t := range now.Session.Turns.All(0) {
			for _, r := range t.Runs {
				out = append(out, r.ID)
			}
		}
	}
	return out[max(0, len(out)-auditRuns):], nil
}

// An auditSource is a flow that is read from its end.
type auditSource struct {
	id     event.FlowID
	next   uint64        // the newest event that was not read yet
	have   []event.Event // read and not listed, oldest first
	size   uint64        // how many are read next
	placed bool          // next is before the page
}

// An auditPager makes one page.
type auditPager struct {
	a      *App
	ctx    context.Context
	log    eventlog.Log
	q      control.AuditQuery
	page   control.AuditPage
	looked int
	blobs  int64 // bytes that may still be read
}

// list lists the newest events that are asked for. It ends with the page, or when
// enough was looked at for one.
func (p *auditPager) list(sources []*auditSource) (control.AuditPage, error) {
	for {
		e, ok, err := p.pop(sources)
		if err != nil {
			return control.AuditPage{}, fmt.Errorf("read the audit: %w", err)
		}
		at := e.Seq
		if p.q.Runs {
			at = e.Pos
		}
		switch {
		case !ok || at <= p.q.After:
			return p.page, nil
		case len(p.page.Rows) == p.q.Limit || p.looked > auditLooked:
			p.page.Next = at + 1
			return p.page, nil
		}
		p.looked++
		if r := view.AuditRowOf(e); r.In(p.q.Groups) {
			p.page.Rows = append(p.page.Rows, p.previewed(e, r))
		}
	}
}

// pop takes the newest event of all sources.
func (p *auditPager) pop(sources []*auditSource) (event.Event, bool, error) {
	var best *auditSource
	for _, s := range sources {
		if err := p.fill(s, len(sources)); err != nil {
			return event.Event{}, false, err
		}
		if n := len(s.have); n > 0 && (best == nil || s.have[n-1].Pos > best.have[len(best.have)-1].Pos) {
			best = s
		}
	}
	if best == nil {
		return event.Event{}, false, nil
	}
	n := len(best.have) - 1
	e := best.have[n]
	best.have = best.have[:n]
	return e, true, nil
}

// fill reads the next events of a source: few of each where there are many, and
// ever more where little of what is read is listed.
func (p *auditPager) fill(s *auditSource, sources int) error {
	if !s.placed {
		if err := p.place(s); err != nil {
			return err
		}
		s.placed, s.size = true, uint64(max(auditChunk/sources, 10))
	}
	if len(s.have) > 0 || s.next == 0 {
		return nil
	}
	from := s.next - min(s.size, s.next) + 1
	for e, err := range p.log.Read(p.ctx, s.id, from) {
		if err != nil {
			return err
		}
		if e.Seq > s.next {
			break
		}
		s.have = append(s.have, e)
	}
	s.next, s.size = from-1, min(2*s.size, auditLooked)
	return nil
}

// place moves a source to its newest event before the page.
func (p *auditPager) place(s *auditSource) error {
	switch {
	case p.q.Before == 0:
		return nil
	case !p.q.Runs:
		s.next = min(s.next, p.q.Before-1)
		return nil
	}
	lo, hi := uint64(0), s.next+1 // event lo is before, or lo is 0; hi is not
	for lo+1 < hi {
		mid := lo + (hi-lo)/2
		e, err := p.event(s.id, mid)
		if err != nil {
			return err
		}
		if e.Pos < p.q.Before {
			lo = mid
		} else {
			hi = mid
		}
	}
	s.next = lo
	return nil
}

func (p *auditPager) event(id event.FlowID, seq uint64) (event.Event, error) {
	return eventAt(p.ctx, p.log, id, seq)
}

// eventAt is one event of a flow. One that is not there is a *control.NotFound.
func eventAt(ctx context.Context, log eventlog.Log, id event.FlowID, seq uint64) (event.Event, error) {
	if seq > 0 {
		for e, err := range log.Read(ctx, id, seq) {
			if err != nil {
				return event.Event{}, fmt.Errorf("read event %d of %s: %w", seq, id, err)
			}
			return e, nil
		}
	}
	return event.Event{}, &control.NotFound{What: "event", Typed: fmt.Sprintf("%s %d", id, seq)}
}

// previewed is a row with the beginning of its text, where that is long and not
// too much was read for this page already.
func (p *auditPager) previewed(e event.Event, r view.AuditRow) view.AuditRow {
	c := view.AuditContent(e)
	if c.Blob == "" || c.Text != "" || int64(c.Size) > p.blobs || c.Size > auditPreview {
		return r
	}
	p.blobs -= int64(c.Size)
	if text, err := p.a.Text(p.ctx, c); err == nil {
		r.Preview = view.Shorten(text, view.AuditPreviewWidth)
	}
	return r
}
