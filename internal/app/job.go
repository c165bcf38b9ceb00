package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/datasource"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/gear"
	"conclave/internal/job"
	"conclave/internal/jobdir"
)

// Limits of a job, where nothing is configured.
const (
	jobPhases   = 20
	jobTodos    = 20
	jobCalls    = 200 // model calls in one turn of the agent
	jobAttempts = 3
	jobIdle     = 3 // turns in a row that complete nothing
	jobRounds   = 3 // of review, before other ways are offered
)

// longestTitle is how much of a description stands for its title.
const longestTitle = 80

// NewJob implements [control.Jobs].
func (a *App) NewJob(ctx context.Context, r control.JobRequest) (event.FlowID, error) {
	s, err := a.jobOf(ctx, r)
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "", control.Usagef("a job keeps its workspace with git, which is not on your PATH; install git, version 2.29 or later, then begin it again")
	}
	if _, err := a.ready(ctx, []event.Seat{s.Seat}); err != nil {
		return "", err
	}
	if err := reach(ctx, s.Sources); err != nil {
		return "", err
	}
	if s.Description, err = a.keep(ctx, strings.TrimSpace(r.Description)); err != nil {
		return "", err
	}
	if s.Instructions, err = a.keep(ctx, strings.TrimSpace(r.Instructions)); err != nil {
		return "", err
	}
	id := newID("job", time.Now())
	s.Dir = a.state("jobs", string(id))
	if s.Documents, err = a.gather(filepath.Join(s.Dir, jobdir.Documents), r.Paths, r.Uploads); err == nil {
		s.Companion, err = a.accompany(ctx, id, r, s)
	}
	if err == nil {
		err = a.first(ctx, id, s)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(s.Dir))
		for _, dir := range []string{a.state("jobs"), a.state()} {
			_ = os.Remove(dir) // if nothing else is in it: nothing was done
		}
		return "", err
	}
	return id, nil
}

// accompany gives a job the session in which people talk about it: the one it was
// outlined in, or a new one. It is there before the job: a companion without a
// job harms nobody.
func (a *App) accompany(ctx context.Context, job event.FlowID, r control.JobRequest, s event.JobStarted) (event.FlowID, error) {
	if r.Companion == "" {
		return a.Begin(ctx, event.SessionStarted{Kind: event.SessionCompanion, Config: s.Config, Job: job, By: s.By})
	}
	log, err := a.existing(ctx)
	if err != nil {
		return "", err
	}
	of, ok, err := session(ctx, log, r.Companion)
	switch {
	case err != nil:
		return "", err
	case !ok || of.Kind != event.SessionCompanion:
		return "", control.Usagef("%s is not the session of a companion, so no job can be linked with it", r.Companion)
	case of.Job != "":
		return "", control.Usagef("%s is about %s already", r.Companion, of.Job)
	}
	// Under one id it can be said once: of two who begin a job from one outline,
	// one is told.
	err = a.Send(ctx, r.Companion, event.Fact{ID: "linked", Body: event.Linked{Job: job, By: s.By}})
	if errors.Is(err, eventlog.ErrConflict) {
		return "", control.Usagef("%s is about another job already", r.Companion)
	}
	return r.Companion, err
}

// first records the first fact of a flow that nobody drives yet.
func (a *App) first(ctx context.Context, id event.FlowID, b event.Body) error {
	log, err := a.events(ctx)
	if err != nil {
		return err
	}
	lease, err := log.Acquire(ctx, id, false)
	if err != nil {
		return told(id, err)
	}
	e := event.Event{Flow: id, Seq: 1, At: time.Now().UTC().Truncate(time.Microsecond), Fact: event.Fact{ID: "started", Body: b}}
	return errors.Join(log.Commit(ctx, lease, []event.Event{e}), lease.Release())
}

// WouldReview implements [control.Jobs].
func (a *App) WouldReview(ctx context.Context, r control.JobRequest) (bool, string, error) {
	if strings.TrimSpace(r.Description) == "" {
		r.Description = "What is to be done may be told later." // and need not be short
	}
	s, err := a.jobOf(ctx, r)
	if err != nil {
		return false, "", err
	}
	switch s.Rules.Review {
	case event.ReviewNever:
		return false, "planning.interactive is false, so the plan is carried out at once", nil
	case event.ReviewFirst:
		return true, "planning.interactive is true", nil
	case event.ReviewPlans:
		return true, "every plan is to be looked at (planning.review: plans)", nil
	}
	var why []string
	if len(r.Paths)+len(r.Uploads) > 0 { // how many is not known before they are copied
		why = append(why, "there are documents")
	}
	s.Description = event.Inline(r.Description)
	_, more := job.Reviews(s)
	if why = append(why, more...); len(why) == 0 {
		return false, "there are no documents and no datasources; it stops all the same if its plan has several phases or open questions", nil
	}
	return true, strings.Join(why, ", and "), nil
}

// jobOf is a job as requested, but for its documents and its texts.
func (a *App) jobOf(ctx context.Context, r control.JobRequest) (event.JobStarted, error) {
	var s event.JobStarted
	description := strings.TrimSpace(r.Description)
	if description == "" {
		return s, control.Usagef("the description is empty; say what is to be done, and what is to come of it")
	}
	if r.Config != "" { // wherever it is resumed from
		file, err := filepath.Abs(r.Config)
		if err != nil {
			return s, control.Usagef("find %s: %w", r.Config, err)
		}
		r.Config = file
	}
	t, err := a.team(ctx, r.Config)
	if err != nil {
		return s, err
	}
	s = event.JobStarted{
		Title:  cmp.Or(oneLine(r.Title, longestTitle), oneLine(description, longestTitle)),
		Config: r.Config, Parent: r.Parent, Asks: r.Asks, By: cmp.Or(r.By, "conclave "+Version),
	}
	if s.Rules, err = t.jobRules(r); err != nil {
		return s, err
	}
	if s.Seat, err = a.workerSeat(t, s.Rules.Budget); err != nil {
		return s, err
	}
	if s.Rules.Execute == event.ExecuteRun {
		for _, x := range t.seats {
			s.Rules.Agents = append(s.Rules.Agents, x.Agent)
		}
	}
	s.Sources, err = a.sources(t, s.Seat, r.Sources)
	return s, err
}

// oneLine is a text on one line, and not longer than so many characters.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most-1]) + "…"
	}
	return text
}

// jobRules are the configured ones with what is requested over them.
func (t team) jobRules(r control.JobRequest) (event.JobRules, error) {
	p := t.plans
	if p == nil {
		p = &config.Planning{}
	}
	rules := event.JobRules{
		Version: event.JobRulesVersion, Review: cmp.Or(p.Review, event.ReviewAuto), Execute: cmp.Or(p.Execute, event.ExecuteSingle),
		MaxPhases: cmp.Or(p.MaxPhases, jobPhases), MaxTodos: cmp.Or(p.MaxTodos, jobTodos),
		MaxCalls: jobCalls, MaxAttempts: jobAttempts, MaxIdle: jobIdle, SoftRounds: jobRounds,
		Budget: p.Budget, Time: p.Time, Permission: event.Override{On: r.Asks},
	}
	if p.SoftRounds != nil {
		rules.SoftRounds = *p.SoftRounds
	}
	switch r.Review {
	case "":
	case "auto", "true", "false":
		rules.Review = config.ReviewRule(r.Review, "")
	default:
		return rules, control.Usagef("review is %q; it must be auto, true or false", r.Review)
	}
	switch r.Execute {
	case "":
	case event.ExecuteSingle, event.ExecuteRun:
		rules.Execute = r.Execute
	default:
		return rules, control.Usagef("execute_with is %q; it must be single or run", r.Execute)
	}
	if r.MaxCost != nil {
		rules.Budget.Cost = r.MaxCost
	}
	if r.Time > 0 {
		rules.Time = event.Duration(r.Time)
	}
	return rules, nil
}

// workerSeat is the agent of a job, with files at hand at least.
func (a *App) workerSeat(t team, budget event.Budget) (event.Seat, error) {
	s := t.worker()
	var g gear.Gear
	if len(s.Gear) > 0 {
		if err := json.Unmarshal(s.Gear, &g); err != nil {
			return s, fmt.Errorf("agent %s: gear: %w", s.Agent, err)
		}
	}
	g.Files, g.Plan = true, false // its todos are its plan
	s.Gear = gearOf(g)
	b, _, err := a.openBackend(s)
	switch {
	case err != nil:
		return s, &control.Usage{Err: err} // nothing was done yet
	case budget.Cost != nil && !b.Traits().Price:
		return s, control.Usagef("what %s of %s costs is not known, so a ceiling on the cost cannot be kept; give its price in the configuration (backend.price)", cmp.Or(s.Model, "the model"), s.Backend)
	}
	s.Model = cmp.Or(s.Model, b.Traits().Model)
	return s, nil
}

// worker is who plans and works in jobs: the agent configured for that, or the one
// people talk to, or one with the backend of the first agent.
func (t team) worker() event.Seat {
	var s event.Seat
	switch {
	case t.plans != nil && t.plans.Agent.Backend != "":
		s = seatOf(t.plans.Agent)
	case t.planner != nil:
		s = *t.planner
	default:
		s = t.host()
		s.Prompt = "" // which is about its part in a conversation
	}
	if t.plans != nil {
		s.Prompt = t.plans.Agent.Prompt
	}
	s.Agent, s.Label = config.WorkerID, ""
	return s
}

// companionStaff is who talks about jobs, and by which rules: it launches nothing
// and reaches nothing but what it is given of its job.
func (a *App) companionStaff(t team, s event.Staffed) (event.Staffed, error) {
	s.Team, s.Rules.MaxRuns = nil, 0
	s.Dir = a.workspaceDir(t.talks)
	seat := t.worker()
	switch {
	case t.plans != nil && t.plans.Companion.Backend != "":
		seat = seatOf(t.plans.Companion)
	case t.companion != nil && (t.plans == nil || t.plans.Agent.Backend == ""):
		seat = *t.companion
	}
	if seat.Prompt = ""; t.plans != nil {
		seat.Prompt = t.plans.Companion.Prompt
	}
	seat.Agent, seat.Label, seat.Gear = config.CompanionID, "", webOnly(seat.Gear)
	if b, _, err := a.openBackend(seat); err == nil {
		seat.Model = cmp.Or(seat.Model, b.Traits().Model)
	} // else whoever talks to it is told why it cannot answer
	s.Seat = seat
	return s, nil
}

// webOnly is what is left of an agent's gear for one that only looks: the web. One
// that is a program has to run somewhere, though with nothing of the user's in it.
func webOnly(own json.RawMessage) json.RawMessage {
	var g gear.Gear
	if len(own) > 0 && json.Unmarshal(own, &g) != nil {
		return nil
	}
	var where *gear.Shell
	if g.Own && g.Shell != nil {
		bare := *g.Shell
		bare.Mounts, where = nil, &bare
	}
	return gearOf(gear.Gear{Own: g.Own, Shell: where, Fetch: g.Fetch, Search: g.Search, Compact: g.Compact, Parallel: g.Parallel, Permissions: g.Permissions})
}

// sources are datasources as a person has written them. An MCP server is one that
// is configured.
func (a *App) sources(t team, worker event.Seat, specs []string) ([]event.Source, error) {
	out, err := datasource.ParseAll(specs, a.dir)
	if err != nil {
		return nil, &control.Usage{Err: err}
	}
	for i := range out {
		s := &out[i]
		switch s.Kind {
		case event.SourceMCP:
			if err := serve(s, append([]event.Seat{worker}, t.seats...)); err != nil {
				return nil, err
			}
		case event.SourceDir, event.SourceSQLite:
			real, err := a.real(s.Where)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, control.Usagef("the datasource %s: %s does not exist; paths begin in %s", s.Name, s.Where, a.dir)
			}
			if err != nil {
				return nil, control.Usagef("the datasource %s: %w", s.Name, err)
			}
			if err := a.allowed([]event.ContextPath{{Path: real, Write: s.Write}}); err != nil {
				return nil, err
			}
			s.Where = real
		}
	}
	return out, nil
}

// reachTime is how long a datasource has to answer when a job is begun.
const reachTime = 5 * time.Second

// reach opens the datasources of a job that is to begin, as whoever wants it can
// still mend what is wrong with one. MCP servers are started by the job alone.
func reach(ctx context.Context, all []event.Source) error {
	var errs []error
	for _, s := range databases(all) {
		ctx, done := context.WithTimeout(ctx, reachTime)
		c, err := datasource.Open(ctx, s, os.LookupEnv)
		done()
		if err == nil {
			err = c.Close()
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return control.Usagef("%w\nNothing was begun", err)
	}
	return nil
}

// serve finds the MCP server that a source names among those of the agents.
func serve(s *event.Source, seats []event.Seat) error {
	var known []string
	for _, seat := range seats {
		var g gear.Gear
		if len(seat.Gear) == 0 || json.Unmarshal(seat.Gear, &g) != nil {
			continue
		}
		for _, v := range g.Servers {
			if v.Name == s.Where {
				s.Server = options(v)
				return nil
			}
			known = append(known, v.Name)
		}
	}
	if len(known) == 0 {
		return control.Usagef("the datasource mcp:%s: no MCP server is configured; name it under mcp_servers of an agent's backend", s.Where)
	}
	return control.Usagef("the datasource mcp:%s: no MCP server of that name is configured; there are: %s", s.Where, strings.Join(known, ", "))
}

// jobBegun is how a job began; ok is false for a flow that is none.
func jobBegun(ctx context.Context, log eventlog.Log, id event.FlowID) (s event.JobStarted, ok bool, err error) {
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return s, false, fmt.Errorf("read %s: %w", id, err)
		}
		s, ok = e.Body.(event.JobStarted)
		break
	}
	if ok && s.Rules.Version != event.JobRulesVersion {
		return s, ok, control.Usagef("%s goes by rules this version cannot follow", id)
	}
	return s, ok, nil
}
