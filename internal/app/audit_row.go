package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

const (
	detailText = 64 << 10 // bytes of a text, unless more is asked for
	detailMost = 1 << 20  // that can be asked for
	detailAll  = 4 << 20  // of all texts of one event
)

// AuditRow implements [control.Jobs].
func (a *App) AuditRow(ctx context.Context, id event.FlowID, seq uint64, limit int) (control.AuditDetail, error) {
	log, last, err := a.audited(ctx, id)
	if err != nil {
		return control.AuditDetail{}, err
	}
	e, err := eventAt(ctx, log, id, min(seq, last+1))
	if err != nil {
		return control.AuditDetail{}, err
	}
	out := control.AuditDetail{AuditRow: view.AuditRowOf(e), ID: e.ID}
	if limit <= 0 {
		limit = detailText
	}
	b := &bounds{each: min(limit, detailMost), left: detailAll}
	full, err := event.Fill(e, func(c event.Content) (string, error) { return a.bounded(ctx, c, b), nil })
	if err != nil {
		return control.AuditDetail{}, err
	}
	raw, err := event.EncodeBody(full.Body)
	if err != nil {
		return control.AuditDetail{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var body any
	if dec.Decode(&body) != nil { // a kind from elsewhere
		body = string(raw)
	}
	b.left = detailAll // it was counted once, of what was read
	out.Body, out.Cut = b.walk(body), b.cut
	return out, nil
}

// bounds are how long texts may be that somebody is given.
type bounds struct {
	each, left int
	cut        bool
}

// take is as much of a text as there is room for.
func (b *bounds) take(s string) string {
	n := min(len(s), b.each, max(b.left, 0))
	if n < len(s) {
		b.cut = true
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	b.left -= n
	return s
}

// walk bounds every text of a JSON value.
func (b *bounds) walk(v any) any {
	switch v := v.(type) {
	case string:
		return b.take(v)
	case []any:
		for i := range v {
			v[i] = b.walk(v[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) { // the same ones every time, where there is no room for all
			v[k] = b.walk(v[k])
		}
	}
	return v
}

// bounded is a text as far as there is room for it. One that cannot be read is said
// to be so: the rest of what it belongs to is worth seeing.
func (a *App) bounded(ctx context.Context, c event.Content, b *bounds) string {
	if b.left <= 0 && !c.Empty() {
		b.cut = true
		return ""
	}
	text, err := a.Text(ctx, c)
	if err != nil {
		return fmt.Sprintf("(this text cannot be read: %v)", err)
	}
	return b.take(strings.ToValidUTF8(text, "\uFFFD"))
}
