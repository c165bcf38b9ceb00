package app

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/jobdir"
)

// workplace is the workspace of a job.
func workplace(s event.JobStarted) jobdir.Dir {
	return jobdir.Dir{Path: s.Dir, Agent: string(s.Seat.Agent)}
}

// jobDir is the workspace of a job by its id.
func (a *App) jobDir(ctx context.Context, id event.FlowID) (jobdir.Dir, error) {
	log, err := a.existing(ctx)
	if err != nil {
		return jobdir.Dir{}, err
	}
	s, ok, err := jobBegun(ctx, log, id)
	switch {
	case err != nil:
		return jobdir.Dir{}, err
	case !ok:
		return jobdir.Dir{}, control.Usagef("%s is not a job", id)
	}
	return workplace(s), nil
}

// missing puts what is not there into the words of control.
func missing(err error) error {
	if none, ok := errors.AsType[*jobdir.NotFound](err); ok {
		what, name, _ := strings.Cut(none.What, " ") // file "plan.md"
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		return &control.NotFound{What: what, Typed: name}
	}
	return err
}

// JobFiles implements [control.Jobs].
func (a *App) JobFiles(ctx context.Context, id event.FlowID, at string) ([]control.JobFile, error) {
	d, err := a.jobDir(ctx, id)
	if err != nil {
		return nil, err
	}
	files, err := d.Files(ctx, at)
	if err != nil {
		return nil, missing(err)
	}
	out := make([]control.JobFile, 0, len(files))
	for _, f := range files {
		out = append(out, jobFile(f))
	}
	return out, nil
}

func jobFile(f jobdir.File) control.JobFile { return control.JobFile(f) }

// JobFile implements [control.Jobs].
func (a *App) JobFile(ctx context.Context, id event.FlowID, path, at string) (control.JobFile, []byte, error) {
	d, err := a.jobDir(ctx, id)
	if err != nil {
		return control.JobFile{}, nil, err
	}
	f, text, err := d.File(ctx, path, at)
	return jobFile(f), text, missing(err)
}

// JobDiff implements [control.Jobs].
func (a *App) JobDiff(ctx context.Context, id event.FlowID, from, to, path string) ([]control.FileDiff, error) {
	d, err := a.jobDir(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := d.Diff(ctx, from, to, path)
	if err != nil {
		return nil, missing(err)
	}
	out := make([]control.FileDiff, 0, len(all))
	for _, f := range all {
		x := control.FileDiff{Path: f.Path, Old: f.Old, Kind: f.Kind, Binary: f.Binary, More: f.More}
		for _, h := range f.Hunks {
			hunk := control.Hunk{Old: h.Old, New: h.New}
			for _, l := range h.Lines {
				hunk.Lines = append(hunk.Lines, control.DiffLine(l))
			}
			x.Hunks = append(x.Hunks, hunk)
		}
		out = append(out, x)
	}
	return out, nil
}

// JobPatch implements [control.Jobs].
func (a *App) JobPatch(ctx context.Context, id event.FlowID, from, to, path string) ([]byte, error) {
	d, err := a.jobDir(ctx, id)
	if err != nil {
		return nil, err
	}
	patch, err := d.Patch(ctx, from, to, path)
	return patch, missing(err)
}

// JobLog implements [control.Jobs].
func (a *App) JobLog(ctx context.Context, id event.FlowID, limit int) ([]control.Commit, error) {
	d, err := a.jobDir(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := d.Log(ctx, limit)
	if err != nil {
		return nil, missing(err)
	}
	out := make([]control.Commit, 0, len(all))
	for _, c := range all {
		out = append(out, control.Commit(c))
	}
	return out, nil
}
