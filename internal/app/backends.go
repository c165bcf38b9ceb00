package app

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/acp"
	"conclave/internal/backend/anthropic"
	"conclave/internal/backend/chat"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/codex"
	"conclave/internal/backend/gemini"
	"conclave/internal/backend/openai"
	"conclave/internal/backend/script"
	"conclave/internal/backend/script/demo"
	"conclave/internal/backend/wire"
	"conclave/internal/config"
	"conclave/internal/event"
)

// A backendKind is a kind of agent. A seat's Options are its own.
type backendKind struct {
	name    string
	offline bool // calls no model
	open    func(*App, event.Seat) (backend.Backend, error)
}

// backends is every kind there is.
func backends() []backendKind {
	kinds := []backendKind{
		{"demo", true, openDemo},
		{"script", true, openScript},
		{"claude", false, api(anthropic.New)},
		{"openai", false, api(openai.New)},
		{"grok", false, api(openai.New)},
		{"gemini", false, api(gemini.New)},
		{"claude_code", false, program(claudecode.New)},
		{"codex", false, program(codex.New)},
		{"acp", false, program(acp.New)},
	}
	for _, p := range chat.Presets() {
		kinds = append(kinds, backendKind{p.Name, false, api(chat.New)})
	}
	return kinds
}

func (a *App) openBackend(s event.Seat) (backend.Backend, bool, error) {
	for _, b := range backends() {
		if b.name == s.Backend {
			be, err := b.open(a, s)
			if err != nil {
				return nil, false, fmt.Errorf("agent %s: %w", s.Agent, err)
			}
			return be, b.offline, nil
		}
	}
	return nil, false, fmt.Errorf("agent %s: there is no backend %q in this version", s.Agent, s.Backend)
}

// api opens a model behind an API. Its options are a [backend.Model]; the key is
// looked up here and nowhere else.
func api(open func(backend.Model, string, *wire.Pools) backend.Backend) func(*App, event.Seat) (backend.Backend, error) {
	return func(a *App, s event.Seat) (backend.Backend, error) {
		var m backend.Model
		if err := json.Unmarshal(s.Options, &m); err != nil {
			return nil, fmt.Errorf("options: %w", err)
		}
		key, err := findKey(m)
		if err != nil {
			return nil, err
		}
		return open(m, key, &a.pools), nil
	}
}

// findKey is the key of a model: of the environment, or written out in a
// configuration.
func findKey(m backend.Model) (string, error) {
	for _, name := range m.Key.Env {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			return v, nil
		}
	}
	if m.Key.File != "" {
		return config.Secret(m.Key.File, event.AgentID(m.Key.Agent))
	}
	if m.Key.Optional || len(m.Key.Env) == 0 {
		return "", nil
	}
	return "", fmt.Errorf("%s needs a key; set %s in the environment", m.Provider, strings.Join(m.Key.Env, " or "))
}

// options are the JSON of a seat.
func options(v any) json.RawMessage {
	p, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values always marshal
	}
	return p
}

// scripted is the Options of the scripted backends.
type scripted struct {
	Script  string   `json:"script,omitempty"` // a file
	Persona string   `json:"persona,omitempty"`
	Pace    *float64 `json:"pace,omitempty"`
}

func openDemo(_ *App, s event.Seat) (backend.Backend, error) {
	var o scripted
	if err := json.Unmarshal(s.Options, &o); err != nil {
		return nil, fmt.Errorf("demo options: %w", err)
	}
	if a, ok := demo.Named(o.Persona); ok {
		return script.New(a.Script, script.Options{Pace: o.Pace}), nil
	}
	return nil, fmt.Errorf("there is no persona %q; there are: %s", o.Persona, strings.Join(demo.Names(), ", "))
}

func openScript(_ *App, s event.Seat) (backend.Backend, error) {
	var o scripted
	if err := json.Unmarshal(s.Options, &o); err != nil {
		return nil, fmt.Errorf("script options: %w", err)
	}
	sc, err := script.Load(o.Script)
	if err != nil {
		return nil, err
	}
	return script.New(sc, script.Options{Pace: o.Pace}), nil
}
