package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/project"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atVersions Where = "versions of a deliverable"

// versions are those of a deliverable, as it is now first.
type versions struct {
	picker
	project project.Project
	file    project.Deliverable
	texts   map[int]loaded
}

// loadDeliverable reads a version. It is called outside the loop.
func loadDeliverable(ctx context.Context, c Program, name, path string, n int) loaded {
	p, err := c.Deliverable(ctx, name, path, n)
	if err != nil {
		return loaded{text: err.Error(), there: true}
	}
	s, ok := fileText(p[:min(len(p), maxFile)], len(p) > maxFile)
	return loaded{text: s, plain: ok, there: true}
}

// openVersions lists the versions of a deliverable. Version zero is the file as it
// is, which somebody may have changed.
func (m *Model) openVersions(x project.Project, d project.Deliverable) tea.Cmd {
	v := &versions{project: x, file: d, texts: map[int]loaded{}, picker: picker{where: atVersions, title: view.OneLine(d.Path), full: true, browse: true}}
	v.note = func(*Model) string { return v.path() }
	if !d.Missing {
		about := size(d.Size)
		switch {
		case len(d.Versions) == 0:
			about += ", never published"
		case d.Edited:
			about += ", changed by hand since version " + fmt.Sprint(d.Versions[0].N)
		default:
			about += fmt.Sprintf(", version %d", d.Versions[0].N)
		}
		v.rows = append(v.rows, pick{key: "now", text: "now", about: about, value: 0})
	}
	for _, one := range d.Versions {
		by := one.By
		if one.Run != "" {
			by = "run " + string(one.Run)
		}
		about := ago(m.o.Now(), one.At) + ", " + size(one.Size) + prefixed(", by ", view.OneLine(by)) + prefixed(": ", view.OneLine(one.Note))
		v.rows = append(v.rows, pick{key: fmt.Sprint(one.N), text: fmt.Sprintf("version %d", one.N), about: about, value: one.N})
	}
	v.preview = func(m *Model, r pick, width int) []string {
		f := v.texts[r.value.(int)]
		if !f.there {
			return []string{m.theme.Dim.Render("reading…")}
		}
		out := text.Wrap(m.theme.Dim.Render(text.Clean(r.about)), width)
		return append(append(out, ""), fileLines(m, d.Path, f, width)...)
	}
	v.moved = func(m *Model, r pick) tea.Cmd { return v.read(m, r.value.(int), nil) }
	v.chosen = func(m *Model, r pick) tea.Cmd {
		return v.read(m, r.value.(int), func(m *Model, f loaded) tea.Cmd {
			m.open(&pager{title: d.Path + ", " + r.text, raw: f.text, lines: func(m *Model, width int) []string { return fileLines(m, d.Path, f, width) }})
			return nil
		})
	}
	m.open(v)
	return v.told(m)
}

// path is where the file is.
func (v *versions) path() string { return deliverablePath(v.project, v.file.Path) }

func deliverablePath(x project.Project, path string) string {
	return filepath.Join(x.Dir, "deliverables", filepath.FromSlash(path))
}

// read reads a version once, and then does something with it, if anything.
func (v *versions) read(m *Model, n int, then func(*Model, loaded) tea.Cmd) tea.Cmd {
	if f, known := v.texts[n]; known && (f.there || then == nil) {
		if then != nil {
			return then(m, f)
		}
		return nil
	}
	v.texts[n] = loaded{}
	c, name := m.c, v.project.Name
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		f := loadDeliverable(ctx, c, name, v.file.Path, n)
		return func(m *Model) tea.Cmd {
			v.texts[n] = f
			if v.renew(); then != nil && m.top() == Screen(v) {
				return then(m, f)
			}
			return nil
		}
	})
}

// before is the version before one; of the file as it is that is the newest one,
// or the one before if they are the same.
func (v *versions) before(n int) (int, bool) {
	all := v.file.Versions
	if n == 0 && len(all) > 0 && v.file.Edited {
		return all[0].N, true
	}
	if n == 0 && len(all) > 0 {
		n = all[0].N
	}
	for i, one := range all {
		if one.N == n && i+1 < len(all) {
			return all[i+1].N, true
		}
	}
	return 0, false
}

// versionName is a version in words.
func versionName(n int) string {
	if n == 0 {
		return "now"
	}
	return fmt.Sprintf("version %d", n)
}

// compareVersions shows what has changed from one version to another.
func (m *Model) compareVersions(v *versions, from, to int) tea.Cmd {
	return v.read(m, from, func(m *Model, a loaded) tea.Cmd {
		return v.read(m, to, func(m *Model, b loaded) tea.Cmd {
			if !a.plain || !b.plain {
				m.notify("That is not text: " + view.OneLine(a.text) + "; " + view.OneLine(b.text))
				return nil
			}
			m.compare(v.file.Path+": "+versionName(from)+" → "+versionName(to), a.text, b.text)
			return nil
		})
	})
}

// compareVersion has the person choose what to compare a version with.
func (m *Model) compareVersion(v *versions, n int) tea.Cmd {
	p := &picker{where: "a choice of versions", title: "Compare " + versionName(n) + " with", empty: "There is no other version."}
	for _, r := range v.rows {
		if r.value.(int) != n {
			p.rows = append(p.rows, r)
		}
	}
	p.chosen = func(m *Model, r pick) tea.Cmd {
		m.closeTop()
		return m.compareVersions(v, r.value.(int), n)
	}
	m.open(p)
	return nil
}

// editFile opens a file in the person's editor; then is what follows.
func (m *Model) editFile(file string, then func(*Model) tea.Cmd) tea.Cmd {
	command := editorCommand(os.Getenv, exec.LookPath)
	if len(command) == 0 {
		m.notify("There is no editor: say which in VISUAL or EDITOR.")
		return nil
	}
	cmd := exec.CommandContext(m.showing, command[0], append(command[1:], file)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience / 2
	cmd.Stdin, cmd.Stdout, cmd.Stderr = m.o.In, m.o.Out, m.o.Out
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The editor failed: " + err.Error())
			}
			return then(m)
		}
	})
}

// enterProject has the conversation work on a project.
func (m *Model) enterProject(name string) tea.Cmd {
	if why := inTalk(m); why != "" {
		m.notify(why)
		return nil
	}
	if m.chat().Project == name {
		m.notify(view.OneLine(name) + " is open here already.")
		return nil
	}
	m.closeAll()
	m.notify("Opening " + view.OneLine(name) + ".")
	return m.send(m.id, fact(event.Opened{Project: name, By: by}), "Not opened", nil)
}

// chosenProject is the project that is looked at, and the file of it that is
// chosen.
func (m *Model) chosenProject() (x project.Project, file string, ok bool) {
	switch s := m.top().(type) {
	case *projects:
		p, ok := s.current()
		if !ok {
			return x, "", false
		}
		x = p.value.(project.Project)
		return x, x.Dir, true
	case *oneProject:
		p, _ := s.current()
		file = s.project.Dir
		switch v, _ := p.value.(projectItem); {
		case v.context:
			file = filepath.Join(file, "CONTEXT.md")
		case v.deliverable != nil:
			file = deliverablePath(s.project, v.deliverable.Path)
		case v.path != nil:
			file = v.path.Path
		case v.run != nil:
			file = filepath.Join(file, "runs", string(v.run.ID))
		}
		return s.project, file, true
	case *versions:
		return s.project, s.path(), true
	}
	return x, "", false
}

func projectActions() []Action {
	with := func(do func(m *Model, x project.Project, file string) tea.Cmd) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd {
			x, file, ok := m.chosenProject()
			if !ok {
				m.notify("There is no project to do that with.")
				return nil
			}
			return do(m, x, file)
		}
	}
	version := func(do func(m *Model, v *versions, n int) tea.Cmd) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd {
			if v, ok := m.top().(*versions); ok {
				if p, ok := v.current(); ok {
					return do(m, v, p.value.(int))
				}
			}
			m.notify("There is no version to do that with.")
			return nil
		}
	}
	here := with(func(m *Model, x project.Project, _ string) tea.Cmd { return m.enterProject(x.Name) })
	path := with(func(m *Model, _ project.Project, file string) tea.Cmd { return m.copyPath(file) })
	edit := with(func(m *Model, x project.Project, file string) tea.Cmd {
		if file == x.Dir {
			file = filepath.Join(x.Dir, "CONTEXT.md")
		}
		return m.editFile(file, func(m *Model) tea.Cmd { m.closeAll(); return m.openProjects() })
	})
	var out []Action
	for _, w := range []struct {
		at   Where
		name string
		why  string
	}{{atProjects, "projects", "Open the projects first."}, {atProject, "project", "Open a project first."}, {atVersions, "versions", "Open a deliverable first."}} {
		out = append(out,
			Action{Name: w.name + "_here", Keys: []string{"o"}, Where: w.at, Title: "work on it", Hint: 2, Why: on(w.at, w.why), About: "Have this conversation work on the project", Do: here},
			Action{Name: w.name + "_path", Keys: []string{"y"}, Where: w.at, Title: "copy its path", Hint: 3, Why: on(w.at, w.why), About: "Copy the path of what is chosen", Do: path},
			Action{Name: w.name + "_edit", Keys: []string{"e"}, Where: w.at, Title: "edit", Hint: 4, Why: on(w.at, w.why), About: "Open what is chosen in your own editor ($VISUAL, $EDITOR): of a project, its CONTEXT.md", Do: edit},
		)
	}
	why := on(atVersions, "Open a deliverable first.")
	return append(out,
		Action{Name: "version_changes", Keys: []string{"d"}, Where: atVersions, Title: "what changed", Hint: 2, Why: why, About: "What changed since the version before",
			Do: version(func(m *Model, v *versions, n int) tea.Cmd {
				before, ok := v.before(n)
				if !ok {
					m.notify("There is no version before this one.")
					return nil
				}
				return m.compareVersions(v, before, n)
			})},
		Action{Name: "version_compare", Keys: []string{"x", "D", "shift+d"}, Where: atVersions, Title: "compare", Hint: 3, Why: why, About: "How it differs from another version, which you choose",
			Do: version((*Model).compareVersion)},
	)
}
