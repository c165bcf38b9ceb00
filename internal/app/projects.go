package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/agnivade/levenshtein"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/project"
)

// projects is where the projects of sessions are kept.
func (a *App) projects(context.Context) (project.Store, error) {
	return project.Store{Dir: a.ownWorkspace()}, nil
}

// Projects implements [control.Projects].
func (a *App) Projects(ctx context.Context) ([]project.Project, error) {
	s, err := a.projects(ctx)
	if err != nil {
		return nil, err
	}
	return s.List(ctx)
}

// Project implements [control.Projects].
func (a *App) Project(ctx context.Context, name string) (project.Project, error) {
	s, err := a.projects(ctx)
	if err != nil {
		return project.Project{}, err
	}
	p, err := s.Get(ctx, name)
	return p, unfound(name, err)
}

// unfound is the error of looking for a project, for people.
func unfound(name string, err error) error {
	if none, ok := errors.AsType[*project.NotFound](err); ok {
		return &control.NotFound{What: "project", Typed: name, Nearest: near(name, none.Have)}
	}
	if err != nil && project.CheckName(name) != nil {
		return &control.Usage{Err: err}
	}
	return err
}

// Deliverable implements [control.Projects].
func (a *App) Deliverable(ctx context.Context, name, path string, n int) ([]byte, error) {
	s, err := a.projects(ctx)
	if err != nil {
		return nil, err
	}
	content, err := s.Content(ctx, name, path, n)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil && project.CheckPath(path) != nil {
			return nil, &control.Usage{Err: err}
		}
		return content, unfound(name, err)
	}
	p, lost := s.Get(ctx, name)
	if lost != nil {
		return nil, unfound(name, lost)
	}
	var have []string
	for _, d := range p.Deliverables {
		switch {
		case d.Path != path:
			have = append(have, d.Path)
		case n != 0:
			return nil, control.Usagef("%s has no version %d; see: conclave projects show %s", path, n, name)
		case d.Missing:
			return nil, control.Usagef("%s was removed by hand; its newest version is: conclave projects cat %s %[1]s --version %[3]d", path, name, d.Versions[0].N)
		}
	}
	return nil, &control.NotFound{What: "deliverable", Typed: path, Nearest: near(path, have)}
}

// near are the names that are most like one that is not there.
func near(typed string, have []string) []event.FlowID {
	have = slices.Clone(have)
	slices.SortStableFunc(have, func(x, y string) int {
		return cmp.Compare(levenshtein.ComputeDistance(x, typed), levenshtein.ComputeDistance(y, typed))
	})
	var out []event.FlowID
	for _, h := range have[:min(len(have), nearest)] {
		out = append(out, event.FlowID(h))
	}
	return out
}
