package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A sessionPage is a conversation as far as a page shows it.
type sessionPage struct {
	ID       event.FlowID       `json:"id"`
	Seq      uint64             `json:"seq"`
	Kind     string             `json:"kind"`
	Title    string             `json:"title"`
	State    view.SessionState  `json:"state"`
	Asks     bool               `json:"asks,omitempty"`
	Started  time.Time          `json:"started,omitzero"`
	Last     time.Time          `json:"last,omitzero"`
	Turns    []turn             `json:"turns"`
	Total    int                `json:"total"`
	Before   int                `json:"before,omitempty"`
	Gates    []gate             `json:"gates"`
	Held     []waiting          `json:"held,omitempty"`
	Heard    []waiting          `json:"heard,omitempty"`
	Pins     []string           `json:"pins,omitempty"`
	Wants    []view.SessionWant `json:"wants,omitempty"`
	Going    []event.FlowID     `json:"going,omitempty"`
	Running  event.FlowID       `json:"running,omitempty"`
	Modes    event.Modes        `json:"modes,omitzero"`
	Refusals []view.Refusal     `json:"refusals,omitempty"`
	Usage    event.Usage        `json:"usage,omitzero"`
	Cost     cost               `json:"cost"`
	Project  string             `json:"project,omitempty"`
	Agent    event.AgentID      `json:"agent,omitempty"`
	Model    string             `json:"model,omitempty"`
	Archived bool               `json:"archived,omitempty"`
	Driver   *control.Driver    `json:"driver,omitempty"`
	Stopped  bool               `json:"stopped,omitempty"`
	Job      event.FlowID       `json:"job,omitempty"`
	Outline  *outlined          `json:"outline,omitempty"`
}

// waiting is something said that nobody has taken up yet.
type waiting struct {
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Text string    `json:"text,omitempty"`
	By   string    `json:"by,omitempty"`
}

// outlined is a job that is not there yet.
type outlined struct {
	Title        string `json:"title,omitempty"`
	Description  string `json:"description,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	By           string `json:"by,omitempty"`
}

// session is a conversation, its newest turns last.
func (s *Server) session(r *http.Request) (any, error) {
	now, err := s.open(r, view.KindSession)
	if err != nil {
		return nil, err
	}
	before, err := number(r, "before", 1<<30, 0, 1<<30)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", 30, 1, 200)
	if err != nil {
		return nil, err
	}
	ctx, v := r.Context(), now.Session
	out := sessionPage{
		ID: v.ID, Seq: now.Seq, Kind: v.Kind, State: v.State(), Asks: v.Asks, Started: v.Started, Last: v.Last,
		Turns: []turn{}, Total: v.Turns.Len(), Gates: s.gates(ctx, v.ID, v.Gates), Running: v.Running, Modes: v.Modes,
		Refusals: v.Refusals, Usage: v.Usage, Driver: s.driver(ctx, v.ID), Heard: s.heard(ctx, v.Heard),
	}
	out.Stopped = out.Driver == nil && out.State != view.SessionIdle && len(v.Gates) == 0
	out.Title = view.Shorten(s.text(ctx, v.Title()), 120)
	end := min(before, v.Turns.Len())
	out.Before = max(end-limit, 0)
	var cards dealer
	if v.Kind == event.SessionCompanion {
		if err := s.about(ctx, now, &out); err != nil {
			return nil, err
		}
		cards = s.dealer(ctx, out.Job)
	}
	for i := out.Before; i < end; i++ {
		out.Turns = append(out.Turns, s.turn(ctx, now, i, cards))
	}
	unpriced := 0
	if t := v.Talk; t != nil {
		s.talk(ctx, t, &out)
		unpriced = t.Unpriced
	}
	out.Gates = append(out.Gates, s.gatesBelow(ctx, append([]event.FlowID{v.Running}, out.Going...)...)...)
	out.Cost = costOf(out.Usage, 0, unpriced)
	return out, nil
}

// talk adds what a conversation with an agent has besides.
func (s *Server) talk(ctx context.Context, t *view.Talk, out *sessionPage) {
	out.Usage = out.Usage.Add(t.Usage)
	out.Pins, out.Going, out.Project, out.Archived = t.Pins, t.Going, t.Project, t.Archived
	out.Agent, out.Model = t.Staffed.Seat.Agent, t.Staffed.Seat.Model
	for _, w := range t.Wants {
		w.Launch.Task = event.Inline(s.text(ctx, w.Launch.Task))
		out.Wants = append(out.Wants, w)
	}
	for _, h := range t.Held {
		out.Held = append(out.Held, waiting{h.ID, h.At, s.text(ctx, h.Text), h.By})
	}
}

func (s *Server) heard(ctx context.Context, all []view.Heard) []waiting {
	var out []waiting
	for _, h := range all {
		w := waiting{ID: h.ID, At: h.At}
		if h.Said != nil {
			w.Text, w.By = s.text(ctx, h.Said.Text), h.Said.By
		}
		out = append(out, w)
	}
	return out
}

// about adds what a companion's session is about.
func (s *Server) about(ctx context.Context, now view.Snapshot, out *sessionPage) error {
	y, err := s.story(ctx, now)
	if err != nil {
		return err
	}
	out.Job = y.job
	for _, b := range y.outlined {
		if out.Outline == nil {
			out.Outline = &outlined{}
		}
		out.Outline.merge(b.Title, s.text(ctx, b.Description), s.text(ctx, b.Instructions), b.By)
	}
	return nil
}

// merge takes in what was said; what was left out stays.
func (o *outlined) merge(title, description, instructions, by string) {
	for _, f := range []struct {
		to   *string
		said string
	}{{&o.Title, title}, {&o.Description, description}, {&o.Instructions, instructions}} {
		if f.said != "" {
			*f.to = f.said
		}
	}
	o.By = by
}

// newSession begins a conversation, and says the first thing in it.
func (s *Server) newSession(r *http.Request) (any, error) {
	var in struct {
		keyed
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	kinds := map[string]string{"interactive": event.SessionInteractive, "coordinate": event.SessionCoordinate}
	if in.Kind != "outline" && kinds[in.Kind] == "" {
		return nil, bad("kind is outline, interactive or coordinate.")
	}
	ctx := context.WithoutCancel(r.Context()) // begun whole, even if the browser goes meanwhile
	return s.begun.once(r.Context(), "session", in.Key, func() (any, error) {
		var id event.FlowID
		var err error
		if in.Kind == "outline" {
			id, err = s.Control.Outline(ctx, s.Config)
		} else {
			id, err = s.Control.Begin(ctx, event.SessionStarted{Kind: kinds[in.Kind], Config: s.Config, Asks: true, By: by})
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(in.Text) != "" {
			f := event.Fact{ID: "web/said/first", Body: event.Said{Text: event.Inline(in.Text), By: by}}
			if err := s.Control.Send(ctx, id, f); err != nil {
				return nil, err
			}
			if err := s.Control.Wake(ctx, id); err != nil {
				s.Log("wake " + string(id) + ": " + err.Error())
			}
		}
		s.feed.poke()
		return withStatus{http.StatusCreated, map[string]any{"id": id}}, nil
	})
}

func (s *Server) toSession(r *http.Request, what string, into any) (saying, error) {
	return s.to(r, view.KindSession, what, into)
}

func (s *Server) sayInSession(r *http.Request) (any, error) {
	var in struct {
		keyed
		Text  string       `json:"text"`
		Paths []string     `json:"paths"`
		Modes *event.Modes `json:"modes"`
	}
	y, err := s.toSession(r, "said", &in)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Text) == "":
		return nil, bad("A message says something.")
	}
	said := event.Said{Text: event.Inline(in.Text), Modes: y.now.Session.Modes, By: by}
	if in.Modes != nil {
		said.Modes = *in.Modes
	}
	for _, p := range in.Paths {
		said.Paths = append(said.Paths, event.ContextPath{Path: p})
	}
	y.key, y.body = in.Key, said
	return s.say(r.Context(), y)
}

func (s *Server) cancelSession(r *http.Request) (any, error) { return s.cancel(r, view.KindSession) }
func (s *Server) renameSession(r *http.Request) (any, error) { return s.rename(r, view.KindSession) }

func (s *Server) withdraw(r *http.Request) (any, error) {
	var in struct {
		keyed
		Message string `json:"message"`
	}
	y, err := s.toSession(r, "withdrawn", &in)
	switch {
	case err != nil:
		return nil, err
	case in.Message == "":
		return nil, bad("message names what is taken back.")
	}
	y.key, y.body = in.Key, event.Withdrawn{Message: in.Message, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) pin(r *http.Request) (any, error) {
	var in struct {
		keyed
		Message string `json:"message"`
		On      bool   `json:"on"`
	}
	y, err := s.toSession(r, "pinned", &in)
	switch {
	case err != nil:
		return nil, err
	case in.Message == "":
		return nil, bad("message names what is pinned.")
	}
	y.key, y.body = in.Key, event.Pinned{Message: in.Message, On: in.On, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) archive(r *http.Request) (any, error) {
	var in struct {
		keyed
		On bool `json:"on"`
	}
	y, err := s.toSession(r, "archived", &in)
	if err != nil {
		return nil, err
	}
	y.key, y.body = in.Key, event.Archived{On: in.On, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) outline(r *http.Request) (any, error) {
	var in struct {
		keyed
		Title        string `json:"title"`
		Description  string `json:"description"`
		Instructions string `json:"instructions"`
	}
	y, err := s.toSession(r, "outlined", &in)
	if err != nil {
		return nil, err
	}
	y.key = in.Key
	y.body = event.Outlined{Title: in.Title, Description: event.Inline(in.Description), Instructions: event.Inline(in.Instructions), By: by}
	return s.say(r.Context(), y)
}
