package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/control"
	"conclave/internal/datasource"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/job"
	"conclave/internal/jobdir"
	"conclave/internal/kit"
	"conclave/internal/redact"
	"conclave/internal/tool/mcp"
)

// shop does what a job decides: it makes the workspace and commits it, has the
// agent take turns, and runs carry out phases.
type shop struct {
	a       *App
	log     eventlog.Log
	id      event.FlowID
	started event.JobStarted
	dir     jobdir.Dir
	runs    *chair // drives the runs

	mu      sync.Mutex
	agent   *agent.Agent // made when first needed
	kit     *kit.Kit
	redact  func(string) string
	sources *datasource.Set
	servers map[string]*mcp.Set // of sources that are MCP servers
}

func newShop(a *App, log eventlog.Log, id event.FlowID, s event.JobStarted, takeOver bool) *shop {
	return &shop{
		a: a, log: log, id: id, started: s, dir: workplace(s), servers: map[string]*mcp.Set{},
		runs: &chair{a: a, log: log, id: id, takeOver: takeOver},
	}
}

// Close ends whatever the agent kept from turn to turn.
func (h *shop) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	if h.agent != nil {
		errs = append(errs, dismiss(h.agent.Backend))
	}
	if h.kit != nil {
		errs = append(errs, h.kit.Close())
	}
	if h.sources != nil {
		errs = append(errs, h.sources.Close())
	}
	for _, s := range h.servers {
		errs = append(errs, s.Close())
	}
	h.kit, h.agent, h.sources, h.servers = nil, nil, nil, map[string]*mcp.Set{}
	return errors.Join(errs...)
}

// Do implements [engine.Doer].
func (h *shop) Do(ctx context.Context, c flow.Command, p engine.Port) []event.Fact {
	var f event.Fact
	var err error
	switch c := c.(type) {
	case job.Prepare:
		var b event.Prepared
		b, err = h.prepare(ctx)
		f = c.Fact(b)
	case job.Keep:
		var b event.Kept
		if b, err = h.dir.Carry(ctx, c, func(t event.Content) (string, error) { return h.a.Text(ctx, t) }); err != nil {
			b, err = h.asKept(ctx, err)
		}
		f = c.Fact(b)
	case job.Work:
		var w *agent.Worker
		if w, err = h.worker(p); err == nil {
			return w.Do(ctx, c, p)
		}
	case job.Launch:
		return h.runs.launch(ctx, h.launching(c), p)
	default:
		err = fmt.Errorf("a job asks for %T, which this version cannot do", c)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil: // no fault of the job's; whoever takes it up tries again
		p.Leave(fmt.Errorf("%w\nNothing is lost; when that is mended go on with: conclave resume %s", err, h.id))
		return nil
	}
	return []event.Fact{f}
}

// asKept is the workspace as it was kept last, for a job that somebody wants to end:
// that its workspace cannot be kept any more does not keep them from it.
func (h *shop) asKept(ctx context.Context, failed error) (event.Kept, error) {
	now, err := jobStanding(ctx, h.log, h.id)
	if err != nil || !now.Cancelling() {
		return event.Kept{}, failed
	}
	b := event.Kept{Same: true}
	b.Commit, b.Files, b.Plan = now.Workspace()
	return b, nil
}

// worker is the agent that takes a turn.
func (h *shop) worker(p engine.Port) (*agent.Worker, error) {
	if err := h.hire(); err != nil {
		return nil, err
	}
	if err := h.ready(); err != nil {
		return nil, err
	}
	return &agent.Worker{
		Flow: h.id, Blobs: h.log, Agent: h.agent, Redact: h.redact,
		Bench: func(ctx context.Context, w job.Work) (agent.Bench, error) { return h.bench(ctx, w, p) },
	}, nil
}

// hire makes the agent of what was recorded.
func (h *shop) hire() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.agent != nil {
		return nil
	}
	a, s := h.a, h.started
	given, err := kit.OpenGiven(a.givenFile())
	if err != nil {
		return err
	}
	one := &agent.Agent{Seat: s.Seat}
	if one.Backend, _, err = a.openBackend(s.Seat); err != nil {
		one.Backend = absent{err} // the turn says so, and the next one may find it
	}
	in := func(names ...string) []string {
		var out []string
		for _, n := range names {
			out = append(out, filepath.Join(s.Dir, n))
		}
		return out
	}
	shop := &kit.Workshop{
		Flow: h.id, Home: s.Dir, Kept: func() []string { return in(jobdir.Kept()...) }, Drafts: in(jobdir.Plan, jobdir.Memory), Firm: true,
		State: a.state(), Env: os.LookupEnv, Sources: tools, Given: given, Engine: a.engine, Program: a.needs,
	}
	k, err := shop.Kit(s.Seat)
	if err != nil {
		return err
	}
	set, err := datasource.NewSet(databases(s.Sources), os.LookupEnv)
	if err != nil {
		return err
	}
	one.Kit, one.Compact, one.Parallel = k, k.Gear().Compact, k.Gear().Parallel
	h.agent, h.kit, h.sources = one, k, set
	h.redact = redact.New(append(secrets([]event.Seat{s.Seat}), passwords(s.Sources)...)...)
	return nil
}

// databases are the sources that are not MCP servers.
func databases(all []event.Source) []event.Source {
	var out []event.Source
	for _, s := range all {
		if s.Kind != event.SourceMCP {
			out = append(out, s)
		}
	}
	return out
}

// passwords are those of datasources.
func passwords(all []event.Source) []string {
	var out []string
	for _, s := range all {
		if v, ok := os.LookupEnv(s.Secret); ok && s.Secret != "" && v != "" {
			out = append(out, v)
		}
	}
	return out
}

// ready makes sure that the files of the plan are files: an agent's own commands
// may have put something else in their place.
func (h *shop) ready() error {
	if err := os.MkdirAll(h.dir.Path, 0o755); err != nil {
		return fmt.Errorf("make the workspace of the job: %w", err)
	}
	root, err := os.OpenRoot(h.dir.Path)
	if err != nil {
		return fmt.Errorf("open the workspace of the job: %w", err)
	}
	defer root.Close()
	for _, name := range []string{jobdir.Plan, jobdir.Memory} {
		info, err := root.Lstat(name)
		if err == nil && info.Mode().IsRegular() {
			continue
		}
		if err == nil {
			err = root.RemoveAll(name)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make %s ready: %w", name, err)
		}
		if err := root.WriteFile(name, nil, 0o644); err != nil {
			return fmt.Errorf("make %s ready: %w", name, err)
		}
	}
	return nil
}

// launching is the run that carries out a phase.
func (h *shop) launching(l job.Launch) launching {
	return launching{
		run: l.Run, cancel: (*wish)(l.Cancel), fact: l.Fact,
		prepare: func(ctx context.Context) (control.Run, error) { return h.prepareRun(ctx, l) },
		report:  func(_ context.Context, r event.Returned) (event.Returned, error) { return r, nil },
	}
}

// prepareRun makes the run. Its agents work in the workspace of the job, and so
// have files at hand, whatever is configured.
func (h *shop) prepareRun(ctx context.Context, l job.Launch) (control.Run, error) {
	if l.Launch == nil {
		return control.Run{}, fmt.Errorf("%s was launched, and the log does not say what it is", l.Run)
	}
	task, err := h.a.Text(ctx, l.Launch.Task)
	if err != nil {
		return control.Run{}, err
	}
	o := &order{
		id: l.Run, parent: h.id, launch: l.Launch, grant: l.Grant, files: true,
		own: []event.ContextPath{{Path: h.started.Dir, Write: true}},
	}
	if o.context, err = h.context(ctx); err != nil {
		return control.Run{}, err
	}
	// Nobody typed the task, so an @path in it is text.
	return h.a.prepare(ctx, control.Request{
		Task: task, Piped: true, Config: h.started.Config, Agents: l.Launch.Agents, Single: l.Launch.Single, Quick: l.Launch.Quick,
		Asks: h.started.Asks, AskFirst: h.started.Asks,
	}, o)
}

// context is what the agents of a run are told of the job.
func (h *shop) context(ctx context.Context) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "This is one phase of the job %q. Its workspace is %s: work on the files there.\n\n", h.started.Title, h.started.Dir)
	for _, part := range []struct {
		head string
		text event.Content
	}{{"What the job is to do", h.started.Description}, {"Instructions, which are binding", h.started.Instructions}} {
		text, err := h.a.Text(ctx, part.text)
		if err != nil {
			return "", err
		}
		if text != "" {
			fmt.Fprintf(&b, "%s:\n\n%s\n\n", part.head, text)
		}
	}
	return b.String(), nil
}
