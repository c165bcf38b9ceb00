package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"

	"conclave/internal/agent"
	"conclave/internal/backend"
	"conclave/internal/chat"
	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/kit"
	"conclave/internal/launch"
	"conclave/internal/project"
	"conclave/internal/redact"
	"conclave/internal/talk"
	"conclave/internal/tool"
	projects "conclave/internal/tool/project"
	"conclave/internal/view"
)

// talks reports whether a kind of session is one of package talk's: with an agent
// of its own, or of a client.
func talks(kind string) bool {
	return kind == event.SessionInteractive || kind == event.SessionClient || kind == event.SessionCompanion
}

// deciding is who decides in a session of that kind.
func deciding(kind string) flow.Decider {
	if talks(kind) {
		return &talk.Session{}
	}
	return &chat.Session{}
}

// staffed adds who talks in a session to what it is told first, if that is not
// what its log says already.
func (a *App) staffed(ctx context.Context, s event.SessionStarted, now *view.Session, epoch uint64, also []event.Fact) ([]event.Fact, error) {
	if !talks(s.Kind) {
		return also, nil
	}
	staff, err := a.staff(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := a.furnish(staff.Dir); err != nil {
		return nil, err
	}
	f := event.Fact{ID: fmt.Sprintf("staffed/%d", epoch), Body: staff}
	if now != nil && now.Talk != nil && flow.Same(f, event.Fact{ID: f.ID, Body: now.Talk.Staffed}) {
		return also, nil
	}
	return append([]event.Fact{f}, also...), nil
}

// restful reports whether a session with an agent, or of a client, waits for a
// person and nothing else. A turn that waits until a run is approved can be left
// and taken up again; one that waits for a permission cannot.
func restful(s view.Session) bool {
	if len(s.Heard) > 0 {
		return false
	}
	switch s.State() {
	case view.SessionIdle:
		return true
	case view.SessionAwaiting:
		return !slices.ContainsFunc(s.Gates, func(g view.Gate) bool { return g.Kind != event.GateLaunch })
	}
	return false
}

// A speaker is the agent of a session at work in this process. It is made of what
// the log says of it.
type speaker struct {
	mu     sync.Mutex
	of     event.Staffed
	talker *agent.Talker
	shop   *kit.Workshop
	kit    *kit.Kit
}

// Close ends whatever the agent kept from turn to turn.
func (h *speaker) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.leave()
}

// leave lets the agent go. The lock is held.
func (h *speaker) leave() error {
	var errs []error
	if h.talker != nil {
		errs = append(errs, dismiss(h.talker.Agent.Backend))
	}
	if h.kit != nil {
		errs = append(errs, h.kit.Close())
	}
	h.talker, h.kit = nil, nil
	return errors.Join(errs...)
}

// host is the agent that takes a turn, with what it may reach in it.
func (h *chair) host(ctx context.Context, w talk.Work) (*agent.Talker, error) {
	if h.started.Kind == event.SessionCompanion {
		return h.companion(ctx, w)
	}
	k := &h.agent
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.talker == nil || !flow.Same(event.Fact{Body: k.of}, event.Fact{Body: w.Staffed}) {
		if err := h.hire(w.Staffed); err != nil {
			return nil, err
		}
	}
	k.shop.Spec.ContextPaths = h.reach(ctx, w)
	return k.talker, nil
}

// hire makes the agent of what was recorded.
func (h *chair) hire(s event.Staffed) error {
	a, k := h.a, &h.agent
	_ = k.leave() // what is left of it is swept
	k.of, k.kit, k.talker = s, nil, nil
	given, err := kit.OpenGiven(a.givenFile())
	if err != nil {
		return err
	}
	if err := a.furnish(s.Dir); err != nil {
		return err
	}
	one := &agent.Agent{Seat: s.Seat}
	if one.Backend, _, err = a.openBackend(s.Seat); err != nil {
		one.Backend = absent{err} // the turn says so, and the next one may find it
	}
	k.shop = &kit.Workshop{
		Flow: h.id, Spec: event.RunSpec{ContextPaths: s.ContextPaths}, Home: s.Dir, Shown: []string{a.state("runs")}, Kept: project.Store{Dir: s.Dir}.Kept,
		State: a.state(), Env: os.LookupEnv, Sources: tools, Given: given, Engine: a.engine, Program: a.needs,
	}
	if k.kit, err = k.shop.Kit(s.Seat); err != nil {
		return err
	}
	if k.kit != nil {
		one.Kit, one.Compact, one.Parallel = k.kit, k.kit.Gear().Compact, k.kit.Gear().Parallel
	}
	k.talker = &agent.Talker{
		Flow: h.id, Blobs: h.log, Agent: one, Redact: redact.New(secrets([]event.Seat{s.Seat})...),
		Desk: h.desk(s),
		Estimate: func(ctx context.Context, l event.Launch) *event.Estimate {
			return a.estimate(ctx, h.started.Config, l, s.Team)
		},
		Context: func(ctx context.Context, name string) (string, error) {
			p, err := project.Store{Dir: s.Dir}.Get(ctx, name)
			return p.Context, err
		},
		Picture: a.shown,
	}
	return nil
}

// absent is the backend of an agent that cannot be opened.
type absent struct{ err error }

func (b absent) Traits() backend.Traits { return backend.Traits{} }
func (b absent) Turn(context.Context, backend.Input, backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		yield(backend.Delta{}, &backend.Error{Kind: backend.Invalid, Message: b.err.Error()})
	}
}

// desk are the tools with which the agent keeps projects. What it publishes comes
// from its own workspace or from those of runs.
func (h *chair) desk(s event.Staffed) func(func(context.Context, event.Body) error) []tool.Tool {
	return func(submit func(context.Context, event.Body) error) []tool.Tool {
		by := string(s.Seat.Agent)
		return projects.Tools(projects.Options{
			Store: project.Store{Dir: s.Dir}, Session: h.id, By: by, Open: h.project,
			Roots:     func() []string { return []string{s.Dir, h.a.state("runs")} },
			Opened:    func(ctx context.Context, name string) error { return submit(ctx, event.Opened{Project: name, By: by}) },
			Published: func(ctx context.Context, p event.Published) error { return submit(ctx, p) },
		})
	}
}

// project is the one that is open: the agent or a person may have opened it just
// now.
func (h *chair) project(ctx context.Context) string {
	if t := h.session(ctx).Talk; t != nil {
		return t.Project
	}
	return ""
}

// reach are the user's files in a turn: those of the configuration, and those
// that came with what was said.
func (h *chair) reach(ctx context.Context, w talk.Work) []event.ContextPath {
	said := h.saidPaths(ctx)
	for _, e := range w.History {
		if e.Said != nil {
			said = append(said, e.Said.Paths...)
		}
	}
	paths := slices.Clone(w.Staffed.ContextPaths)
	for _, p := range said {
		now, err := h.a.there(p)
		if err != nil || now.Path != p.Path || h.a.allowed([]event.ContextPath{p}) != nil {
			continue // it is gone, somebody has put a link in its place, or it was never to be given
		}
		if !slices.ContainsFunc(paths, func(o event.ContextPath) bool { return within(o, p) }) {
			paths = launch.Paths(event.Launch{Paths: []event.ContextPath{p}}, paths)
		}
	}
	h.a.guard(paths, cmp.Or(h.started.Config, h.a.state("config.yaml")), []event.Seat{w.Staffed.Seat})
	guardVersions(paths, w.Staffed.Dir)
	return paths
}

// saidPaths are the files that people have named in the session, by where they led
// then.
func (h *chair) saidPaths(ctx context.Context) []event.ContextPath {
	var out []event.ContextPath
	for _, t := range h.session(ctx).Turns.All(0) {
		out = append(out, t.Paths...)
	}
	return out
}

// session is how the session stands. While it is driven nothing is read for that.
func (h *chair) session(ctx context.Context) view.Session {
	if now := h.now.Load(); now != nil {
		return *now
	}
	if s, err := h.a.Open(ctx, h.id); err == nil && s.Session != nil {
		return *s.Session
	}
	return view.Session{}
}

// shown is a picture that came with something said.
func (a *App) shown(ctx context.Context, file string) (backend.Image, error) {
	m, err := a.picture(ctx, file)
	if err != nil {
		return backend.Image{}, err
	}
	log, err := a.existing(ctx)
	if err != nil {
		return backend.Image{}, err
	}
	p, err := log.Blob(ctx, m.Blob)
	return backend.Image{Type: m.Type, Data: p}, err
}
