package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A jobPage is how a job stands, with the texts a page shows.
type jobPage struct {
	Job              *view.Job       `json:"job"`
	Title            string          `json:"title"`
	State            string          `json:"state"`
	Frozen           bool            `json:"frozen"`
	Over             bool            `json:"over"`
	Description      string          `json:"description,omitempty"`
	DescriptionHTML  string          `json:"description_html,omitempty"`
	Instructions     string          `json:"instructions,omitempty"`
	InstructionsHTML string          `json:"instructions_html,omitempty"`
	ReviewHTML       string          `json:"review_html,omitempty"`
	OutcomeHTML      string          `json:"outcome_html,omitempty"`
	Companion        event.FlowID    `json:"companion,omitempty"`
	Driver           *control.Driver `json:"driver,omitempty"`
	Stopped          bool            `json:"stopped,omitempty"`
	Cost             cost            `json:"cost"`
	Gates            []gate          `json:"gates"`
}

func (s *Server) job(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	j := *now.Job
	j.Started = private(j.Started)
	out := jobPage{
		Job: &j, State: jobWords(j.State), Frozen: j.State.Frozen(), Over: j.State.Over(), Companion: j.Started.Companion,
		Description: s.text(ctx, j.Started.Description), Instructions: s.text(ctx, j.Started.Instructions),
		Driver: s.driver(ctx, j.ID), Cost: jobCost(&j),
	}
	if out.Stopped = out.Driver == nil && !out.Frozen && !out.Over && len(j.Gates) == 0; out.Stopped {
		out.State = stoppedWords
	}
	out.Title = cmp.Or(j.Started.Title, view.Shorten(view.Clean(out.Description), 100), string(j.ID))
	out.DescriptionHTML, out.InstructionsHTML = s.render(out.Description).HTML, s.render(out.Instructions).HTML
	out.Gates = append(s.gates(ctx, j.ID, j.Gates), s.gatesBelow(ctx, j.Going)...)
	if j.Review != nil {
		out.ReviewHTML = s.render(s.text(ctx, j.Review.Text)).HTML
	}
	if e := j.Ended; e != nil {
		out.OutcomeHTML = s.render(strings.Join(filled(e.Why, e.Summary, e.Notes), "\n\n")).HTML
	}
	return out, nil
}

// filled are the texts that are not empty.
func filled(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// private takes out of a job's beginning what no page needs: what its agent is
// called with, and how servers are started.
func private(s event.JobStarted) event.JobStarted {
	s.Seat = event.Seat{Agent: s.Seat.Agent, Label: s.Seat.Label, Model: s.Seat.Model, Backend: s.Seat.Backend}
	s.Sources = append([]event.Source(nil), s.Sources...)
	for i := range s.Sources {
		s.Sources[i].Server, s.Sources[i].Secret = nil, ""
	}
	return s
}

func jobCost(j *view.Job) cost {
	c := costOf(j.Usage, j.Calls, j.Unpriced)
	if e := j.Estimate; e != nil {
		c.Left = fmt.Sprintf("about %s more", e.Cost)
		if e.Cost == 0 {
			c.Left = fmt.Sprintf("about %d tokens more", e.Tokens)
		}
		if e.Basis != "" {
			c.Left += ", from " + e.Basis
		}
	}
	return c
}

// companion is the session in which people talk about a job, and its tools.
func (s *Server) companion(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindJob)
	if err != nil {
		return nil, err
	}
	return s.tiers(r.Context(), now.Job.Started.Companion)
}

func (s *Server) abilities(r *http.Request) (any, error) { return s.companion(r) }

type tiers struct {
	Session event.FlowID   `json:"session"`
	Tiers   []control.Tier `json:"tiers"`
}

func (s *Server) tiers(ctx context.Context, session event.FlowID) (any, error) {
	out := tiers{session, []control.Tier{}}
	if session == "" {
		return out, nil
	}
	all, err := s.Control.Abilities(ctx, session)
	if err != nil {
		return nil, err
	}
	out.Tiers = append(out.Tiers, all...)
	return out, nil
}
