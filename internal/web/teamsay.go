package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func (s *Server) toTeam(r *http.Request, what string, into any) (saying, error) {
	y, err := s.to(r, view.KindTeam, what, into)
	y.check = y.going
	return y, err
}

// tellTeam writes to the leader of a team, or to members. What becomes of it is
// told by the fates of the message.
func (s *Server) tellTeam(r *http.Request) (any, error) {
	var in struct {
		keyed
		Text string          `json:"text"`
		To   []event.AgentID `json:"to"`
	}
	y, err := s.toTeam(r, "messaged", &in)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Text) == "":
		return nil, bad("A message says something.")
	}
	now := y.now.Team
	y.check = func() error {
		if err := y.going(); err != nil {
			return err
		}
		for _, to := range in.To {
			if i := indexMember(now, to); i < 0 {
				return missing("There is no %q in this team.", clip(string(to), 60))
			} else if now.Members[i].State == "lost" {
				return refused("lost", string(to)+" is "+now.Members[i].Gone()+".")
			}
		}
		return nil
	}
	y.key, y.body = in.Key, event.Messaged{Text: event.Inline(in.Text), To: in.To, By: by}
	return s.say(r.Context(), y)
}

func indexMember(t *view.Team, a event.AgentID) int {
	return slices.IndexFunc(t.Members, func(m view.TeamMember) bool { return m.Agent == a })
}

// takeBack takes a message back from those who have not been told it.
func (s *Server) takeBack(r *http.Request) (any, error) {
	var in struct {
		keyed
		Message string `json:"message"`
	}
	y, err := s.toTeam(r, "withdrawn", &in)
	switch {
	case err != nil:
		return nil, err
	case in.Message == "":
		return nil, bad("message names what is taken back.")
	}
	y.key, y.body = in.Key, event.Withdrawn{Message: in.Message, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) stopMember(r *http.Request) (any, error) {
	var in keyed
	y, err := s.toTeam(r, "stop", &in)
	if err != nil {
		return nil, err
	}
	who := event.AgentID(r.PathValue("member"))
	i := indexMember(y.now.Team, who)
	switch {
	case i < 0:
		return nil, missing("There is no %q in this team.", clip(string(who), 60))
	case y.now.Team.Members[i].Leader:
		return nil, refused("leader", "Without its leader the team cannot go on: stop the team instead.")
	}
	y.key, y.body = in.Key, event.StopRequested{Target: who, By: by}
	return s.say(r.Context(), y)
}

func (s *Server) wrapUp(r *http.Request) (any, error) {
	var in keyed
	y, err := s.toTeam(r, "wrap_up", &in)
	if err != nil {
		return nil, err
	}
	y.key, y.body = in.Key, event.WrapUpRequested{By: by}
	return s.say(r.Context(), y)
}

func (s *Server) cancelTeam(r *http.Request) (any, error) { return s.cancel(r, view.KindTeam) }
func (s *Server) renameTeam(r *http.Request) (any, error) { return s.rename(r, view.KindTeam) }

// teamKinds are the descriptions of teams that are found here.
func (s *Server) teamKinds(r *http.Request) (any, error) {
	kinds, err := s.Control.TeamKinds(r.Context())
	if err != nil {
		return nil, err
	}
	out := []control.TeamKind{}
	for _, k := range kinds {
		if k.Roles == nil {
			k.Roles = []string{}
		}
		out = append(out, k)
	}
	return map[string]any{"kinds": out}, nil
}

// newTeam begins a team. It starts at once.
func (s *Server) newTeam(r *http.Request) (any, error) {
	var in struct {
		keyed
		Team    string   `json:"team"`
		Task    string   `json:"task"`
		Title   string   `json:"title"`
		Source  string   `json:"source"`
		MaxCost *float64 `json:"max_cost"`
		Time    string   `json:"time"`
		Turn    string   `json:"turn"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	q := control.TeamRequest{Team: in.Team, Task: in.Task, Title: in.Title, Source: in.Source, Config: s.Config, Asks: true, By: by}
	switch {
	case strings.TrimSpace(in.Team) == "":
		return nil, bad("team names a description: /api/teams/kinds lists them.")
	case strings.TrimSpace(in.Task) == "":
		return nil, bad("A team needs a task.")
	case in.MaxCost != nil && (*in.MaxCost <= 0 || *in.MaxCost > 1e9):
		return nil, bad("max_cost is an amount in dollars.")
	case in.MaxCost != nil:
		m := event.Money(*in.MaxCost * float64(event.Dollar))
		q.MaxCost = &m
	}
	var err error
	if q.Time, err = lasting("time", in.Time); err != nil {
		return nil, err
	}
	if q.Turn, err = lasting("turn", in.Turn); err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(r.Context()) // begun whole, even if the browser goes meanwhile
	return s.begun.once(r.Context(), "team", in.Key, func() (any, error) {
		id, err := s.Control.NewTeam(ctx, q)
		if err != nil {
			return nil, err
		}
		if err := s.Control.Wake(ctx, id); err != nil {
			s.Log("wake " + string(id) + ": " + err.Error())
		}
		s.feed.poke()
		return withStatus{http.StatusCreated, map[string]any{"id": id}}, nil
	})
}

// lasting reads how long something may take; empty is as it is described.
func lasting(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, bad("%s says how long, like 30m or 2h, and is %q.", name, clip(text, 40))
	}
	return d, nil
}
