// Package projects lets the agent of a session keep projects: what they are for and
// what was decided, the paths that matter, and what was made, in its versions.
//
// [Tools] act on a [project.Store]. One project can be open; the tools take that one
// unless a call names another. That a project was opened, and that a deliverable was
// published, is told to whoever keeps the session, by functions of [Options]. Files
// are published from the roots given there alone, whatever links lead out of them.
package projects

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/project"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

// Options say where projects are and who is told.
type Options struct {
	Store project.Store
	// Session is put down in the projects it opens; empty is none.
	Session event.FlowID
	// By is who publishes.
	By string
	// Open tells which project is open, empty if none. It is asked at each call:
	// others open projects as well. If it is nil the tools keep it themselves.
	Open func(context.Context) string
	// Roots are the folders that files can be published from, such as the session's
	// workspace and those of its runs. It is asked at each call; relative paths
	// are in the first.
	Roots func() []string
	// Opened is told which project is open from now on, empty if none; Published of
	// each version. Both may be nil. An error of theirs ends the call.
	Opened    func(ctx context.Context, name string) error
	Published func(ctx context.Context, p event.Published) error
}

// desk is what the tools of one session share.
type desk struct {
	Options
	mu   sync.Mutex
	kept string // the open project, unless Options say which it is
}

// Tools are how an agent works with projects.
func Tools(o Options) []tool.Tool {
	d := &desk{Options: o}
	return []tool.Tool{d.creator(), d.opener(), d.closer(), d.lister(), d.noter(), d.pather(), d.publisher()}
}

// which is the project a call is about: the one it names, else the open one.
func (d *desk) which(ctx context.Context, named string) (string, error) {
	if named != "" {
		return named, project.CheckName(named)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if open := d.open(ctx); open != "" {
		return open, nil
	}
	return "", errors.New("no project is open; name one, or open it with open_project")
}

// open is the open project; the lock is held.
func (d *desk) open(ctx context.Context) string {
	if d.Open != nil {
		return d.Open(ctx)
	}
	return d.kept
}

// take makes a project the open one.
func (d *desk) take(ctx context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name != "" && d.Session != "" {
		if err := d.Store.AddSession(ctx, name, d.Session); err != nil {
			return err
		}
	}
	if name == d.open(ctx) {
		return nil
	}
	if d.Opened != nil {
		if err := d.Opened(ctx, name); err != nil {
			return &untold{err}
		}
	}
	d.kept = name
	return nil
}

// untold is a failure of whoever is told, which is the operator's.
type untold struct{ error }

func (u *untold) Unwrap() error { return u.error }

// failed is what comes of an error: what could not be told ends the turn, the
// rest is for the model.
func failed(ctx context.Context, what string, err error) (tool.Result, error) {
	if u, ok := errors.AsType[*untold](err); ok {
		return tool.Result{}, fmt.Errorf("record what was done to a project: %w", u.error)
	}
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	return tool.Failed(what + ": " + strings.TrimRight(err.Error(), ".") + "."), nil
}

// writes is the action of changing a file of a project.
func (d *desk) writes(named string, file string) policy.Action {
	name, err := d.which(context.Background(), named)
	if err != nil || project.CheckName(name) != nil {
		return policy.Action{Kind: policy.Other}
	}
	return policy.Action{Kind: policy.Write, Target: d.Store.Root(name) + "/" + file}
}

const (
	maxShown        = 50 // entries of a list
	maxShownContext = 32 << 10
)

// describe is a project as a model reads it.
func describe(p project.Project) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Project %s, in %s\n", p.Name, p.Dir)
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "Problem: %s\n", problem)
	}
	if p.Context != "" {
		fmt.Fprintf(&b, "\nCONTEXT.md:\n%s\n", strings.TrimSpace(typed.Cut(p.Context, maxShownContext)))
	}
	if len(p.Paths) > 0 {
		b.WriteString("\nPaths:\n")
		for _, name := range sorted(p.Paths) {
			fmt.Fprintf(&b, "- %s: %s (%s)\n", name, p.Paths[name].Path, line(p.Paths[name].Desc))
		}
	}
	if len(p.Deliverables) > 0 {
		b.WriteString("\nDeliverables, the newest of each in deliverables/:\n")
		for _, d := range p.Deliverables[:min(len(p.Deliverables), maxShown)] {
			fmt.Fprintf(&b, "- %s\n", deliverable(d))
		}
		more(&b, len(p.Deliverables))
	}
	if len(p.Runs) > 0 {
		b.WriteString("\nRuns, newest first:\n")
		for _, r := range p.Runs[:min(len(p.Runs), maxShown)] {
			fmt.Fprintf(&b, "- %s, %s, %s: %s\n", r.ID, r.At.Format("2006-01-02"), r.Status, line(r.Description))
		}
		more(&b, len(p.Runs))
	}
	return b.String()
}

func more(b *strings.Builder, n int) {
	if n > maxShown {
		fmt.Fprintf(b, "- and %d more\n", n-maxShown)
	}
}

func deliverable(d project.Deliverable) string {
	s := fmt.Sprintf("%s, %d bytes, hash %s", d.Path, d.Size, d.Hash)
	if len(d.Versions) > 0 {
		s += fmt.Sprintf(", version %d", d.Versions[0].N)
	}
	switch {
	case d.Missing:
		return fmt.Sprintf("%s, version %d, was removed by hand; to publish it anew expect no hash", d.Path, d.Versions[0].N)
	case d.Edited:
		s += ", edited by hand since"
	}
	return s
}

// line is a text on one line, not too long.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
