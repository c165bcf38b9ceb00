package app

import (
	"encoding/json"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/script"
	"conclave/internal/backend/script/demo"
	"conclave/internal/event"
)

// A backendKind is a kind of agent. A seat's Options are its own.
type backendKind struct {
	name    string
	offline bool // calls no model
	open    func(event.Seat) (backend.Backend, error)
}

// backends is every kind there is.
var backends = []backendKind{
	{"demo", true, openDemo},
	{"script", true, openScript},
}

func openBackend(s event.Seat) (backend.Backend, bool, error) {
	for _, b := range backends {
		if b.name == s.Backend {
			be, err := b.open(s)
			if err != nil {
				return nil, false, fmt.Errorf("agent %s: %w", s.Agent, err)
			}
			return be, b.offline, nil
		}
	}
	return nil, false, fmt.Errorf("agent %s: there is no backend %q in this version", s.Agent, s.Backend)
}

// scripted is the Options of the scripted backends.
type scripted struct {
	Script  string   `json:"script,omitempty"` // a file
	Persona string   `json:"persona,omitempty"`
	Pace    *float64 `json:"pace,omitempty"`
}

func (s scripted) options() json.RawMessage {
	p, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and a number always marshal
	}
	return p
}

func openDemo(s event.Seat) (backend.Backend, error) {
	var o scripted
	if err := json.Unmarshal(s.Options, &o); err != nil {
		return nil, fmt.Errorf("demo options: %w", err)
	}
	var names []string
	for _, a := range demo.Agents() {
		if a.ID == o.Persona {
			return script.New(a.Script, script.Options{Pace: o.Pace}), nil
		}
		names = append(names, a.ID)
	}
	return nil, fmt.Errorf("there is no persona %q; there are: %s", o.Persona, strings.Join(names, ", "))
}

func openScript(s event.Seat) (backend.Backend, error) {
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
