package app

import (
	"context"
	"fmt"
	"slices"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/talk"
)

// wanted is a run that the agent of a session, or a client, has launched.
func (h *chair) wanted(l talk.Launch) launching {
	return launching{
		run: l.Run, cancel: (*wish)(l.Cancel), fact: l.Fact,
		prepare: func(ctx context.Context) (control.Run, error) { return h.prepareWanted(ctx, l) },
		report:  func(ctx context.Context, r event.Returned) (event.Returned, error) { return h.report(ctx, l, r) },
	}
}

// prepareWanted makes a run of what was wanted, as it was approved.
func (h *chair) prepareWanted(ctx context.Context, l talk.Launch) (control.Run, error) {
	if l.Launch == nil {
		return control.Run{}, fmt.Errorf("%s was launched, and the log does not say what it is", l.Run)
	}
	if err := h.vouched(ctx, l); err != nil {
		return control.Run{}, err
	}
	if err := h.notAllRuns(l.Launch.Paths); err != nil {
		return control.Run{}, err
	}
	task, err := h.a.Text(ctx, l.Launch.Task)
	if err != nil {
		return control.Run{}, err
	}
	o := &order{id: l.Run, parent: h.id, launch: l.Launch, grant: l.Grant, own: h.ours(l.Staffed)}
	if o.context, err = h.a.Text(ctx, l.Launch.Context); err != nil {
		return control.Run{}, err
	}
	// Nobody typed the task, so an @path in it is text.
	return h.a.prepare(ctx, control.Request{
		Task: task, Piped: true, Config: l.Started.Config, Agents: l.Launch.Agents, Single: l.Launch.Single, Quick: l.Launch.Quick,
		Asks: l.Started.Asks, AskFirst: l.Started.Asks,
	}, o)
}

// ours are the folders of the program's own that runs of the session may be
// given: its workspace with the projects, and what earlier runs have made.
func (h *chair) ours(s event.Staffed) []event.ContextPath {
	return []event.ContextPath{{Path: s.Dir, Write: true}, {Path: h.a.state("runs")}}
}

// notAllRuns refuses the folder of all runs, whoever approved it: in it the agents
// of a run would find what the others have not put forward yet.
func (h *chair) notAllRuns(paths []event.ContextPath) error {
	all, err := h.a.real(h.a.state("runs"))
	for _, p := range paths {
		if p, errPath := h.a.there(p); err == nil && errPath == nil && p.Path == all {
			return control.Usagef("the folder of all runs cannot be given to a run: its agents would see each other's work in it. Name the folder of one earlier run")
		}
	}
	return nil // what is not there is told later
}

// vouched makes sure that a person stands behind every path of a launch: they
// have approved the run, or given the path before, in the configuration or in the
// session. Reading the project they sit in needs nobody's word. A model that was
// talked into naming another folder gets nothing from it.
func (h *chair) vouched(ctx context.Context, l talk.Launch) error {
	if len(l.Launch.Paths) == 0 {
		return nil
	}
	asked, err := h.approved(ctx, l.Want)
	if asked || err != nil {
		return err
	}
	known := append(h.ours(l.Staffed), event.ContextPath{Path: h.a.project})
	known = append(append(known, l.Staffed.ContextPaths...), h.saidPaths(ctx)...)
	for _, p := range l.Launch.Paths {
		p, err := h.a.there(p)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(known, func(o event.ContextPath) bool { return within(o, p) }) {
			may := "reading"
			if p.Write {
				may = "writing"
			}
			return control.Usagef("nobody has allowed %s %s: it is not among the context paths, and the user was not asked about this run. Ask for approval (coordination_overrides: {\"require_approval\": true}), or have the user name the path", may, p.Path)
		}
	}
	return nil
}

// approved reports whether a person was asked about a wanted run and approved it.
func (h *chair) approved(ctx context.Context, want string) (bool, error) {
	for e, err := range h.log.Read(ctx, h.id, 1) {
		if err != nil {
			return false, fmt.Errorf("read %s: %w", h.id, err)
		}
		if c, ok := e.Body.(event.Closed); ok && c.Gate == "launch/"+want && c.How == "reply" && c.Choice == event.LaunchApprove {
			return true, nil
		}
	}
	return false, nil
}
