package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// coordinateButton leads to all agents, without the one that is talked to.
const coordinateButton = "[Coordinate]"

// contextBar is the line above the input in a conversation with one agent: the
// project, how its run stands, what it has cost, how full the agent's window is,
// and the way to all agents. It stands where the mode bar does elsewhere.
func (m *Model) contextBar(w int) string {
	t := &m.theme
	room := w - 3 - text.Width(coordinateButton)
	beside := room - text.Width(m.projectWords()) - 3
	if beside < 16 {
		beside = room // the status is worth more
	}
	status, style := m.runStatus(min(beside, max(w/3, 24)))
	all := []figure{{1, m.projectWords()}, {0, status}}
	if m.session.Bar().Waived {
		all = append(all, figure{2, "auto-approve"})
	}
	all = append(all, m.talkNumbers()...)
	var line string
	words := figures(all, room)
	if before, after, found := strings.Cut(words, status); found {
		line = t.Dim.Render(before) + style.Render(status) + t.Dim.Render(after)
	} else {
		line = style.Render(text.Cut(words, max(room, 0)))
	}
	line = " " + text.Cut(line, max(room, 0))
	if room < 4 {
		return text.Cut(line, w)
	}
	line += text.Spaces(w - 1 - text.Width(line) - text.Width(coordinateButton))
	if m.coordinateWhy() != "" {
		return line + t.Locked.Render(coordinateButton) + " "
	}
	return line + t.Key.Render(coordinateButton) + " "
}

// contextZones makes the button clickable.
func (m *Model) contextZones(y, w int) {
	n := text.Width(coordinateButton)
	if w-3-n < 4 {
		return
	}
	m.clickable(w-1-n, y, n, 1, func(m *Model, _, _ int) tea.Cmd {
		a, _ := m.byName("coordinate")
		return m.run(a, "")
	})
}

// projectWords name the project that is open.
func (m *Model) projectWords() string {
	if p := view.OneLine(m.chat().Project); p != "" {
		return "Project: " + text.Cut(p, 24)
	}
	return view.NoProject
}

// runStatus is how the run of the conversation stands, in words.
func (m *Model) runStatus(w int) (string, lipgloss.Style) {
	t := &m.theme
	b := m.session.Bar()
	words := b.Words(m.texts.of(b.Task), max(w, 4))
	switch {
	case m.stalled():
		return "STOPPED (F9 goes on)", t.Warn
	case b.Status == view.RunsRunning:
		return words, t.Accent
	case len(m.gates()) > 0 && b.Doing != view.SessionAwaiting:
		return "Waiting for you", t.Warn
	case b.Doing == view.SessionAwaiting:
		return words, t.Warn
	case b.Status == view.RunsComplete:
		return words, t.Good
	}
	return words, t.Dim
}

// talkNumbers is what the conversation and its runs have cost, each for itself,
// and how full the agent's window is.
func (m *Model) talkNumbers() []figure {
	var out []figure
	add := func(rank int, format string, args ...any) {
		out = append(out, figure{rank, fmt.Sprintf(format, args...)})
	}
	b := m.session.Bar()
	if b.Talk.Tokens() > 0 || b.Unpriced > 0 {
		add(4, "chat %s", costWords(b.Talk.Cost, b.Unpriced))
	}
	if runs := m.runsCost(); runs.Tokens() > 0 {
		add(4, "runs %s", runs.Cost)
	}
	if b.Window > 0 && b.Filled > 0 {
		add(5, "context %d%%", 100*b.Filled/int64(b.Window))
	}
	return out
}

// runsCost is what the runs have used, the one that goes on included.
func (m *Model) runsCost() event.Usage {
	u := m.session.Usage
	if s := m.story; s != nil && s.id == m.session.Running {
		u = u.Add(s.cost.Total.Usage)
	}
	return u
}
