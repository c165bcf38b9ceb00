package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/project"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const (
	atProjects Where = "projects"
	atProject  Where = "a project"
)

// projects are what conversations have worked on, with what came of it.
type projects struct{ picker }

// openProjects lists the projects. It reads the disk, so it is done outside the
// loop.
func (m *Model) openProjects() tea.Cmd {
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		all, err := c.Projects(ctx)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The projects cannot be listed: " + err.Error())
				return nil
			}
			m.open(newProjects(m, all))
			return nil
		}
	})
}

func newProjects(m *Model, all []project.Project) *projects {
	p := &projects{picker{where: atProjects, title: "Projects", full: true, browse: true,
		empty: "There are no projects yet: the agent you talk to makes one when it is asked to, or when work is to be kept."}}
	for _, x := range all {
		words := []string{plural(len(x.Deliverables), "deliverable"), plural(len(x.Runs), "run"), ago(m.o.Now(), x.Changed)}
		if x.Name == m.chat().Project && m.talks() {
			words = append([]string{"open here"}, words...)
		}
		if n := len(x.Problems); n > 0 {
			words = append(words, plural(n, "problem"))
		}
		p.rows = append(p.rows, pick{key: x.Name, text: x.Name, about: strings.Join(words, " · "), value: x})
	}
	p.preview = func(m *Model, r pick, width int) []string { return m.projectLines(r.value.(project.Project), width) }
	p.chosen = func(m *Model, r pick) tea.Cmd { return m.openOneProject(r.value.(project.Project)) }
	return p
}

// projectLines is a project at a glance.
func (m *Model) projectLines(x project.Project, width int) []string {
	t := &m.theme
	out := text.Wrap(t.Faint.Render(text.Clean(x.Dir)), width)
	for _, s := range x.Problems {
		out = append(out, text.Wrap(t.Warn.Render("! "+text.Clean(view.OneLine(s))), width)...)
	}
	section := func(name string, lines []string) {
		if len(lines) == 0 {
			return
		}
		out = append(out, "", t.Heading.Render(name))
		for _, l := range lines {
			out = append(out, text.Wrap(text.Clean(l), width)...)
		}
	}
	var files, paths, runs []string
	for _, d := range x.Deliverables {
		files = append(files, d.Path+"  "+deliverableWords(d))
	}
	for _, name := range slices.Sorted(maps.Keys(x.Paths)) {
		paths = append(paths, view.OneLine(name+"  "+x.Paths[name].Path+prefixed(": ", x.Paths[name].Desc)))
	}
	for _, r := range x.Runs[:min(len(x.Runs), 5)] {
		runs = append(runs, view.OneLine(fmt.Sprintf("%s, %s: %s", ago(m.o.Now(), r.At), r.Status, r.Description)))
	}
	section("Deliverables", files)
	section("Paths", paths)
	section("Newest runs", runs)
	return append(append(out, ""), markdown.Render(x.Context, width, m.theme)...)
}

// deliverableWords is how a deliverable stands.
func deliverableWords(d project.Deliverable) string {
	var out []string
	if n := len(d.Versions); n > 0 {
		out = append(out, fmt.Sprintf("version %d", d.Versions[0].N))
	} else {
		out = append(out, "never published")
	}
	switch {
	case d.Missing:
		return strings.Join(append(out, "removed by hand"), ", ")
	case d.Edited && len(d.Versions) > 0:
		out = append(out, "changed by hand since")
	}
	return strings.Join(append(out, size(d.Size)), ", ")
}

// oneProject is everything in a project.
type oneProject struct {
	picker
	project project.Project
	texts   map[string]loaded // of deliverables
}

// A projectItem is one thing of a project: one of its fields.
type projectItem struct {
	context     bool
	deliverable *project.Deliverable
	path        *project.Path
	run         *project.Run
}

func (m *Model) openOneProject(x project.Project) tea.Cmd {
	p := &oneProject{project: x, texts: map[string]loaded{}, picker: picker{where: atProject, title: "Project " + view.OneLine(x.Name), full: true, browse: true}}
	p.note = func(*Model) string { return x.Dir }
	add := func(key, words, about string, v projectItem) {
		p.rows = append(p.rows, pick{key: key, text: words, about: about, value: v})
	}
	add("context", "CONTEXT.md", "goals, decisions, constraints", projectItem{context: true})
	for i := range x.Deliverables {
		d := &x.Deliverables[i]
		add("deliverable/"+d.Path, d.Path, deliverableWords(*d), projectItem{deliverable: d})
	}
	for _, name := range slices.Sorted(maps.Keys(x.Paths)) {
		v := x.Paths[name]
		add("path/"+name, "→ "+name, v.Path, projectItem{path: &v})
	}
	for i := range x.Runs {
		r := &x.Runs[i]
		add("run/"+string(r.ID), "run, "+ago(m.o.Now(), r.At), string(r.Status)+prefixed(": ", r.Description), projectItem{run: r})
	}
	p.preview = func(m *Model, r pick, width int) []string { return p.lines(m, r.value.(projectItem), width) }
	p.moved = func(m *Model, r pick) tea.Cmd { return p.read(m, r.value.(projectItem)) }
	p.chosen = func(m *Model, r pick) tea.Cmd { return m.openItem(p, r.value.(projectItem)) }
	m.open(p)
	return p.told(m)
}

// lines is one thing of the project.
func (p *oneProject) lines(m *Model, x projectItem, width int) []string {
	t := &m.theme
	switch {
	case x.context:
		return markdown.Render(p.project.Context, width, m.theme)
	case x.deliverable != nil:
		out := []string{t.Dim.Render(text.Cut(deliverableWords(*x.deliverable), width))}
		if v := x.deliverable.Versions; len(v) > 0 && v[0].Note != "" {
			out = append(out, text.Wrap(t.Dim.Render(text.Clean(view.OneLine(v[0].Note))), width)...)
		}
		f := p.texts[x.deliverable.Path]
		if !f.there {
			return append(out, t.Dim.Render("reading…"))
		}
		return append(append(out, ""), fileLines(m, x.deliverable.Path, f, width)...)
	case x.path != nil:
		return append(bodyLines(x.path.Path, width), bodyLines(x.path.Desc, width)...)
	}
	r := x.run
	out := bodyLines(r.Description, width)
	out = append(out, text.Wrap(t.Dim.Render(text.Clean(view.OneLine(strings.Join([]string{string(r.ID), string(r.Status), r.Cost}, " · ")))), width)...)
	for _, name := range slices.Sorted(maps.Keys(r.Paths)) {
		out = append(out, text.Wrap(t.Faint.Render(text.Clean(view.OneLine(name+": "+r.Paths[name]))), width)...)
	}
	for _, d := range r.Deliverables {
		out = append(out, text.Wrap("deliverable: "+text.Clean(view.OneLine(d)), width)...)
	}
	return out
}

// fileLines is a file as it is read: markdown is drawn.
func fileLines(m *Model, name string, f loaded, width int) []string {
	switch {
	case !f.plain:
		return text.Wrap(m.theme.Dim.Render(text.Clean(f.text)), width)
	case strings.HasSuffix(strings.ToLower(name), ".md"):
		return markdown.Render(f.text, width, m.theme)
	}
	return bodyLines(f.text, width)
}

// read reads a deliverable once.
func (p *oneProject) read(m *Model, x projectItem) tea.Cmd {
	if x.deliverable == nil {
		return nil
	}
	path := x.deliverable.Path
	if _, known := p.texts[path]; known {
		return nil
	}
	p.texts[path] = loaded{}
	c, name := m.c, p.project.Name
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		f := loadDeliverable(ctx, c, name, path, 0)
		return func(*Model) tea.Cmd {
			p.texts[path] = f
			p.renew()
			return nil
		}
	})
}

// openItem opens one thing of a project.
func (m *Model) openItem(p *oneProject, x projectItem) tea.Cmd {
	switch {
	case x.context:
		m.open(&pager{title: "CONTEXT.md of " + view.OneLine(p.project.Name), raw: p.project.Context,
			lines: func(m *Model, width int) []string { return markdown.Render(p.project.Context, width, m.theme) }})
	case x.deliverable != nil:
		return m.openVersions(p.project, *x.deliverable)
	case x.path != nil:
		return m.openTree(place{words: "Files of " + view.OneLine(p.project.Name), dir: x.path.Path})
	default:
		return m.openProjectRun(x.run.ID)
	}
	return nil
}

// openProjectRun shows a run that a project has had.
func (m *Model) openProjectRun(id event.FlowID) tea.Cmd {
	if r, ok := m.session.Run(id); ok && m.talks() {
		m.closeAll()
		return m.openRun(r)
	}
	return m.turnTo(id)
}
