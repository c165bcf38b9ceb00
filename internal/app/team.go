package app

import (
	"slices"
	"strings"

	"conclave/internal/backend/script/demo"
	"conclave/internal/control"
	"conclave/internal/event"
)

// team is who works together and by which rules.
type team struct {
	seats    []event.Seat
	paths    []event.ContextPath
	source   string
	warnings []string
}

func (a *App) team(config string) (team, error) { return demoTeam(), nil }

func (t team) rules(q control.Request) (event.Rules, error) {
	r := event.Defaults(event.Mode{Single: q.Single, Quick: q.Quick})
	if q.Timeout > 0 {
		r.RunLimit = event.Duration(q.Timeout)
		r.RunGrace = min(r.RunGrace, r.RunLimit/5)
	}
	return r, nil
}

// demoTeam is the built-in demo, for when nothing is configured.
func demoTeam() team {
	t := team{source: "No configuration found: three scripted agents play an offline demo. No model is called."}
	for _, d := range demo.Agents() {
		t.seats = append(t.seats, event.Seat{
			Agent: event.AgentID(d.ID), Backend: "demo", Model: "script:" + d.ID,
			Options: scripted{Persona: d.ID}.options(),
		})
	}
	return t
}

// choose picks the seats a request names.
func choose(t team, q control.Request) ([]event.Seat, error) {
	seats := t.seats
	if len(q.Agents) > 0 {
		seats = nil
	}
	for _, id := range q.Agents {
		i := slices.IndexFunc(t.seats, func(s event.Seat) bool { return s.Agent == id })
		if i < 0 {
			return nil, control.Usagef("there is no agent %q; there are: %s", id, names(t.seats))
		}
		if slices.ContainsFunc(seats, func(s event.Seat) bool { return s.Agent == id }) {
			return nil, control.Usagef("agent %q is named twice", id)
		}
		seats = append(seats, t.seats[i])
	}
	if q.Single && len(q.Agents) > 1 {
		return nil, control.Usagef("--single takes one agent, and --agents names %d", len(q.Agents))
	}
	if q.Single {
		seats = seats[:1]
	}
	return seats, nil
}

func names(seats []event.Seat) string {
	var out []string
	for _, s := range seats {
		out = append(out, string(s.Agent))
	}
	return strings.Join(out, ", ")
}
