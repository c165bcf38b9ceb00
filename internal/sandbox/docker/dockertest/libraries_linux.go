package dockertest

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// libraries are the files a program needs to start: its loader and what that
// looks for, in the folders where that looks. A static program needs none.
func libraries(program string) ([]string, error) {
	loader, names, err := needs(program)
	if err != nil || loader == "" {
		return nil, err
	}
	out := []string{loader}
	dirs := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	more, _ := filepath.Glob("/lib/*-linux-gnu*")
	dirs = append(more, dirs...)
	have := map[string]bool{filepath.Base(loader): true}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if have[name] {
			continue
		}
		have[name] = true
		at, err := find(name, dirs)
		if err != nil {
			return nil, fmt.Errorf("%s needs %w", program, err)
		}
		_, further, err := needs(at)
		if err != nil {
			return nil, err
		}
		out, names = append(out, at), append(names, further...)
	}
	return out, nil
}

// needs are the loader of a program or library, and the libraries it names.
func needs(file string) (loader string, names []string, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b, err := io.ReadAll(p.Open())
			if err != nil {
				return "", nil, err
			}
			loader = strings.TrimRight(string(b), "\x00")
		}
	}
	names, err = f.ImportedLibraries()
	return loader, names, err
}

func find(name string, dirs []string) (string, error) {
	for _, dir := range dirs {
		if at := filepath.Join(dir, name); exists(at) {
			return at, nil
		}
	}
	return "", fmt.Errorf("%s, which is in none of %q", name, dirs)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
