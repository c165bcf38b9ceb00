package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/backend/script/demo"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/gear"
)

// Limits of a team, where nothing is said.
const (
	teamMembers  = 12
	teamTurns    = 200
	teamCalls    = 200
	teamAttempts = 3
	teamIdle     = 3
	teamTurn     = 30 * time.Minute
	teamGrace    = 2 * time.Minute
)

// NewTeam implements [control.Teams].
func (a *App) NewTeam(ctx context.Context, r control.TeamRequest) (event.FlowID, error) {
	s, err := a.teamOf(ctx, r)
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "", control.Usagef("a team keeps its trees with git, which is not on your PATH; install git, version 2.29 or later, then begin it again")
	}
	if _, err := a.ready(ctx, seatsOf(s)); err != nil {
		return "", err
	}
	if s.Task, err = a.keep(ctx, strings.TrimSpace(r.Task)); err != nil {
		return "", err
	}
	id := newID("team", time.Now())
	s.Dir = a.state("teams", string(id))
	if err = os.MkdirAll(s.Dir, 0o700); err == nil {
		err = teamTrees(s).Begin(ctx) // whoever wants it can still mend what is wrong with its folder
	}
	if err == nil {
		err = a.first(ctx, id, s)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(s.Dir))
		for _, dir := range []string{a.state("teams"), a.state()} {
			_ = os.Remove(dir) // if nothing else is in it: nothing was done
		}
		return "", err
	}
	return id, nil
}

// teamOf is a team as requested, but for its task and its folder.
func (a *App) teamOf(ctx context.Context, r control.TeamRequest) (event.TeamStarted, error) {
	var s event.TeamStarted
	if strings.TrimSpace(r.Task) == "" {
		return s, control.Usagef("the task is empty; say what the team is to bring about")
	}
	if r.Config != "" { // wherever it is resumed from
		file, err := filepath.Abs(r.Config)
		if err != nil {
			return s, control.Usagef("find %s: %w", r.Config, err)
		}
		r.Config = file
	}
	d, err := a.describedTeam(ctx, r.Team)
	if err != nil {
		return s, err
	}
	players, err := a.players(ctx, d, r.Config)
	if err != nil {
		return s, err
	}
	s = event.TeamStarted{
		Name: cmp.Or(d.Name, stem(d.Path)), Phases: d.Phases, File: d.file, Config: r.Config,
		Title: cmp.Or(oneLine(r.Title, longestTitle), oneLine(r.Task, longestTitle)),
		Asks:  r.Asks, By: cmp.Or(r.By, "conclave "+Version), Rules: teamRules(d.Limits, r),
	}
	if s.Leader, err = a.teamRole(d.Leader, players, s.Rules.Budget, true); err != nil {
		return s, err
	}
	for _, x := range d.Roles {
		role, err := a.teamRole(x, players, s.Rules.Budget, false)
		if err != nil {
			return s, err
		}
		s.Roles = append(s.Roles, role)
	}
	if s.ContextPaths, err = a.inherited(d.ContextPaths); err == nil {
		err = a.allowed(s.ContextPaths)
	}
	if err == nil {
		s.Source, err = a.teamSource(r.Source, d.Source)
	}
	return s, err
}

// teamRules are those of the description with what is requested over them.
func teamRules(l config.TeamLimits, r control.TeamRequest) event.TeamRules {
	rules := event.TeamRules{
		Version: event.TeamRulesVersion, Budget: l.Budget, Permission: event.Override{On: r.Asks},
		MaxMembers: cmp.Or(l.MaxMembers, teamMembers), MaxTurns: cmp.Or(l.MaxTurns, teamTurns), MaxCalls: cmp.Or(l.MaxCalls, teamCalls),
		MaxAttempts: cmp.Or(l.MaxAttempts, teamAttempts), MaxIdle: cmp.Or(l.MaxIdle, teamIdle),
		Turn: cmp.Or(event.Duration(r.Turn), l.Turn, event.Duration(teamTurn)), Time: cmp.Or(event.Duration(r.Time), l.Time),
	}
	if r.MaxCost != nil {
		rules.Budget.Cost = r.MaxCost
	}
	shorter := rules.Turn
	if rules.Time > 0 {
		shorter = min(shorter, rules.Time)
	}
	rules.Grace = min(event.Duration(teamGrace), shorter/5)
	if l.Grace != nil { // unless the request has made the time too short for it
		rules.Grace = min(*l.Grace, shorter/2)
	}
	return rules
}

// A cast is who there is to play the roles of a team. With demo nobody is
// configured or found, and the built-in demo plays everybody.
type cast struct {
	seats []event.Seat
	first event.Seat // plays whatever nobody is named for
	demo  bool
}

// players are the agents of the description and of a configuration that was named; if
// there is neither, those of the project's configuration, or the ones that are found.
// Whom both have is the description's, whose roles mean it; what nobody is named for
// is played by the first of the configuration, since that was asked for.
func (a *App) players(ctx context.Context, d described, file string) (cast, error) {
	var c cast
	for _, x := range d.Agents {
		c.seats = append(c.seats, seatOf(x))
	}
	if len(c.seats) > 0 && file == "" {
		c.first = c.seats[0]
		return c, nil
	}
	t, err := a.team(ctx, file)
	if err != nil {
		return c, err
	}
	c.first, c.demo = t.seats[0], t.file == "" && t.found == ""
	for _, s := range t.seats {
		if _, ok := c.named(s.Agent); !ok {
			c.seats = append(c.seats, s)
		}
	}
	return c, nil
}

// named is the agent of an id.
func (c cast) named(id event.AgentID) (event.Seat, bool) {
	i := slices.IndexFunc(c.seats, func(s event.Seat) bool { return s.Agent == id })
	if i < 0 {
		return event.Seat{}, false
	}
	return c.seats[i], true
}

// of is who plays a role.
func (c cast) of(r config.TeamRole, leader bool) (event.Seat, error) {
	if c.demo && r.Agent == "" {
		id := r.Name
		if leader {
			id = "leader"
		} else if _, ok := demo.Named(id); !ok || !slices.Contains(demo.TeamNames(), id) {
			id = "member"
		}
		s := *persona(id)
		s.Agent = event.AgentID(id)
		return s, nil
	}
	if r.Agent == "" {
		return c.first, nil
	}
	s, ok := c.named(r.Agent)
	if !ok {
		who := "the role " + r.Name
		if leader {
			who = "the leader"
		}
		return event.Seat{}, control.Usagef("%s is to be played by the agent %q, and there is none; there are: %s", who, r.Agent, names(c.seats))
	}
	return s, nil
}

// teamRole is a role with who plays it, who has files at hand at least.
func (a *App) teamRole(r config.TeamRole, c cast, budget event.Budget, leader bool) (event.TeamRole, error) {
	out := event.TeamRole{Name: r.Name, Title: r.Title, Avatar: r.Avatar, About: strings.TrimSpace(r.About), Prompt: strings.TrimSpace(r.Prompt), Most: r.Most}
	if leader {
		out.Name = cmp.Or(r.Name, event.LeaderName)
	}
	s, err := c.of(r, leader)
	if err != nil {
		return out, err
	}
	var g gear.Gear
	if len(s.Gear) > 0 {
		if err := json.Unmarshal(s.Gear, &g); err != nil {
			return out, fmt.Errorf("agent %s: gear: %w", s.Agent, err)
		}
	}
	g.Files, g.Plan = true, false // the ledger is their plan
	s.Gear, s.Label = gearOf(g), ""
	b, _, err := a.openBackend(s)
	switch {
	case err != nil:
		return out, &control.Usage{Err: err} // nothing was done yet
	case budget.Cost != nil && !b.Traits().Price:
		return out, control.Usagef("agent %s: what %s of %s costs is not known, so a ceiling on the cost cannot be kept; give its price in the configuration (backend.price)", s.Agent, cmp.Or(s.Model, "the model"), s.Backend)
	}
	s.Model = cmp.Or(s.Model, b.Traits().Model)
	out.Seat = s
	return out, dismiss(b)
}

// teamSource is the folder a team begins from: that of the request, or else of the
// description.
func (a *App) teamSource(requested, described string) (string, error) {
	path, there := described, true
	if requested != "" {
		path, there = a.resolve(requested)
	}
	if path == "" {
		return "", nil
	}
	if !there {
		return "", control.Usagef("the folder %s does not exist; paths begin in %s", requested, a.dir)
	}
	real, err := a.real(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", control.Usagef("%s is not a folder; a team begins from a folder", path)
	}
	return real, a.allowed([]event.ContextPath{{Path: real}})
}

// seatsOf are all seats of a team.
func seatsOf(s event.TeamStarted) []event.Seat {
	out := []event.Seat{s.Leader.Seat}
	for _, r := range s.Roles {
		out = append(out, r.Seat)
	}
	return out
}

// teamBegun is how a team began; ok is false for a flow that is none.
func teamBegun(ctx context.Context, log eventlog.Log, id event.FlowID) (s event.TeamStarted, ok bool, err error) {
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return s, false, fmt.Errorf("read %s: %w", id, err)
		}
		s, ok = e.Body.(event.TeamStarted)
		break
	}
	if v := s.Rules.Version; ok && (v < 1 || v > event.TeamRulesVersion) {
		return s, ok, control.Usagef("%s goes by rules this version cannot follow", id)
	}
	return s, ok, nil
}
