package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/sandbox"
)

// Prepare implements [control.Control].
func (a *App) Prepare(ctx context.Context, q control.Request) (control.Run, error) {
	return a.prepare(ctx, q, nil)
}

// prepare is Prepare for a run that somebody asks for, or that o says a session
// launches.
func (a *App) prepare(ctx context.Context, q control.Request, o *order) (control.Run, error) {
	t, err := a.team(ctx, q.Config)
	if err != nil {
		return control.Run{}, err
	}
	o.onto(&t, q)
	if t.seats, err = choose(t, q); err != nil {
		return control.Run{}, err
	}
	o.brief(t.seats)
	if q.Task == "" {
		q.Task, q.Piped = t.prompt, true
	}
	rules, err := t.rules(q)
	if err != nil {
		return control.Run{}, err
	}
	rules = o.over(rules)
	offline := true
	for i, s := range t.seats {
		b, off, err := a.openBackend(s)
		if err != nil {
			return control.Run{}, &control.Usage{Err: err}
		}
		if rules.Budget.Cost != nil && !b.Traits().Price {
			return control.Run{}, control.Usagef("agent %s: what %s of %s costs is not known, so a ceiling on the cost cannot be kept; give its price in the configuration (backend.price)", s.Agent, cmp.Or(s.Model, "the model"), s.Backend)
		}
		if s.Model == "" {
			t.seats[i].Model = b.Traits().Model
		}
		offline = offline && off
	}
	text, paths, images, err := a.material(ctx, t.settings.ContextPaths, q, o)
	if err != nil {
		return control.Run{}, err
	}
	a.guard(paths, t.file, t.seats)
	guardVersions(paths, a.workspaceDir(t.talks))
	task, err := a.keep(ctx, text)
	if err != nil {
		return control.Run{}, err
	}
	id := newID("run", time.Now())
	var seed [8]byte
	_, _ = rand.Read(seed[:])
	n := binary.BigEndian.Uint64(seed[:])
	started := event.RunStarted{
		Spec:  event.RunSpec{Task: task, Seats: event.Seated(n, t.seats), ContextPaths: paths, Images: images},
		Rules: rules, Seed: n, By: "conclave " + Version,
	}
	if id, err = o.tell(ctx, a, id, &started.Spec); err != nil {
		return control.Run{}, err
	}
	if slices.ContainsFunc(t.seats, func(s event.Seat) bool { return len(s.Gear) > 0 }) {
		started.Spec.Dir = a.state("runs", string(id))
	} else if len(paths) > 0 {
		t.warnings = append(t.warnings, "context paths have no effect: none of the agents has tools")
	}
	if err := rules.Validate(len(t.seats)); err != nil {
		return control.Run{}, &control.Usage{Err: err}
	}
	weak, err := a.ready(ctx, t.seats)
	if err != nil {
		return control.Run{}, err
	}
	t.warnings = append(t.warnings, weak...)
	return control.Run{ID: id, Started: started, Offline: offline, Source: t.source(), Warnings: append(t.warnings, t.idle(q)...)}, nil
}

// ready makes sure, before anything is spent, that commands can be run as the
// agents are configured to.
func (a *App) ready(ctx context.Context, seats []event.Seat) (warnings []string, err error) {
	for _, s := range seats {
		var g gear.Gear
		if len(s.Gear) == 0 || json.Unmarshal(s.Gear, &g) != nil || g.Shell == nil {
			continue
		}
		for _, m := range g.Shell.Mounts {
			real, err := a.real(m.Path)
			if err == nil {
				err = a.allowed([]event.ContextPath{{Path: real}})
			}
			if err != nil {
				return nil, err
			}
		}
		e, reasons, err := sandbox.Pick(ctx, a.sandboxes(), g.Shell.Sandbox)
		if err != nil {
			return nil, control.Usagef("agent %s: %w", s.Agent, err)
		}
		if e.Name() == "landlock" && len(warnings) == 0 {
			why := ""
			if len(reasons) > 0 {
				why = " (" + strings.Join(reasons, "; ") + ")"
			}
			warnings = append(warnings, "commands run under Landlock"+why+", in which folders with something protected or hidden cannot be listed or added to by commands; file tools can")
		}
	}
	return warnings, nil
}

// newID names a flow: what, when, and four letters to tell it apart and to type.
func newID(kind string, now time.Time) event.FlowID {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	var b [4]byte
	_, _ = rand.Read(b[:])
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return event.FlowID(kind + "-" + now.UTC().Format("20060102-150405") + "-" + string(b[:]))
}

// keep makes a task fit for an event.
func (a *App) keep(ctx context.Context, task string) (event.Content, error) {
	if len(task) <= event.InlineMax {
		return event.Inline(task), nil
	}
	log, err := a.events(ctx)
	if err != nil {
		return event.Content{}, err
	}
	h, err := log.PutBlob(ctx, []byte(task))
	if err != nil {
		return event.Content{}, control.Usagef("keep the task: %w", err) // nothing was done
	}
	return event.Content{Blob: h, Size: len(task)}, nil
}
