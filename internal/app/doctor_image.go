package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

// contained looks into the image that the program of an agent runs in: whether it
// has the program, and what that cannot do without.
func (x *checkup) contained(ctx context.Context, c config.Agent) {
	area, shell := c.CLI.Provider, *c.Gear.Shell
	at, err := locate(c.CLI, true)
	if err != nil {
		x.problem(area, "name it in command", "agent %s: %v", c.ID, err)
		return
	}
	engine, err := x.engine(ctx, shell)
	if err != nil {
		x.warn(area, "see what is said of the sandbox", "agent %s: the image %s cannot be looked into while docker does not work", c.ID, shell.Image)
		return
	}
	x.approach(ctx, c, engine)
	ctx, done := context.WithTimeout(ctx, 3*tellVersion)
	defer done()
	box, err := engine.Open(ctx, sandbox.Spec{
		Flow: "doctor", Owner: string(c.ID), Image: shell.Image, Place: policy.Place{Dir: "/", Mounts: shell.Mounts},
	})
	if err != nil {
		x.problem(area, "mend the image, or name another one in shell.image", "agent %s: %v", c.ID, err)
		return
	}
	defer box.Close()
	name := at.argv[0]
	switch said, err := asks(ctx, box, "command", "-v", name); {
	case err != nil:
		x.problem(area, "mend the image, or name another one in shell.image", "agent %s: %v", c.ID, err)
		return
	case said == "":
		x.problem(area, installIn(area, name), "agent %s: the image %s has no %s", c.ID, shell.Image, name)
		return
	}
	if area == "claude_code" && !has(ctx, box, "bash") && !has(ctx, box, "zsh") {
		x.problem(area, "put bash into the image", "agent %s: the image %s has neither bash nor zsh, and Claude Code runs no command without", c.ID, shell.Image)
	}
	if len(at.argv) > 1 { // what else it is asked with is not known
		x.ok(area, "agent %s: %s in the image %s", c.ID, name, shell.Image)
		return
	}
	v, err := asks(ctx, box, name, "--version")
	if check := versionChecks[area]; err == nil && check != nil {
		err = check(v)
	}
	if err != nil {
		wrong, _, _ := strings.Cut(err.Error(), "; npm ")
		x.problem(area, installIn(area, name), "agent %s: %s in the image %s: %s", c.ID, name, shell.Image, wrong)
		return
	}
	x.ok(area, "agent %s: %s, %s in the image %s", c.ID, v, name, shell.Image)
}

// approach says whether the program will reach its model from a container, or, where
// that is its own affair, the tools that it is given.
func (x *checkup) approach(ctx context.Context, c config.Agent, e sandbox.Engine) {
	area, what := c.CLI.Provider, "its model"
	key, err := findKey(backend.Model{Provider: area, Key: c.CLI.Key})
	switch {
	case err != nil:
		x.problem(area, "set "+orList(c.CLI.Key), "agent %s: %v", c.ID, err)
		return
	case len(logins(area)) == 0: // it is on its own
		what = "the tools that it is given"
	case key == "" && c.CLI.BaseURL == "":
		x.warn(area, "set "+orList(c.CLI.Key), "agent %s: it has no key, and the login on this machine is not shown to a container", c.ID)
		return
	}
	if s, ok := e.(sandbox.Secluded); ok {
		if _, err := s.Doorway(ctx); err != nil {
			x.problem(area, "set shell.network of the agent, or choose another sandbox", "agent %s: it will not reach %s: %v", c.ID, what, err)
		}
	}
}

// installIn is how a program comes into an image.
func installIn(provider, name string) string {
	how := "install " + name
	if p := packages[provider]; p != "" {
		how = "install it (npm install -g " + p + "@latest)"
	}
	return how + " when the image is made, or show it to the container with shell.mounts and command"
}

func has(ctx context.Context, box sandbox.Box, name string) bool {
	at, err := asks(ctx, box, "command", "-v", name)
	return err != nil || at != "" // a failure is told elsewhere
}

// asks has a command run in a box by its shell, and gives the first line it says.
func asks(ctx context.Context, box sandbox.Box, words ...string) (string, error) {
	said := proc.NewCapture(4<<10, 0)
	p, err := box.Start(ctx, sandbox.Command{Argv: append([]string{"sh", "-c", `"$@" 2>&1`, "sh"}, words...), Stdout: said})
	exit := 0
	if err == nil {
		exit, err = p.Wait()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	switch {
	case err != nil:
		return "", err
	case exit != 0 && words[0] != "command": // whose code says that there is none
		return "", fmt.Errorf("%s ended with %d: %s", words[0], exit, cmp.Or(line, "it says nothing"))
	}
	return line, nil
}
