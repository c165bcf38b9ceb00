package web

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// ids are what flows can be called.
var ids = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })

// flowID is the flow in a path, in full: what is left out is not guessed here.
func flowID(r *http.Request) (event.FlowID, error) {
	id := r.PathValue("id")
	if !ids().MatchString(id) {
		return "", missing("There is nothing called %q here.", clip(id, 100))
	}
	return event.FlowID(id), nil
}

// open is how the flow in a path stands. One of another kind is not there.
func (s *Server) open(r *http.Request, kind string) (view.Snapshot, error) {
	id, err := flowID(r)
	if err != nil {
		return view.Snapshot{}, err
	}
	now, err := s.Control.Open(r.Context(), id)
	_, none := errors.AsType[*control.NotFound](err)
	if err != nil && !none {
		return view.Snapshot{}, err
	}
	if none || now.Seq == 0 || kind != "" && kind != kindOf(now) {
		if kind == "" {
			kind = "flow"
		}
		return view.Snapshot{}, missing("There is no %s %q here.", kind, id)
	}
	return now, nil
}

func kindOf(s view.Snapshot) string {
	switch {
	case s.Job != nil:
		return view.KindJob
	case s.Session != nil:
		return view.KindSession
	case s.Team != nil:
		return view.KindTeam
	}
	return view.KindRun
}

// driver is who drives a flow, nil if nobody does.
func (s *Server) driver(ctx context.Context, id event.FlowID) *control.Driver {
	d, ok, err := s.Control.Driver(ctx, id)
	if err != nil || !ok {
		return nil
	}
	return &d
}

// text resolves content; one that cannot be had says so.
func (s *Server) text(ctx context.Context, c event.Content) string {
	if c.Empty() && c.Blob == "" {
		return c.Text
	}
	text, err := s.Control.Text(ctx, c)
	if err != nil {
		return "(this text cannot be read: " + err.Error() + ")"
	}
	return text
}

// A gate is an open question as pages show it.
type gate struct {
	Gate     string         `json:"gate"`
	Kind     string         `json:"kind"`
	Title    string         `json:"title,omitempty"`
	Text     string         `json:"text,omitempty"`
	HTML     string         `json:"html,omitempty"`
	Choices  []event.Choice `json:"choices"`
	Revision int            `json:"revision"`
	Default  string         `json:"default,omitempty"`
	Since    time.Time      `json:"since"`
	Closes   time.Time      `json:"closes,omitzero"`
	Held     bool           `json:"held,omitempty"`
	Ref      string         `json:"ref,omitempty"`
	Flow     event.FlowID   `json:"flow"`
}

func (s *Server) gates(ctx context.Context, flow event.FlowID, open []view.Gate) []gate {
	out := []gate{}
	for _, g := range open {
		out = append(out, s.gate(ctx, flow, g))
	}
	return out
}

// gatesBelow are the open questions of runs that go on for a flow: whoever looks at
// it is asked them there. Each says which flow asks.
func (s *Server) gatesBelow(ctx context.Context, runs ...event.FlowID) []gate {
	var out []gate
	for i, id := range runs {
		if id == "" || slices.Contains(runs[:i], id) {
			continue
		}
		if now, err := s.Control.Open(ctx, id); err == nil {
			out = append(out, s.gates(ctx, id, now.Card.Gates)...)
		}
	}
	return out
}

func (s *Server) gate(ctx context.Context, flow event.FlowID, g view.Gate) gate {
	one := gate{
		Gate: g.Gate, Kind: g.Kind, Title: g.Title, Text: s.text(ctx, g.Text), Choices: g.Choices, Revision: g.Revision,
		Default: g.Default, Since: g.Since, Held: g.Held, Ref: g.Ref, Flow: flow,
	}
	if one.Choices == nil {
		one.Choices = []event.Choice{}
	}
	if g.Kind != event.GatePermission { // what is allowed is read to the letter
		one.HTML = s.render(one.Text).HTML
	}
	if at, ok := g.Closes(); ok {
		one.Closes = at
	}
	return one
}

// gatesOf are the open questions of any flow.
func gatesOf(now view.Snapshot) []view.Gate {
	switch {
	case now.Job != nil:
		return now.Job.Gates
	case now.Session != nil:
		return now.Session.Gates
	case now.Team != nil:
		return now.Team.Gates
	}
	return now.Card.Gates
}

// A cost is what something took, with words for it.
type cost struct {
	USD      float64 `json:"usd"`
	Tokens   int64   `json:"tokens"`
	Calls    int     `json:"calls"`
	Unpriced int     `json:"unpriced,omitempty"`
	Text     string  `json:"text"`
	Left     string  `json:"left,omitempty"`
}

func costOf(u event.Usage, calls, unpriced int) cost {
	t := view.Tokens{Calls: calls, CostUSD: float64(u.Cost) / float64(event.Dollar), Unpriced: unpriced}
	return cost{USD: t.CostUSD, Tokens: u.Tokens(), Calls: calls, Unpriced: unpriced, Text: t.Cost()}
}
