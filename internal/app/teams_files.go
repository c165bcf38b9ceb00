package app

import (
	"context"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/teamdir"
)

// teamTrees are the trees of a team.
func teamTrees(s event.TeamStarted) *teamdir.Dir {
	return &teamdir.Dir{Path: s.Dir, Source: s.Source, Leader: event.AgentID(s.Leader.Name)}
}

// teamDir are the trees of a team by its id.
func (a *App) teamDir(ctx context.Context, id event.FlowID) (*teamdir.Dir, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return nil, err
	}
	s, ok, err := teamBegun(ctx, log, id)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, control.Usagef("%s is not a team", id)
	}
	return teamTrees(s), nil
}

// TeamFiles implements [control.Teams].
func (a *App) TeamFiles(ctx context.Context, id event.FlowID, member event.AgentID) ([]control.JobFile, error) {
	d, err := a.teamDir(ctx, id)
	if err != nil {
		return nil, err
	}
	files, err := d.Files(ctx, member)
	return files, missing(err)
}

// TeamFile implements [control.Teams].
func (a *App) TeamFile(ctx context.Context, id event.FlowID, member event.AgentID, path string) (control.JobFile, []byte, error) {
	d, err := a.teamDir(ctx, id)
	if err != nil {
		return control.JobFile{}, nil, err
	}
	f, text, err := d.File(ctx, member, path)
	return f, text, missing(err)
}

// TeamDiff implements [control.Teams].
func (a *App) TeamDiff(ctx context.Context, id event.FlowID, member event.AgentID) ([]control.FileDiff, error) {
	d, err := a.teamDir(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := d.Diff(ctx, member)
	return all, missing(err)
}

// TeamPatch implements [control.Teams].
func (a *App) TeamPatch(ctx context.Context, id event.FlowID, member event.AgentID) ([]byte, error) {
	d, err := a.teamDir(ctx, id)
	if err != nil {
		return nil, err
	}
	patch, err := d.Patch(ctx, member)
	return patch, missing(err)
}
