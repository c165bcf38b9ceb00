package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/project"
)

// Limits of a session, where nothing is configured.
const (
	turnCalls    = 100 // model calls in one turn of the agent
	turnAttempts = 3
	hostRuns     = 1 // at once, of the agent of a session
	clientRuns   = 4 // of a program outside
)

// unsaid is interactive mode where nothing is said of it.
func unsaid() *config.Interactive { return &config.Interactive{Enabled: true, Approve: true} }

// staff is who talks in a session and by which rules, as things are configured
// now.
func (a *App) staff(ctx context.Context, s event.SessionStarted) (event.Staffed, error) {
	t, err := a.team(ctx, s.Config)
	if err != nil {
		return event.Staffed{}, err
	}
	in := t.talks
	if in == nil {
		in = unsaid()
	}
	out := event.Staffed{Team: a.mates(t.seats), Dir: a.workspaceDir(in), Rules: event.SessionRules{
		Version: event.SessionRulesVersion, Approve: in.Approve, Disabled: in.Disabled,
		MaxCalls: cmp.Or(in.MaxCalls, turnCalls), MaxAttempts: turnAttempts, MaxRuns: clientRuns,
		Budget: in.Budget, RunBudget: event.Budget{Tokens: t.settings.MaxTokens, Cost: t.settings.MaxCost},
		Permission: event.Override{On: s.Asks},
	}}
	if s.Kind == event.SessionCompanion {
		return a.companionStaff(t, out)
	}
	seats := t.seats
	if s.Kind == event.SessionInteractive {
		if out.Seat, err = a.hostSeat(t, out.Rules.Budget); err != nil {
			return out, err
		}
		out.Rules.MaxRuns = hostRuns
		seats = append([]event.Seat{out.Seat}, seats...)
	}
	if err := a.apart(out.Dir, t.file, seats); err != nil {
		return out, err
	}
	if out.ContextPaths, err = a.inherited(t.settings.ContextPaths); err != nil {
		return out, err
	}
	if err := a.allowed(out.ContextPaths); err != nil {
		return out, err
	}
	a.guard(out.ContextPaths, t.file, seats)
	return out, nil
}

// hostSeat is the agent that people talk to, with files at hand at least: it
// keeps projects.
func (a *App) hostSeat(t team, budget event.Budget) (event.Seat, error) {
	s := t.host()
	var g gear.Gear
	if len(s.Gear) > 0 {
		if err := json.Unmarshal(s.Gear, &g); err != nil {
			return s, fmt.Errorf("agent %s: gear: %w", s.Agent, err)
		}
	}
	g.Files = true
	s.Gear = gearOf(g)
	b, _, err := a.openBackend(s)
	switch {
	case err != nil:
		return s, nil // whoever talks to it is told why it cannot answer
	case budget.Cost != nil && !b.Traits().Price:
		return s, control.Usagef("what %s of %s costs is not known, so interactive_mode.max_cost cannot be kept; give its price in the configuration (backend.price)", cmp.Or(s.Model, "the model"), s.Backend)
	}
	s.Model = cmp.Or(s.Model, b.Traits().Model)
	return s, nil
}

// host is who people talk to: the agent of the configuration, or else one with
// the backend of the first agent. Where nobody configured anything it runs no
// commands.
func (t team) host() event.Seat {
	var s event.Seat
	switch {
	case t.talks != nil && t.talks.Agent.Backend != "":
		s = seatOf(t.talks.Agent)
	case t.greeter != nil:
		s = *t.greeter
	case len(t.seats) > 0:
		s = t.seats[0]
		s.Prompt = "" // which is about its part in a run
	}
	s.Agent, s.Label = config.InteractiveID, ""
	return s
}

// interactive is how people talk to one agent here; nil where they do not.
func (a *App) interactive(t team) *control.Interactive {
	if t.talks == nil || !t.talks.Enabled {
		return nil
	}
	s, err := a.hostSeat(t, event.Budget{})
	if err != nil {
		return nil
	}
	return &control.Interactive{
		Agent:   control.Member{ID: s.Agent, Backend: s.Backend, Model: s.Model, Tools: true, Servers: servers(s)},
		Approve: t.talks.Approve, Disabled: t.talks.Disabled, Dir: a.workspaceDir(t.talks),
	}
}

// workspaceDir is where the projects of sessions are.
func (a *App) workspaceDir(in *config.Interactive) string {
	if in == nil || in.Workspace == "" {
		return a.state("workspace")
	}
	// By its real name, as everything that agents are shown.
	near := present(in.Workspace)
	rest, err := filepath.Rel(near, in.Workspace)
	real, failed := filepath.EvalSymlinks(near)
	if err != nil || failed != nil {
		return in.Workspace
	}
	return filepath.Join(real, rest)
}

// apart refuses a workspace that holds what the program goes by, or lies in that:
// the agent of a session writes there.
func (a *App) apart(dir, file string, seats []event.Seat) error {
	state := []string{a.state(), userState()}
	if own, ok := config.UserDir(); ok {
		state = append(state, own)
	}
	for _, kept := range state {
		if kept = named(kept); holds(kept, dir) && dir != a.workspaceDir(nil) {
			return control.Usagef("interactive_mode.workspace is %s, where agents write, and that lies in %s, which is the program's own; name a folder of its own", dir, kept)
		}
	}
	for _, kept := range append(append(state, file), a.programs(seats)...) {
		if kept != "" && holds(dir, named(kept)) {
			return control.Usagef("interactive_mode.workspace is %s, where agents write, and %s lies in it; name a folder of its own", dir, kept)
		}
	}
	return nil
}

// ownWorkspace is where the projects of sessions with the project's own
// configuration are. What is wrong with that is for others to tell.
func (a *App) ownWorkspace() string {
	file := a.state("config.yaml")
	if _, err := os.Stat(file); err != nil {
		file = ""
	}
	base, _ := config.UserFile()
	if file == "" && base == "" {
		return a.workspaceDir(nil)
	}
	f, err := config.LoadOver(base, file)
	if err != nil || file != "" && a.trusted(file, f) != nil {
		return a.workspaceDir(nil)
	}
	return a.workspaceDir(f.Interactive)
}

// furnish makes the workspace of a session ready.
func (a *App) furnish(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "projects"), 0o755); err != nil {
		return fmt.Errorf("make the workspace of sessions ready: %w", err)
	}
	_, err := project.Store{Dir: dir}.Scratch()
	return err
}

// mates are the agents that runs can be launched with, as a model is told of
// them.
func (a *App) mates(seats []event.Seat) []event.Teammate {
	var out []event.Teammate
	for _, s := range seats {
		m := event.Teammate{Agent: s.Agent, Backend: s.Backend, Model: s.Model}
		if b, _, err := a.openBackend(s); err == nil {
			m.Model = cmp.Or(m.Model, b.Traits().Model)
		} else {
			m.About = "cannot be used now: " + err.Error() + ". "
		}
		m.About += about(s)
		out = append(out, m)
	}
	return out
}

// about is what an agent can do, in words.
func about(s event.Seat) string {
	var g gear.Gear
	if len(s.Gear) > 0 {
		_ = json.Unmarshal(s.Gear, &g) // what cannot be read is not there
	}
	var can []string
	add := func(is bool, what string) {
		if is {
			can = append(can, what)
		}
	}
	add(g.Files, "reads and writes files")
	add(g.Shell != nil, "runs commands")
	add(g.Fetch, "reads web pages")
	add(g.Search != nil, "searches the web")
	add(g.Plan, "keeps a task plan")
	add(g.Memory, "remembers notes")
	add(len(g.Skills) > 0, "has skills")
	for _, v := range g.Servers {
		can = append(can, "uses the MCP server "+v.Name)
	}
	words := "only speaks, it has no tools"
	if len(can) > 0 {
		words = strings.Join(can, ", ")
	}
	if own := firstSentence(s.Prompt); own != "" {
		words += ". Its own instructions begin: " + own
	}
	return words
}

// longestSentence bounds what is told of an agent's own prompt.
const longestSentence = 200

// firstSentence is what a prompt says first, on one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && strings.IndexByte(".!?", text[i-1]) >= 0 {
			text = text[:i]
			break
		}
	}
	if r := []rune(text); len(r) > longestSentence {
		text = string(r[:longestSentence-1]) + "…"
	}
	return text
}
