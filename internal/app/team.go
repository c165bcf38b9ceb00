package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"conclave/internal/backend/script/demo"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/gear"
)

// team is who works together and by which rules.
type team struct {
	seats    []event.Seat
	settings config.Settings
	mode     event.Mode // unless somebody asks for another
	file     string     // empty if there is none
	found    string     // how the agents were come by, where there is no file
	prompt   string     // the task of the file, where nobody gives another
	warnings []string
	// talks is how people talk to one agent; nil if they do not. greeter is that
	// agent where nobody configured one.
	talks   *config.Interactive
	greeter *event.Seat
	// plans is how jobs are planned, nil if nothing is said of it; planner and
	// companion are the agents of jobs where nobody configured any.
	plans              *config.Planning
	planner, companion *event.Seat
}

// source says where the seats come from.
func (t team) source() string {
	agents, play := fmt.Sprintf("%d agents", len(t.seats)), "play"
	if len(t.seats) == 1 {
		agents, play = "1 agent", "plays"
	}
	if t.file != "" {
		return fmt.Sprintf("%s: %s.", t.file, agents)
	}
	if t.found != "" {
		return fmt.Sprintf("No configuration found: %s from %s. Write one with: conclave init", agents, t.found)
	}
	return fmt.Sprintf("No configuration found: %s %s an offline demo from scripts. No model is called.", agents, play)
}

// team reads the configuration that was named, else the project's own; without
// any it is made of the models that can be reached, else it is the demo.
func (a *App) team(ctx context.Context, file string) (team, error) {
	own := file == ""
	if own {
		file = a.state("config.yaml")
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			file = ""
		}
	}
	base, _ := config.UserFile()
	if file == "" && base == "" {
		return a.unconfigured(ctx), nil
	}
	f, err := config.LoadOver(base, file)
	if err != nil {
		return team{}, &control.Usage{Err: err}
	}
	if own && file != "" {
		if err := a.trusted(file, f); err != nil {
			return team{}, err
		}
	}
	t := team{settings: f.Settings, mode: f.Mode(), file: cmp.Or(file, base), prompt: f.Prompt, talks: f.Interactive, plans: f.Planning}
	if len(f.Agents) == 0 { // the user's settings for whatever there is
		t = a.unconfigured(ctx)
		t.settings, t.mode, t.plans = f.Settings, f.Mode(), f.Planning
		if f.Interactive != nil {
			t.talks = f.Interactive
		}
	}
	for _, w := range f.Warnings {
		t.warnings = append(t.warnings, w.String())
	}
	for _, c := range f.Agents {
		t.seats = append(t.seats, seatOf(c))
		for _, p := range c.ContextPaths {
			if !slices.ContainsFunc(t.settings.ContextPaths, func(o event.ContextPath) bool { return o.Path == p.Path }) {
				t.settings.ContextPaths = append(t.settings.ContextPaths, p)
			}
		}
	}
	return t, nil
}

// unconfigured is the team where nobody named one.
func (a *App) unconfigured(ctx context.Context) team {
	found, ok := a.foundTeam(ctx)
	found.talks = unsaid()
	if ok {
		return found
	}
	t := demoTeam()
	t.warnings, t.talks = found.warnings, found.talks
	return t
}

// seatOf is a configured agent as a run records it.
func seatOf(c config.Agent) event.Seat {
	s := event.Seat{Agent: c.ID, Backend: c.Backend, Model: c.Model, Prompt: c.Prompt, Gear: gearOf(c.Gear)}
	switch {
	case c.CLI.Provider != "":
		s.Options = options(c.CLI)
	case c.API.Provider != "":
		s.Options = options(c.API)
	default:
		s.Options = options(scripted{Script: c.Script, Persona: c.Persona, Pace: c.Pace})
	}
	return s
}

// gearOf is what an agent is equipped with; nothing for one that only speaks.
func gearOf(g gear.Gear) json.RawMessage {
	p := options(g)
	if string(p) == "{}" {
		return nil
	}
	return p
}

// rules are the team's, with what the request asks for over them.
func (t team) rules(q control.Request) (event.Rules, error) {
	m := t.mode
	m.Single = len(t.seats) == 1 && (m.Single || q.Single || len(q.Agents) > 0)
	m.Quick = m.Quick || q.Quick
	if q.Timeout > 0 {
		limit := event.Duration(q.Timeout)
		t.settings.RunLimit = &limit
	}
	if !q.Asks {
		t.settings.Override = nil // nobody could answer
	}
	t.ceilings(q)
	r, err := t.settings.Rules(m)
	if err != nil {
		return r, &control.Usage{Err: err}
	}
	r.Permission.On = q.AskFirst
	return r, nil
}

// idle names the settings that change nothing in a run of this version, or of
// this surface.
func (t team) idle(q control.Request) []string {
	var out []string
	if t.settings.Override != nil && t.settings.Override.On && !q.Asks {
		out = append(out, "override has no effect here: there is nobody to ask; the winner of the vote presents")
	}
	for _, s := range t.seats {
		var g gear.Gear
		if len(s.Gear) > 0 && json.Unmarshal(s.Gear, &g) == nil && g.Shell != nil && g.Shell.Sandbox == "host" && !q.AskFirst {
			out = append(out, fmt.Sprintf("the commands of %s run outside any sandbox and need your permission; without --ask those that no rule allows are refused", s.Agent))
		}
	}
	return out
}

// demoTeam is the built-in demo, for when nothing is configured.
func demoTeam() team {
	// With voting deferred every refinement has read both other answers.
	deferred := true
	t := team{settings: config.Settings{DeferVoting: &deferred}}
	for _, d := range demo.Agents() {
		t.seats = append(t.seats, event.Seat{
			Agent: event.AgentID(d.ID), Backend: "demo", Model: "script:" + d.ID,
			Options: options(scripted{Persona: d.ID}),
		})
	}
	t.greeter, t.planner, t.companion = persona("host"), persona("planner"), persona("companion")
	return t
}

// persona is somebody of the demo, whose script is read when it is first played.
func persona(id string) *event.Seat {
	return &event.Seat{Backend: "demo", Model: "script:" + id, Options: options(scripted{Persona: id})}
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
	if len(q.Agents) > 1 && q.Single {
		return nil, control.Usagef("--single takes one agent, and --agents names %d", len(q.Agents))
	}
	if len(q.Agents) > 1 && t.mode.Single {
		return nil, control.Usagef("%s says agent_mode: single, and --agents names %d; name one, or set agent_mode: multi", t.file, len(q.Agents))
	}
	if q.Single || t.mode.Single && len(q.Agents) == 0 {
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
