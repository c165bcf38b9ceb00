package tui

import (
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/project"
)

// archive is a window on a conversation with projects.
func archive(t testing.TB, w, h int) (*play, *bureau) {
	p, b := desk(t, w, h)
	p.archived(b)
	return p, b
}

func (p *play) archived(b *bureau) {
	p.concluded()
	b.projects = []project.Project{{
		Name: "sorting", Dir: "/ws/projects/sorting", Context: "# Sorting\n\nGoal: the **fastest** sort.\n", Changed: p.now.Add(-time.Hour),
		Paths: map[string]project.Path{"source": {Path: "/code/src", Desc: "what is to be sorted"}},
		Runs:  []project.Run{{ID: "run-7", Description: "Compare the sorts", Status: event.StatusSuccess, At: p.now.Add(-2 * time.Hour), Cost: "$0.40"}},
		Deliverables: []project.Deliverable{
			{Path: "report.md", Size: 40, Edited: true, Versions: []project.Version{
				{N: 2, At: p.now.Add(-time.Hour), Size: 30, Run: "run-7", Note: "with numbers"}, {N: 1, At: p.now.Add(-3 * time.Hour), Size: 20, By: "max"}}},
			{Path: "logo.png", Missing: true, Versions: []project.Version{{N: 1}}},
		},
		Problems: []string{"filepaths.json:3:1: it is not JSON"},
	}, {Name: "garden", Dir: "/ws/projects/garden", Changed: p.now.Add(-50 * time.Hour)}}
	b.content = map[string]string{"sorting/report.md/0": "# Report\nfinal\nby hand\n", "sorting/report.md/2": "# Report\nfinal\n", "sorting/report.md/1": "# Report\ndraft\n"}
	p.press(tea.KeyPressMsg{Code: tea.KeyF10})
}

// IM-12.2, IM-12.4: projects, what is in each, and the deliverables in all their
// versions with what changed between them.
func TestProjectsBrowser(t *testing.T) {
	p, b := archive(t, 120, 30)
	p.see("sorting  2 deliverables · 1 run · 1h ago", "garden", "Goal: the fastest sort.", "report.md  version 2, changed by hand since, 40 B", "source /code/src: what is to be sorted",
		"Compare the sorts", "! filepaths.json:3:1: it is not JSON")
	p.press(key("enter"))
	p.see("Project sorting", "CONTEXT.md", "report.md", "→ source", "run, 2h ago")
	p.press(key("j"))
	p.see("by hand", "changed by hand since")
	p.press(key("y"))
	p.see("Copied: /ws/projects/sorting/deliverables/report.md")
	p.press(key("enter"))
	p.see("now", "version 2", "version 1", "by run run-7: with", "by max")
	p.press(key("d"))
	p.see("report.md: version 2 → now", "1 line added, 0 removed", "by hand")
	p.press(key("esc"), key("j"), key("d"))
	p.see("version 1 → version 2", "draft", "final")
	p.press(key("esc"), key("x"))
	p.see("Compare version 2 with")
	p.press(key("enter"))
	p.see("now → version 2")
	p.press(key("esc"), key("enter"))
	p.see("report.md, version 2", "final")
	p.press(key("esc"), key("o"))
	if last := b.sent[len(b.sent)-1]; last.Body != (event.Opened{Project: "sorting", By: by}) || p.top() != nil {
		t.Errorf("sent %+v", last)
	}
	p.see("Opening sorting.")
}

// A deliverable is opened in the person's own editor where it is.
func TestProjectEditor(t *testing.T) {
	t.Setenv("VISUAL", "true")
	t.Setenv("EDITOR", "")
	p, _ := archive(t, 80, 24)
	p.press(key("enter"), key("j"))
	if cmd := p.update(key("e")); cmd == nil {
		t.Error("no editor is opened")
	}
	for _, v := range []string{"VISUAL", "EDITOR"} {
		os.Unsetenv(v)
	}
	t.Setenv("PATH", "")
	p.press(key("e"))
	p.see("There is no editor")
}

// Everything fits, with no projects too.
func TestProjectsFit(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		p, b := archive(t, size[0], size[1])
		for _, k := range []string{"enter", "j", "enter", "d"} {
			if why := Misfit(p.Model.View().Content, size[0], size[1]); why != "" {
				t.Errorf("%v before %s: %s\n%s", size, k, why, p.screen())
			}
			p.press(key(k))
		}
		p.closeAll()
		b.projects = nil
		p.press(tea.KeyPressMsg{Code: tea.KeyF10})
		p.see("There are no projects yet")
	}
}
