package project

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// NotFound is the error of looking for a project that is not there.
type NotFound struct {
	Name string
	Have []string // those there are
}

func (e *NotFound) Error() string {
	s := fmt.Sprintf("there is no project %q", e.Name)
	if len(e.Have) > 0 {
		s += "; there are: " + strings.Join(e.Have[:min(len(e.Have), 20)], ", ")
	}
	return s
}

// Exists is the error of creating a project that is there already.
type Exists struct{ Name string }

func (e *Exists) Error() string {
	return fmt.Sprintf("there is a project %s already; open it, or choose another name", e.Name)
}

const (
	contextFile = "CONTEXT.md"
	pathsFile   = "filepaths.json"
	sessionFile = "session.json"
	runsDir     = "runs"
	deliverDir  = "deliverables"
	versionsDir = "versions"
)

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Root is the folder of a project, whether there is one or not.
func (s Store) Root(name string) string { return filepath.Join(s.Dir, projects, name) }

// Scratch is where whatever belongs to no project is; it is made if it is not
// there.
func (s Store) Scratch() (string, error) {
	dir := filepath.Join(s.Dir, scratch)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the scratch folder: %w", err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("make the scratch folder: %s is not a folder; move it away", dir)
	}
	return dir, nil
}

// Create makes a project. One whose making was cut off is completed; if it is
// there, the error is an *Exists.
func (s Store) Create(ctx context.Context, name, goal string) (Project, error) {
	if err := CheckName(name); err != nil {
		return Project{}, err
	}
	if err := checkText("the goal", goal); err != nil {
		return Project{}, err
	}
	if len(s.names()) >= maxProjects {
		return Project{}, fmt.Errorf("there are %d projects in %s, which is the most; move some away", maxProjects, s.Dir)
	}
	if _, err := s.Scratch(); err != nil {
		return Project{}, err
	}
	top, err := os.OpenRoot(s.Dir)
	if err != nil {
		return Project{}, fmt.Errorf("open the workspace of sessions: %w", err)
	}
	defer top.Close()
	if err := top.MkdirAll(path.Join(projects, name), 0o755); err != nil {
		return Project{}, fmt.Errorf("create project %s: %w", name, err)
	}
	for _, dir := range []string{projects, "."} {
		if err := flushIn(top, dir); err != nil {
			return Project{}, fmt.Errorf("create project %s: %w", name, err)
		}
	}
	err = s.change(ctx, name, func(f *folder) error {
		if err := f.fill(ctx, goal); err != nil {
			return fmt.Errorf("create project %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return Project{}, err
	}
	return s.Get(ctx, name)
}

func flushIn(r *os.Root, dir string) error {
	d, err := r.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(flush(d), d.Close())
}

// fill makes what a project has from the beginning. CONTEXT.md comes last: with it
// the project is complete.
func (f *folder) fill(ctx context.Context, goal string) error {
	if old, err := f.read(contextFile, maxContext); err != nil {
		return err
	} else if old != nil {
		return &Exists{f.name}
	}
	for _, dir := range []string{runsDir, deliverDir, versionsDir} {
		if err := f.mkdir(dir); err != nil {
			return err
		}
	}
	err := f.rewrite(ctx, pathsFile, maxJSON, func(old []byte) ([]byte, error) {
		if old != nil {
			return nil, nil
		}
		return []byte("{}\n"), nil
	})
	if err != nil {
		return err
	}
	return f.rewrite(ctx, contextFile, maxContext, func([]byte) ([]byte, error) { return firstContext(f.name, goal), nil })
}

// names are the projects there are, by name.
func (s Store) names() []string {
	entries, err := os.ReadDir(filepath.Join(s.Dir, projects))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && CheckName(e.Name()) == nil && len(out) < maxProjects {
			out = append(out, e.Name())
		}
	}
	return out
}

// Kept are the folders in which only [Store.Publish] writes: the versions of each
// project. Whoever lets others write in the workspace keeps them from these.
func (s Store) Kept() []string {
	var out []string
	for _, name := range s.names() {
		dir := filepath.Join(s.Root(name), versionsDir)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}

// List is every project, the one that changed last first. Whether a deliverable was
// edited is told by its time and size: only if these have changed is it read.
func (s Store) List(ctx context.Context) ([]Project, error) {
	if _, err := os.ReadDir(filepath.Join(s.Dir, projects)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	var out []Project
	for _, name := range s.names() {
		p, err := s.get(ctx, name, false)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // one that cannot be read hides no other
			p = Project{Name: name, Dir: s.Root(name), Problems: []string{err.Error()}}
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Project) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// Get is one project. Its error is a *NotFound if there is none; files that cannot
// be understood are among its Problems.
func (s Store) Get(ctx context.Context, name string) (Project, error) { return s.get(ctx, name, true) }

func (s Store) get(ctx context.Context, name string, thorough bool) (Project, error) {
	f, err := s.open(name)
	if err != nil {
		return Project{}, err
	}
	defer f.close()
	if err := f.glance(ctx); err != nil {
		return Project{}, err
	}
	p := Project{Name: name, Dir: f.path(".")}
	problem := func(err error) {
		if err != nil {
			p.Problems = append(p.Problems, err.Error())
		}
	}
	p.Context, err = f.context()
	problem(err)
	p.Paths, err = f.paths()
	problem(err)
	p.Sessions, err = f.sessions()
	problem(err)
	var errs []error
	p.Runs, errs = f.runs()
	for _, err := range errs {
		problem(err)
	}
	p.Deliverables, errs = f.deliverables(ctx, thorough)
	for _, err := range errs {
		problem(err)
	}
	if err := ctx.Err(); err != nil {
		return Project{}, err
	}
	credit(&p)
	p.Changed = f.changed(p)
	return p, nil
}

// changed is when anything of a project was last changed.
func (f *folder) changed(p Project) time.Time {
	var last time.Time
	later := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	for _, name := range []string{contextFile, pathsFile, sessionFile, deliverDir} {
		if info, err := f.root.Lstat(name); err == nil {
			later(info.ModTime())
		}
	}
	for _, r := range p.Runs {
		later(r.At)
	}
	for _, d := range p.Deliverables {
		if info, err := f.root.Lstat(path.Join(deliverDir, d.Path)); err == nil {
			later(info.ModTime())
		}
	}
	return last
}

type sessionList struct {
	Sessions []event.FlowID `json:"sessions"`
}

func (f *folder) sessions() ([]event.FlowID, error) {
	p, err := f.read(sessionFile, maxJSON)
	if err != nil || p == nil {
		return nil, err
	}
	var l sessionList
	err = f.decode(sessionFile, p, &l, `an object with "sessions", a list of ids`)
	return l.Sessions, err
}

// AddSession notes that a session has worked on a project.
func (s Store) AddSession(ctx context.Context, name string, id event.FlowID) error {
	return s.change(ctx, name, func(f *folder) error {
		have, err := f.sessions()
		if err != nil || slices.Contains(have, id) {
			return err
		}
		if len(have) >= maxSessions {
			have = have[1:] // the oldest; the log still knows
		}
		p, err := json.MarshalIndent(sessionList{append(have, id)}, "", "  ")
		if err != nil {
			return err
		}
		return f.rewrite(ctx, sessionFile, maxJSON, func([]byte) ([]byte, error) { return append(p, '\n'), nil })
	})
}
