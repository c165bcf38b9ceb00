package kit

import (
	"os"
	"path/filepath"
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
	m := policy.Mount{Path: c.Path, Write: c.Write && write}
	if info, err := os.Stat(c.Path); err != nil || !info.IsDir() {
		return m
	}
	m.Protected = guarded(c.Path)
	for _, p := range c.Protected {
		if !filepath.IsAbs(p) {
			p = filepath.Join(c.Path, p)
		}
		m.Protected = append(m.Protected, filepath.Clean(p))
	}
	// The program's own state holds the log and the other agents' workspaces.
	m.Hidden = []string{filepath.Join(c.Path, ".conclave")}
	if rel, err := filepath.Rel(c.Path, s.State); err == nil && filepath.IsLocal(rel) && s.State != m.Hidden[0] {
		m.Hidden = append(m.Hidden, s.State)
	}
	return m
}

// paths tells the agent of the user's files.
func (h *hand) paths() []prompt.Path {
	var out []prompt.Path
	for _, c := range h.kit.shop.Spec.ContextPaths {
		m := h.kit.shop.context(c, h.need.Write && !h.need.Planning)
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
			if room -= n; room <= 0 {
				return out
			}
			out = append(out, prompt.Text{Name: file, Text: text})
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
