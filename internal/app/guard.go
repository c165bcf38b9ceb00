package app

import (
	"path/filepath"
	"slices"

	"conclave/internal/config"
	"conclave/internal/event"
)

// guard keeps agents from what the program will go by the next time: the
// configuration of the run, and the folders of the user's own settings and of
// what the user has said they know, whether those are there or not.
func guard(paths []event.ContextPath, file string) {
	kept := []string{userState()}
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
