package web

import (
	"net/http"

	"conclave/internal/control"
	"conclave/internal/event"
)

type member struct {
	ID      event.AgentID `json:"id"`
	Backend string        `json:"backend"`
	Model   string        `json:"model"`
	Tools   bool          `json:"tools,omitempty"`
	Servers []string      `json:"servers,omitempty"`
}

type settingsPage struct {
	Version     string       `json:"version"`
	Source      string       `json:"source,omitempty"`
	Dir         string       `json:"dir,omitempty"`
	Agents      []member     `json:"agents"`
	Interactive *interactive `json:"interactive,omitempty"`
	Modes       event.Modes  `json:"modes,omitzero"`
	Offline     bool         `json:"offline,omitempty"`
	Warnings    []string     `json:"warnings"`
	Look        look         `json:"look"`
	Problem     string       `json:"problem,omitempty"`
}

type interactive struct {
	Agent    event.AgentID `json:"agent"`
	Model    string        `json:"model,omitempty"`
	Approve  bool          `json:"approve,omitempty"`
	Disabled bool          `json:"disabled,omitempty"`
	Dir      string        `json:"dir,omitempty"`
}

type look struct {
	Theme    string   `json:"theme,omitempty"`
	File     string   `json:"file,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// settings is the configuration as it is; it is changed in its file.
func (s *Server) settings(r *http.Request) (any, error) {
	out := settingsPage{Version: s.Version, Agents: []member{}, Warnings: []string{}}
	t, err := s.Control.Team(r.Context(), s.Config)
	if err != nil {
		out.Problem = err.Error()
	}
	out.Source, out.Dir, out.Modes, out.Offline = t.Source, t.Dir, t.Modes, t.Offline
	out.Warnings = append(out.Warnings, t.Warnings...)
	for _, m := range t.Agents {
		out.Agents = append(out.Agents, member(m))
	}
	if i := t.Interactive; i != nil {
		out.Interactive = &interactive{i.Agent.ID, i.Agent.Model, i.Approve, i.Disabled, i.Dir}
	}
	l, err := s.Control.Look(r.Context())
	out.Look = look{l.Theme, l.File, l.Warnings}
	if err != nil {
		out.Look.Warnings = append(out.Look.Warnings, err.Error())
	}
	return out, nil
}

// health is how everything stands that a run here needs. No provider is asked.
func (s *Server) health(r *http.Request) (any, error) {
	checks := s.Control.Doctor(r.Context(), control.Checkup{Config: s.Config, Offline: true})
	return map[string]any{"checks": append([]control.Health{}, checks...)}, nil
}
