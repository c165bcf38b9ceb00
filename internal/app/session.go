package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
	"conclave/internal/view"
)

// Begin implements [control.Sessions].
func (a *App) Begin(ctx context.Context, s event.SessionStarted) (event.FlowID, error) {
	if s.Kind != event.SessionCoordinate && !talks(s.Kind) {
		return "", control.Usagef("this version knows no sessions of kind %q", s.Kind)
	}
	if s.Config != "" { // wherever it is resumed from
		file, err := filepath.Abs(s.Config)
		if err != nil {
			return "", control.Usagef("find %s: %w", s.Config, err)
		}
		s.Config = file
	}
	t, err := a.team(ctx, s.Config)
	if err != nil {
		return "", err
	}
	if s.Kind == event.SessionInteractive && (t.talks == nil || !t.talks.Enabled) {
		return "", control.Usagef("interactive mode is off in %s; switch it on there: orchestrator: {interactive_mode: true}", t.file)
	}
	if talks(s.Kind) { // what cannot be staffed is better known now
		if _, err := a.staff(ctx, s); err != nil {
			return "", err
		}
	}
	log, err := a.events(ctx)
	if err != nil {
		return "", err
	}
	if s.From != "" {
		if _, err := opening(ctx, log, s.From); err != nil {
			return "", &control.Usage{Err: err}
		}
	}
	if s.By == "" {
		s.By = "conclave " + Version
	}
	now := time.Now()
	id := newID("session", now)
	lease, err := log.Acquire(ctx, id, false)
	if err != nil {
		return "", told(id, err)
	}
	first := event.Event{Flow: id, Seq: 1, At: now.UTC().Truncate(time.Microsecond), Fact: event.Fact{ID: "started", Body: s}}
	return id, errors.Join(log.Commit(ctx, lease, []event.Event{first}), lease.Release())
}

// session is how a session began; ok is false for a flow that is none.
func session(ctx context.Context, log eventlog.Log, id event.FlowID) (s event.SessionStarted, ok bool, err error) {
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return s, false, fmt.Errorf("read %s: %w", id, err)
		}
		s, ok = e.Body.(event.SessionStarted)
		break
	}
	if ok && s.Kind != event.SessionCoordinate && !talks(s.Kind) {
		return s, ok, control.Usagef("%s is a session of kind %q, which this version cannot drive", id, s.Kind)
	}
	return s, ok, nil
}

// converse drives a session, and the runs it launches, until ctx ends. With watch
// it is told of every change.
func (a *App) converse(ctx context.Context, log eventlog.Log, id event.FlowID, s event.SessionStarted, takeOver bool, watch func(view.Session), also ...event.Fact) error {
	// What was said in a log that came with a project, and the configuration it
	// names, is the word of whoever wrote that.
	if !a.own() {
		return control.Usagef("the log in %s is not known to be yours, so %s is not gone on with\nIf it is all right say: conclave trust", a.state(), id)
	}
	h := &chair{a: a, log: log, id: id, takeOver: takeOver, started: s}
	p := part{decider: func() flow.Decider { return deciding(s.Kind) }, doer: h, close: h.agent.Close}
	return a.drive(ctx, log, id, takeOver, p, func(d *engine.Driver) error {
		k, err := a.snapshot(ctx, log, id)
		if err != nil {
			return err
		}
		if also, err = a.staffed(ctx, s, k.now.Session, d.Lease.Epoch(), also); err != nil {
			return err
		}
		h.now.Store(k.now.Session)
		d.Observe = whenRecorded(func(events []event.Event) {
			k.observe(events)
			if h.now.Store(k.now.Session); watch != nil && k.now.Session != nil {
				watch(*k.now.Session)
			}
		})
		return d.Resume(ctx, also...)
	})
}

// lull is how long a session has to be at rest before nobody drives it any more.
const lull = time.Second

var errAtRest = errors.New("at rest")

// Settle implements [control.Sessions].
func (a *App) Settle(ctx context.Context, id event.FlowID, takeOver bool) (err error) {
	log, err := a.existing(ctx)
	if err != nil {
		tellFailed(err)
		return err
	}
	s, ok, err := session(ctx, log, id)
	if err == nil && !ok {
		return a.Resume(ctx, id, takeOver)
	}
	defer func() { tellFailed(err) }()
	for ; err == nil; takeOver = false {
		if err = a.untilRest(ctx, log, id, s, takeOver); !errors.Is(err, errAtRest) {
			return err
		}
		// Something may have been said at the last moment. Whoever says more from
		// now on finds that nobody drives the session.
		var now view.Snapshot
		if now, err = a.Open(ctx, id); err == nil && atRest(*now.Session) && !unheard(ctx, log, id, s.Kind) {
			return nil
		}
	}
	return err
}

func (a *App) untilRest(ctx context.Context, log eventlog.Log, id event.FlowID, s event.SessionStarted, takeOver bool) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	timer := time.AfterFunc(time.Hour, func() { leave(errAtRest) })
	defer timer.Stop()
	return a.converse(ctx, log, id, s, takeOver, func(now view.Session) {
		if timer.Stop(); atRest(now) {
			timer.Reset(lull)
		}
	})
}

// unheard reports whether something waits in a session's inbox that it would take.
func unheard(ctx context.Context, log eventlog.Log, id event.FlowID, kind string) bool {
	return pending(ctx, log, id, func(b event.Body) bool { return hears(kind, b) })
}

// atRest reports whether a session waits for a person and nothing else.
func atRest(s view.Session) bool {
	if s.Talk != nil {
		return restful(s)
	}
	return len(s.Heard) == 0 && (s.State() == view.SessionIdle || s.State() == view.SessionReviewing)
}

// Team implements [control.Sessions].
func (a *App) Team(ctx context.Context, config string) (control.Team, error) {
	t, err := a.team(ctx, config)
	if err != nil {
		return control.Team{}, err
	}
	out := control.Team{
		Source: t.source(), Warnings: t.warnings, Offline: true, Dir: a.dir,
		Modes: event.Modes{Single: t.mode.Single || len(t.seats) == 1, Quick: t.mode.Quick, Plan: t.settings.Planning != nil && *t.settings.Planning},
	}
	for _, s := range t.seats {
		m := control.Member{ID: s.Agent, Backend: s.Backend, Model: s.Model, Tools: len(s.Gear) > 0, Servers: servers(s)}
		b, offline, err := a.openBackend(s)
		if err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		} else if m.Model == "" {
			m.Model = b.Traits().Model
		}
		out.Offline = out.Offline && offline
		out.Agents = append(out.Agents, m)
	}
	if out.Interactive = a.interactive(t); out.Interactive != nil {
		out.Offline = out.Offline && free(out.Interactive.Agent.Backend)
	}
	return out, nil
}

// longestAsked is how long a text may be to be called up again.
const longestAsked = 64 << 10

// History implements [control.Sessions].
func (a *App) History(ctx context.Context, limit int) ([]string, error) {
	flows, err := a.flows(ctx)
	if err != nil {
		return nil, err
	}
	type asked struct {
		at   time.Time
		text event.Content
	}
	var all []asked
	for _, f := range flows {
		switch b := f.First.Body.(type) {
		case event.RunStarted:
			if b.Spec.Parent == "" { // else it was said in its session
				all = append(all, asked{f.First.At, b.Spec.Task})
			}
		case event.SessionStarted:
			s, err := a.Open(ctx, f.ID)
			if err != nil || s.Session == nil {
				continue // what is damaged is for others to tell
			}
			for _, t := range s.Session.Turns.All(0) {
				all = append(all, asked{t.At, t.Text})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y asked) int { return y.at.Compare(x.at) })
	var out []string
	known := map[string]bool{}
	for _, q := range all {
		if len(out) >= limit {
			break
		}
		if q.text.Size > longestAsked {
			continue
		}
		text, err := a.Text(ctx, q.text)
		if text = strings.TrimSpace(text); err != nil || text == "" || known[text] {
			continue
		}
		known[text] = true
		out = append(out, text)
	}
	return out, nil
}

// sayable makes something that is said to a session fit for its inbox. Said to a
// run, or to a session of another kind, it would wait there for ever.
func (a *App) sayable(ctx context.Context, log eventlog.Log, id event.FlowID, f event.Fact) (event.Fact, error) {
	s, ok, err := session(ctx, log, id)
	switch {
	case err != nil:
		return f, err
	case !ok:
		return f, control.Usagef("%s is not something to say to a run", event.Kind(f.Body))
	case !hears(s.Kind, f.Body):
		return f, control.Usagef("%s is not something to say to a session of kind %s", event.Kind(f.Body), s.Kind)
	}
	switch b := f.Body.(type) {
	case event.Said:
		if s.Kind == event.SessionInteractive {
			if b, err = a.pointed(ctx, b); err != nil {
				return f, err
			}
		}
		b.Text, err = a.shelve(ctx, b.Text)
		f.Body = b
	case event.Revised:
		b.Text, err = a.shelve(ctx, b.Text)
		f.Body = b
	}
	return f, err
}

// hears reports whether a session of that kind takes in what is said.
func hears(kind string, b event.Body) bool {
	s, ok := deciding(kind).(flow.Sorter)
	return ok && s.Hears(b)
}

// pointed is something said to an agent with the files it names: they are what
// they are now, wherever it is heard, and pictures whenever it is.
func (a *App) pointed(ctx context.Context, b event.Said) (event.Said, error) {
	text, err := a.Text(ctx, b.Text)
	if err != nil {
		return b, err
	}
	text, paths, images, err := a.refs(text)
	if err != nil {
		return b, err
	}
	b.Text, b.Images = event.Inline(text), append(slices.Clone(b.Images), images...)
	var all []event.ContextPath
	for _, p := range append(slices.Clone(b.Paths), paths...) {
		if p, err = a.there(p); err != nil {
			return b, err
		}
		all = append(all, p)
	}
	b.Paths = all
	if err := a.allowed(all); err != nil {
		return b, err
	}
	b.Media = nil
	for i, file := range b.Images {
		m, err := a.picture(ctx, file)
		if err != nil {
			return b, err
		}
		b.Images[i], _ = a.resolve(file)
		b.Media = append(b.Media, m)
	}
	return b, nil
}

// shelve makes a blob of text that is too long for an event.
func (a *App) shelve(ctx context.Context, c event.Content) (event.Content, error) {
	if c.Blob != "" {
		return c, nil
	}
	return a.keep(ctx, c.Text)
}
