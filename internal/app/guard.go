package app

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/config"
	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/project"
)

// guard keeps agents from what the program will go by the next time: the
// configuration of the run, the programs it starts outside any sandbox, and the
// folders of the user's own settings and of what the user has said they know,
// whether those are there or not.
func (a *App) guard(paths []event.ContextPath, file string, seats []event.Seat) {
	kept := append([]string{userState()}, a.programs(seats)...)
	if dir, ok := config.UserDir(); ok {
		kept = append(kept, dir)
	}
	if file != "" {
		kept = append(kept, file)
	}
	for _, k := range kept {
		protect(paths, named(k))
	}
}

// guardVersions keeps agents from the versions of what was published in a workspace
// of sessions.
func guardVersions(paths []event.ContextPath, workspace string) {
	for _, dir := range (project.Store{Dir: workspace}).Kept() {
		protect(paths, dir)
	}
}

// programs are the files that the commands of MCP servers name, and the agents that
// are programs themselves.
func (a *App) programs(seats []event.Seat) []string {
	var out []string
	for _, s := range seats {
		var p backend.Program
		if _, ok := config.FindProgram(s.Backend); ok && json.Unmarshal(s.Options, &p) == nil {
			if at, err := locate(p, inImage(s)); err == nil {
				out = append(out, at.files...)
			}
		}
		var g gear.Gear
		if len(s.Gear) == 0 || json.Unmarshal(s.Gear, &g) != nil {
			continue
		}
		for _, server := range g.Servers {
			for i, word := range server.Command {
				if i == 0 && filepath.Base(word) == word {
					continue // looked for in PATH
				}
				if !filepath.IsAbs(word) {
					word = filepath.Join(cmp.Or(server.Dir, a.dir), word)
				}
				if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
					out = append(out, word)
				}
			}
		}
	}
	return out
}

// protect keeps a path inside writable ones as it is; what is itself such a path,
// or holds it, is only read.
func protect(paths []event.ContextPath, path string) {
	for i := range paths {
		p := &paths[i]
		if !p.Write {
			continue
		}
		if out, err := filepath.Rel(path, p.Path); err == nil && filepath.IsLocal(out) {
			p.Write = false
			continue
		}
		in, err := filepath.Rel(p.Path, path)
		if err == nil && filepath.IsLocal(in) && !slices.Contains(p.Protected, in) {
			p.Protected = append(slices.Clip(p.Protected), in)
		}
	}
}

// named is a path by its own name in the folder where it really is.
func named(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return abs
	}
	return filepath.Join(dir, filepath.Base(abs))
}
