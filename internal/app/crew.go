package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/redact"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/docker"
	"conclave/internal/workspace"
)

// crew are the agents of a run, and what ends with them.
type crew struct {
	*agent.Crew
	kits []*kit.Kit
}

// Close ends whatever the agents kept from turn to turn: those that are programs
// first, so that they end by themselves.
func (c *crew) Close() error {
	var all []backend.Backend
	for _, one := range c.Agents {
		all = append(all, one.Backend)
	}
	errs := []error{dismiss(all...)}
	for _, k := range c.kits {
		errs = append(errs, k.Close())
	}
	return errors.Join(errs...)
}

// dismiss ends what backends keep going between turns, all at once.
func dismiss(all ...backend.Backend) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, b := range all {
		if c, ok := b.(backend.Closer); ok {
			wg.Go(func() { errs[i] = c.Close() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// newCrew opens the backend of every seat and its equipment.
func (a *App) newCrew(id event.FlowID, spec event.RunSpec, blobs agent.Blobs) (*crew, error) {
	c := &crew{Crew: &agent.Crew{Flow: id, Spec: spec, Blobs: blobs, Agents: map[event.AgentID]*agent.Agent{}, Redact: redact.New(secrets(spec.Seats)...)}}
	shop, err := a.workshop(id, spec)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, s := range spec.Seats {
		b, _, err := a.openBackend(s)
		errs = append(errs, err)
		one := &agent.Agent{Seat: s, Backend: b}
		if shop != nil {
			k, err := shop.Kit(s)
			errs = append(errs, err)
			if k != nil {
				one.Kit, one.Compact, one.Parallel = k, k.Gear().Compact, k.Gear().Parallel
				c.kits = append(c.kits, k)
			}
		}
		c.Agents[s.Agent] = one
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &control.Usage{Err: err}
	}
	return c, nil
}

// workshop equips the agents of a run; nil for a run whose agents only speak.
func (a *App) workshop(id event.FlowID, spec event.RunSpec) (*kit.Workshop, error) {
	if spec.Dir == "" {
		return nil, nil
	}
	run, err := workspace.Open(spec.Dir)
	if err != nil {
		return nil, fmt.Errorf("make the run's workspaces ready: %w", err)
	}
	given, err := kit.OpenGiven(a.givenFile())
	if err != nil {
		return nil, &control.Usage{Err: err}
	}
	return &kit.Workshop{
		Flow: id, Spec: spec, Run: run, State: a.state(), Env: os.LookupEnv, Sources: tools, Given: given,
		Engine: a.engine, Program: a.needs,
	}, nil
}

// engine is the sandbox that commands of an agent run in.
func (a *App) engine(ctx context.Context, s gear.Shell) (sandbox.Engine, error) {
	e, _, err := sandbox.Pick(ctx, a.sandboxes(), s.Sandbox)
	if err != nil {
		return nil, &backend.Error{Kind: backend.Invalid, Message: "commands cannot be run", Err: err}
	}
	if d, ok := e.(*docker.Engine); ok {
		return d.With(s.Network), nil
	}
	return e, nil
}

// secrets are the values nobody else is to see: those of the environment that are
// known to be, and the keys that the seats of a run use, wherever they come from.
func secrets(seats []event.Seat) []string {
	var out []string
	named := func(names ...string) {
		for _, name := range names {
			if v, ok := os.LookupEnv(name); ok {
				out = append(out, v)
			}
		}
	}
	for _, p := range config.Providers() {
		named(p.Keys...)
	}
	for _, p := range config.Programs() {
		named(p.Keys...)
	}
	named("GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "NPM_TOKEN", "HF_TOKEN")
	for _, s := range seats {
		var m backend.Model
		if json.Unmarshal(s.Options, &m) == nil && m.Provider != "" {
			if key, err := findKey(m); err == nil {
				out = append(out, key)
			}
		}
		var g gear.Gear
		if len(s.Gear) == 0 || json.Unmarshal(s.Gear, &g) != nil {
			continue
		}
		if g.Search != nil {
			named(g.Search.Key)
		}
		for _, v := range g.Servers {
			for _, value := range v.Headers {
				named(references(value)...)
			}
			for _, value := range v.Env {
				named(slices.DeleteFunc(references(value), ordinary)...)
			}
		}
	}
	return out
}

// references are the variables a value refers to.
func references(value string) []string {
	var out []string
	for _, part := range strings.Split(value, "${")[1:] {
		if name, _, ok := strings.Cut(part, "}"); ok {
			out = append(out, name)
		}
	}
	return out
}

// ordinary reports whether a variable is none for a secret, by its name: a server
// is given HOME as well.
func ordinary(name string) bool {
	return !slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"}, func(s string) bool {
		return strings.Contains(strings.ToUpper(name), s)
	})
}
