package app

import (
	"context"
	"os/exec"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/config"
)

// agentPrograms looks for agents that are programs: those that are configured, and
// those that the PATH has.
func (x *checkup) agentPrograms(ctx context.Context) {
	looked := map[string]bool{}
	for _, c := range x.agents {
		if c.CLI.Provider == "" {
			continue
		}
		if s := seatOf(c); inImage(s) {
			x.ok(c.CLI.Provider, "agent %s: runs in a container, whose image has to hold it", c.ID)
		} else {
			looked[c.CLI.Provider] = looked[c.CLI.Provider] || len(c.CLI.Command) == 0
			x.configured(ctx, c)
		}
	}
	for _, kind := range config.Programs() {
		if kind.Command == "" || looked[kind.Type] {
			continue
		}
		if _, err := exec.LookPath(kind.Command); err != nil {
			x.ok(kind.Command, "not installed, and nothing here needs it")
		} else if v, err := versionOf(ctx, kind.Command); err != nil {
			x.warn(kind.Command, "see whether "+kind.Command+" --version works in a terminal", "is installed and does not say its version: %v", err)
		} else {
			x.ok(kind.Command, "%s, %s", v, standingOf(kind.Type))
		}
	}
}

// configured looks at the program of one agent.
func (x *checkup) configured(ctx context.Context, c config.Agent) {
	area := c.CLI.Provider
	at, err := locate(c.CLI, false)
	if err != nil {
		x.problem(area, "install it, or name it in command", "agent %s: %v", c.ID, err)
		return
	}
	key, err := findKey(backend.Model{Provider: area, Key: c.CLI.Key})
	switch {
	case err != nil:
		x.problem(area, "set "+orList(c.CLI.Key), "agent %s: %v", c.ID, err)
		return
	case key == "" && c.CLI.BaseURL == "" && len(logins(area)) > 0 && !loggedIn(area):
		x.problem(area, "log it in, or set "+orList(c.CLI.Key), "agent %s: %s has neither a key nor a login", c.ID, at.files[0])
		return
	}
	if slices.Equal(c.CLI.Command, nil) { // what else a program is asked with is not known
		v, err := versionOf(ctx, at.files[0])
		if err != nil {
			x.warn(area, "see whether "+at.files[0]+" --version works in a terminal", "agent %s: it does not say its version: %v", c.ID, err)
			return
		}
		x.ok(area, "agent %s: %s, %s", c.ID, v, at.files[0])
		return
	}
	x.ok(area, "agent %s: %s", c.ID, at.files[0])
}

// standingOf is whether a program could be used as it is.
func standingOf(provider string) string {
	kind, _ := config.FindProgram(provider)
	if loggedIn(provider) {
		return "logged in"
	}
	if key, err := findKey(backend.Model{Provider: provider, Key: backend.Key{Env: kind.Keys, Optional: true}}); err == nil && key != "" {
		return "with a key"
	}
	return "neither logged in nor with a key"
}
