package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/index"
	"conclave/internal/view"
)

const (
	auditBatch = 500        // rows that are made findable at a time
	auditText  = 64 << 10   // bytes of one text that are looked at
	auditHits  = 50         // that a search gives
	auditSpace = "audit/1/" // in the index, before the flow's id; the number is of what is findable
)

// search lists what holds the words, newest first. What of the log is not findable
// yet is made so first: nobody waits for that when an event is recorded.
func (p *auditPager) search(sources []*auditSource) (control.AuditPage, error) {
	x, err := p.a.finder.open(p.a)
	if err != nil {
		return control.AuditPage{}, fmt.Errorf("search the audit: %w", err)
	}
	for _, s := range sources {
		if err := findable(p.ctx, p.a, x, p.log, s); err != nil {
			return control.AuditPage{}, fmt.Errorf("search the audit: %w", err)
		}
		hits, err := x.SearchRows(p.ctx, auditSpace+string(s.id), p.q.Text, auditHits)
		if errors.Is(err, index.ErrNoQuery) {
			return p.page, nil
		}
		if err != nil {
			return control.AuditPage{}, fmt.Errorf("search the audit: %w", err)
		}
		for _, h := range hits {
			if err := p.found(s.id, h); err != nil {
				return control.AuditPage{}, fmt.Errorf("search the audit: %w", err)
			}
		}
	}
	slices.SortFunc(p.page.Rows, func(x, y view.AuditRow) int { return cmp.Compare(y.Pos, x.Pos) })
	if len(p.page.Rows) > p.q.Limit {
		p.page.Rows = p.page.Rows[:p.q.Limit]
		last := p.page.Rows[p.q.Limit-1]
		if p.page.Next = last.Seq; p.q.Runs {
			p.page.Next = last.Pos
		}
	}
	return p.page, nil
}

// found adds a row that was found, if it is among those asked for.
func (p *auditPager) found(id event.FlowID, h index.RowHit) error {
	e, err := p.event(id, h.Seq)
	if err != nil {
		return err
	}
	r, at := view.AuditRowOf(e), e.Seq
	if p.q.Runs {
		at = e.Pos
	}
	if !r.In(p.q.Groups) || at <= p.q.After || p.q.Before > 0 && at >= p.q.Before {
		return nil
	}
	if h.Preview != "" {
		r.Preview = view.Shorten(h.Preview, view.AuditPreviewWidth)
	}
	p.page.Rows = append(p.page.Rows, r)
	return nil
}

// findable puts the events of a flow into the index that are not in it.
func findable(ctx context.Context, a *App, x *index.Index, log eventlog.Log, s *auditSource) error {
	space := auditSpace + string(s.id)
	from, err := x.LastRow(ctx, space)
	if err != nil {
		return err
	}
	var rows []index.Row
	put := func() error {
		err := x.PutRows(ctx, space, rows...)
		rows = rows[:0]
		return err
	}
	for e, err := range log.Read(ctx, s.id, from+1) {
		if err != nil {
			return err
		}
		switch {
		case telling(e.Body):
			rows = append(rows, index.Row{Seq: e.Seq, Title: view.AuditRowOf(e).Title, Text: a.auditText(ctx, e)})
		case e.Seq == s.next: // to know how far the index goes
			rows = append(rows, index.Row{Seq: e.Seq})
		}
		if len(rows) == auditBatch {
			if err := put(); err != nil {
				return err
			}
		}
	}
	return put()
}

// telling reports whether an event says anything that somebody looks for.
func telling(b event.Body) bool {
	switch b.(type) {
	case event.Requested, event.Granted, event.Admitted, event.TimerFired, event.Held:
		return false
	}
	return true
}

// auditText is what of an event can be found. What cannot be read is left out.
func (a *App) auditText(ctx context.Context, e event.Event) string {
	texts := []event.Content{view.AuditContent(e)}
	if f, ok := e.Body.(event.Called); ok {
		texts = []event.Content{f.Text, f.Thinking}
		for _, t := range f.Tools {
			texts = append(texts, event.Inline(t.Name+" "+string(t.Input)))
		}
	}
	var out []string
	for _, c := range texts {
		if c.Empty() || c.Size > auditPreview {
			continue
		}
		if text, err := a.Text(ctx, c); err == nil {
			out = append(out, text[:min(len(text), auditText)])
		}
	}
	return strings.Join(out, "\n")
}
