package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/examples/teams"
	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
)

// A described team is a description and where it is from: file is empty for one
// that comes with the program, and own marks one of the project's, which is the
// word of whoever wrote the project.
type described struct {
	*config.Team
	file string
	own  bool
}

// teamDirs are where descriptions of teams are looked for, the first of which
// counts most.
func (a *App) teamDirs() []string {
	out := []string{a.state("teams")}
	if dir, ok := config.UserDir(); ok {
		out = append(out, filepath.Join(dir, "teams"))
	}
	return out
}

// TeamKinds implements [control.Teams].
func (a *App) TeamKinds(context.Context) ([]control.TeamKind, error) {
	var out []control.TeamKind
	add := func(name string, d described, err error) {
		if slices.ContainsFunc(out, func(k control.TeamKind) bool { return k.Name == name }) {
			return
		}
		k := control.TeamKind{Name: name, File: d.file}
		if err != nil {
			k.Problem = err.Error()
		} else {
			k.Title, k.About = cmp.Or(d.Title, name), strings.TrimSpace(d.About)
			for _, r := range d.Roles {
				k.Roles = append(k.Roles, r.Name)
			}
		}
		out = append(out, k)
	}
	for i, dir := range a.teamDirs() {
		for _, file := range yamlFiles(os.DirFS(dir), dir) {
			d, err := a.loadTeam(file, i == 0)
			d.file = file
			add(stem(file), d, err)
		}
	}
	for _, file := range yamlFiles(teams.Files, "") {
		d, err := builtIn(stem(file))
		add(stem(file), d, err)
	}
	slices.SortStableFunc(out, func(x, y control.TeamKind) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// yamlFiles are the descriptions in a folder; none if it is not there.
func yamlFiles(in fs.FS, dir string) []string {
	entries, _ := fs.ReadDir(in, ".")
	var out []string
	for _, e := range entries {
		if ext := path.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// stem is what a description is called by: its file.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// builtIn is a description that comes with the program.
func builtIn(name string) (described, error) {
	src, err := teams.Files.ReadFile(name + ".yaml")
	if err != nil {
		return described{}, err
	}
	t, err := config.ParseTeam(name+".yaml", src)
	return described{Team: t}, err
}

// loadTeam reads a description. One that came with the project does nothing to the
// user before they have said that they know it.
func (a *App) loadTeam(file string, own bool) (described, error) {
	t, err := config.LoadTeam(file)
	if err != nil {
		return described{}, &control.Usage{Err: err}
	}
	d := described{Team: t, file: file, own: own}
	if own {
		err = a.trusted(file, d.risky())
	}
	return d, err
}

// risky is what of a description matters to whoever runs it, as a configuration.
func (d described) risky() *config.File {
	f := &config.File{Path: d.Path, Sum: d.Sum, Agents: d.Agents, Settings: config.Settings{ContextPaths: d.ContextPaths}}
	if d.Source != "" {
		f.Settings.ContextPaths = append(slices.Clip(f.Settings.ContextPaths), event.ContextPath{Path: d.Source})
	}
	return f
}

// describedTeam finds the description that is meant: a file, or a name.
func (a *App) describedTeam(ctx context.Context, typed string) (described, error) {
	if typed == "" {
		return described{}, control.Usagef("which team? See: conclave team list --kinds")
	}
	if strings.ContainsRune(typed, '/') || path.Ext(typed) == ".yaml" || path.Ext(typed) == ".yml" {
		file, there := a.resolve(typed)
		if !there {
			return described{}, control.Usagef("the description %s does not exist; paths begin in %s", typed, a.dir)
		}
		return a.loadTeam(file, filepath.Dir(file) == a.state("teams"))
	}
	for i, dir := range a.teamDirs() {
		for _, file := range yamlFiles(os.DirFS(dir), dir) {
			if stem(file) == typed {
				return a.loadTeam(file, i == 0)
			}
		}
	}
	d, err := builtIn(typed)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	kinds, err := a.TeamKinds(ctx)
	if err != nil {
		return d, err
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return d, control.Usagef("there is no team %q; there are: %s. A file is named with its ending: %[1]s.yaml", typed, strings.Join(names, ", "))
}
