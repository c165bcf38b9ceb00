package project

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"conclave/internal/event"
)

const runForm = `an object with "run_id", "description", "status", "at" and "paths", an object of texts`

func runFile(id event.FlowID) string { return path.Join(runsDir, string(id), "run_description.json") }

// RunEnded describes a run of a project in runs/<run>/run_description.json. What
// somebody has written into its description stays. It may be repeated.
func (s Store) RunEnded(ctx context.Context, name string, r Run) error {
	if !nameForm().MatchString(string(r.ID)) {
		return fmt.Errorf("%.80q is not the id of a run", string(r.ID))
	}
	return s.change(ctx, name, func(f *folder) error {
		err := f.rewrite(ctx, runFile(r.ID), maxJSON, func(old []byte) ([]byte, error) {
			if old != nil {
				var was Run
				if err := f.decode(runFile(r.ID), old, &was, runForm); err != nil {
					return nil, err
				}
				r.Description = cmp.Or(was.Description, r.Description)
				paths := maps.Clone(was.Paths)
				if paths == nil {
					paths = map[string]string{}
				}
				maps.Copy(paths, r.Paths)
				r.Paths = paths
			}
			r.Deliverables = nil // told by the versions
			p, err := json.MarshalIndent(r, "", "  ")
			return append(p, '\n'), err
		})
		if err != nil {
			return fmt.Errorf("describe a run of project %s: %w", name, err)
		}
		return nil
	})
}

// runs are the descriptions there are, the newest first.
func (f *folder) runs() (out []Run, problems []error) {
	entries, err := fs.ReadDir(f.root.FS(), runsDir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("%s cannot be read: %w", f.path(runsDir), err))
		}
		return nil, problems
	}
	slices.Reverse(entries) // ids begin with their time
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if len(out) == maxRuns {
			problems = append(problems, fmt.Errorf("%s: only the last %d runs were read", f.path(runsDir), maxRuns))
			break
		}
		name := runFile(event.FlowID(e.Name()))
		src, err := f.read(name, maxJSON)
		if err == nil && src == nil {
			continue // nothing is said of it yet
		}
		var r Run
		if err == nil {
			err = f.decode(name, src, &r, runForm)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		r.ID = event.FlowID(e.Name()) // the file can say anything
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Run) int { return b.At.Compare(a.At) })
	return out, problems
}

// credit says of each run which deliverables came from it.
func credit(p *Project) {
	from := map[event.FlowID][]string{}
	for _, d := range p.Deliverables {
		for _, v := range d.Versions {
			if v.Run != "" && !slices.Contains(from[v.Run], d.Path) {
				from[v.Run] = append(from[v.Run], d.Path)
			}
		}
	}
	for i := range p.Runs {
		p.Runs[i].Deliverables = from[p.Runs[i].ID]
	}
}
