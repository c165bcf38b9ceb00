package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atTasks Where = "task plans"

// newTasks is the plan of its work that each agent keeps.
func newTasks(m *Model) Screen {
	p := &picker{
		where: atTasks, title: "Task plans", full: true, browse: true, fill: taskRows, note: taskNote,
		empty: "No agent keeps a plan of its work.",
	}
	p.preview = func(m *Model, p pick, width int) []string { return m.taskLines(p.value.(task), width) }
	p.chosen = func(m *Model, p pick) tea.Cmd {
		t := p.value.(task)
		m.open(&pager{title: "A task of " + m.nameOf(t.of.Agent), lines: func(m *Model, width int) []string { return m.taskLines(t, width) }})
		return nil
	}
	return p
}

// A task is one row.
type task struct {
	of view.TaskList
	view.TaskLine
}

func taskRows(m *Model) []pick {
	var out []pick
	for _, l := range m.shown().tasks.Agents {
		who := m.cell(string(l.Agent), 10)
		for _, t := range l.Tasks {
			out = append(out, pick{key: string(l.Agent) + "/" + t.ID, text: who + " " + taskMark(t.Status) + " " + oneLine(t.Text), about: taskWords(t.Status), value: task{l, t}})
		}
	}
	return out
}

func taskNote(m *Model) string {
	var out []string
	for _, l := range m.shown().tasks.Agents {
		if l.Total > 0 {
			out = append(out, fmt.Sprintf("%s %d of %d done", l.Agent, l.Done, l.Total))
		}
	}
	return strings.Join(out, " · ")
}

func taskMark(s view.TaskStatus) string {
	switch s {
	case view.TaskActive:
		return "●"
	case view.TaskDone:
		return "✓"
	case view.TaskVerified:
		return "✔"
	case view.TaskBlocked:
		return "◌"
	}
	return "○"
}

func taskWords(s view.TaskStatus) string {
	switch s {
	case view.TaskActive:
		return "in progress"
	case view.TaskDone:
		return "done"
	case view.TaskVerified:
		return "done and looked at again"
	case view.TaskBlocked:
		return "waits for another"
	}
	return "to do"
}

func (m *Model) taskLines(t task, width int) []string {
	out := text.Wrap(m.theme.Heading.Render(text.Clean(m.nameOf(t.of.Agent)+", "+taskWords(t.Status))), width)
	out = append(out, bodyLines(t.Text, width)...)
	add := func(what, s string) {
		if s != "" {
			out = append(out, text.Wrap(m.theme.Dim.Render(what+": "+text.Clean(oneLine(s))), width)...)
		}
	}
	add("id", t.ID)
	add("after", strings.Join(t.Needs, ", "))
	add("priority", t.Priority)
	add("notes", t.Notes)
	return out
}
