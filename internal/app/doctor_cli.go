package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"conclave/internal/backend"
	"conclave/internal/backend/claudecode"
	"conclave/internal/backend/codex"
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
			x.contained(ctx, c)
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
			x.absent(kind)
		} else if v, wrong, do := fitness(ctx, kind.Type, kind.Command); wrong != "" {
			x.warn(kind.Command, do, "%s", wrong)
		} else if standing, ok := standingOf(kind); ok {
			x.ok(kind.Command, "%s, %s", v, standing)
		} else {
			x.warn(kind.Command, "to use it, "+toUse[kind.Type]+", or set "+strings.Join(kind.Keys, " or ")+" in the environment", "%s, %s", v, standing)
		}
	}
}

// absent tells of a program that is not in the PATH and is no agent's of a run here.
func (x *checkup) absent(kind config.Program) {
	wants := func(c config.Agent) bool {
		return c.CLI.Provider == kind.Type && len(c.CLI.Command) == 0 && !inImage(seatOf(c))
	}
	if i := slices.IndexFunc(x.distrusted, wants); i >= 0 {
		x.warn(kind.Command, "install it: npm install -g "+packages[kind.Type], "not installed, and agent %s is one", x.distrusted[i].ID)
		return
	}
	x.ok(kind.Command, "not installed, and nothing here needs it")
}

// toUse is how programs are logged in.
var toUse = map[string]string{
	"claude_code": "run claude in a terminal once and log in", "codex": "run codex login in a terminal once",
}

// versionChecks refuse versions of programs that are too old.
var versionChecks = map[string]func(said string) error{"claude_code": claudecode.CheckVersion, "codex": codex.CheckVersion}

// fitness is the version of a program, or what is wrong with it and what to do then.
func fitness(ctx context.Context, provider, name string) (version, wrong, do string) {
	install := "install it again: npm install -g " + packages[provider] + "@latest"
	v, err := versionOf(ctx, name)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		err = fmt.Errorf("%w: %s", err, first)
	}
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "", name + " is no program of this machine; its installation was perhaps not finished", install
	case err != nil:
		return "", fmt.Sprintf("is installed and does not say its version: %v", err), "see whether " + name + " --version works in a terminal; if not, " + install
	}
	if check := versionChecks[provider]; check != nil {
		if err := check(v); err != nil {
			wrong, _, _ := strings.Cut(err.Error(), "; npm ") // which is told as what to do
			return v, wrong, "npm install -g " + packages[provider] + "@latest"
		}
	}
	return v, "", ""
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
		x.problem(area, toUse[area]+", or set "+orList(c.CLI.Key), "agent %s: %s has neither a key nor a login", c.ID, at.files[0])
		return
	}
	if slices.Equal(c.CLI.Command, nil) { // what else a program is asked with is not known
		v, wrong, do := fitness(ctx, area, at.files[0])
		if wrong != "" {
			x.problem(area, do, "agent %s: %s", c.ID, wrong)
			return
		}
		x.ok(area, "agent %s: %s, %s", c.ID, v, at.files[0])
		return
	}
	x.ok(area, "agent %s: %s", c.ID, at.files[0])
}

// standingOf is whether a program could be used as it is.
func standingOf(kind config.Program) (string, bool) {
	if loggedIn(kind.Type) {
		return "logged in", true
	}
	if key, err := findKey(backend.Model{Provider: kind.Type, Key: backend.Key{Env: kind.Keys, Optional: true}}); err == nil && key != "" {
		return "with a key", true
	}
	return "neither logged in nor with a key", false
}
