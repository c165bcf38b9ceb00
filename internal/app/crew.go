package app

import (
	"context"
	"errors"
	"fmt"
	"os"

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

// Close ends whatever the agents kept from turn to turn.
func (c *crew) Close() error {
	var errs []error
	for _, k := range c.kits {
		errs = append(errs, k.Close())
	}
	return errors.Join(errs...)
}

// newCrew opens the backend of every seat and its equipment.
func (a *App) newCrew(id event.FlowID, spec event.RunSpec, blobs agent.Blobs) (*crew, error) {
	c := &crew{Crew: &agent.Crew{Flow: id, Spec: spec, Blobs: blobs, Agents: map[event.AgentID]*agent.Agent{}, Redact: redact.New(secrets()...)}}
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
	given, err := kit.OpenGiven(a.state("permissions.json"))
	if err != nil {
		return nil, &control.Usage{Err: err}
	}
	return &kit.Workshop{
		Flow: id, Spec: spec, Run: run, State: a.state(), Env: os.LookupEnv, Sources: tools, Given: given,
		Engine: a.engine,
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

// secrets are the values in the environment that nobody else is to see.
func secrets() []string {
	var out []string
	for _, p := range config.Providers() {
		for _, name := range p.Keys {
			if v, ok := os.LookupEnv(name); ok {
				out = append(out, v)
			}
		}
	}
	for _, name := range []string{"GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "NPM_TOKEN", "HF_TOKEN"} {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, v)
		}
	}
	return out
}
