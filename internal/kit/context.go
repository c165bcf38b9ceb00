package kit

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/confine"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/prompt"
)

// guarded are the names in a folder of ours or of the user's that stay as they
// are.
func guarded(dir string) []string {
	var out []string
	for _, n := range policy.GuardedNames() {
		out = append(out, filepath.Join(dir, n))
	}
	return out
}

// context is a context path as a mount.
func (s *Workshop) context(c event.ContextPath, write bool) policy.Mount {
	m := s.mount(policy.Mount{Path: c.Path, Write: c.Write && write})
	if len(m.Hidden) == 0 {
		return m // a file
	}
	for _, p := range c.Protected {
		if !filepath.IsAbs(p) {
			p = filepath.Join(c.Path, p)
		}
		m.Protected = append(m.Protected, filepath.Clean(p))
	}
	return m
}

// mount keeps from an agent what is not for it in a folder of the user's: the
// program's own state, which holds the log and the other agents' workspaces; and
// the repositories in it, whose hooks and settings are run by whoever uses them.
func (s *Workshop) mount(m policy.Mount) policy.Mount {
	if info, err := os.Stat(m.Path); err != nil || !info.IsDir() {
		return m
	}
	m.Protected = guarded(m.Path)
	m.Hidden = []string{filepath.Join(m.Path, ".conclave")}
	for _, p := range s.inner(m.Path) {
		m.Protected = append(m.Protected, p)
		if filepath.Base(p) == ".conclave" {
			m.Hidden = append(m.Hidden, p)
		}
	}
	if rel, err := filepath.Rel(m.Path, s.State); err == nil && filepath.IsLocal(rel) && !slices.Contains(m.Hidden, s.State) {
		m.Hidden = append(m.Hidden, s.State)
	}
	return m
}

// inner are the guarded names further down in a folder, as they were when a turn
// of the run first came to it: what agents make after that is theirs. Links are
// left out, for no sandbox can keep one.
func (s *Workshop) inner(dir string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.guarded[dir]; ok {
		return found
	}
	var found []string
	// What cannot be read has nothing in it for an agent either.
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && e != nil && e.IsDir() || path == s.State:
			return fs.SkipDir
		case err != nil || !slices.Contains(policy.GuardedNames(), e.Name()):
			return nil
		case e.Type()&fs.ModeSymlink == 0 && filepath.Dir(path) != dir:
			found = append(found, path)
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if s.guarded == nil {
		s.guarded = map[string][]string{}
	}
	s.guarded[dir] = found
	return found
}

// paths tells the agent of the user's files.
func (h *hand) paths() []prompt.Path {
	var out []prompt.Path
	for _, c := range h.kit.shop.Spec.ContextPaths {
		m := h.kit.shop.context(c, h.writes())
		out = append(out, prompt.Path{Path: c.Path, Write: m.Write, Protected: c.Protected})
	}
	return out
}

const (
	// instructionsMax is how much of one file of instructions is taken in, and
	// instructionsAll how much of all of them.
	instructionsMax = 32 << 10
	instructionsAll = 96 << 10
)

// instructions are the files in which a project says how to work in it. Where
// one is a link to the other it is taken once.
func instructions(r *confine.Root, paths []prompt.Path) []prompt.Text {
	var out []prompt.Text
	seen, room := map[string]bool{}, instructionsAll
	for _, p := range paths {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			file := filepath.Join(p.Path, name)
			f, err := r.Open(file)
			if err != nil {
				continue
			}
			buf := make([]byte, min(instructionsMax, room)+1)
			n := readFull(f, buf)
			_ = f.Close()
			text := strings.TrimSpace(strings.ToValidUTF8(string(buf[:n]), "�"))
			if n == len(buf) {
				text += "\n[cut off here; read " + file + " for the rest]"
			}
			if text == "" || seen[text] {
				continue
			}
			seen[text] = true
			out = append(out, prompt.Text{Name: file, Text: text})
			if room -= n; room <= 0 {
				return out
			}
		}
	}
	return out
}

func readFull(f *os.File, buf []byte) int {
	n := 0
	for n < len(buf) {
		k, err := f.Read(buf[n:])
		n += k
		if err != nil {
			break
		}
	}
	return n
}
