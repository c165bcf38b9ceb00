package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A toggle is one switch of the mode bar.
type toggle struct {
	action string
	label  string
	on     bool
}

// barRoom is how wide the window must be for the switches to have all their
// words.
const barRoom = 60

// toggles are the switches as they stand. While agents execute they show what is
// going on and not what was chosen for later.
func (m *Model) toggles(w int) []toggle {
	modes := m.modes
	plan, agents, refine := "Plan: off", "Agents: all", "Refine: on"
	if modes.Plan {
		plan = "Plan: on"
	}
	if modes.Single {
		agents = "Agents: " + text.Clean(string(m.single())) + " alone"
	}
	if modes.Quick {
		refine = "Refine: off"
	}
	if w < barRoom {
		plan, refine = strings.Replace(plan, "Plan: ", "P:", 1), strings.Replace(refine, "Refine: ", "R:", 1)
		agents = "A:" + strings.TrimSuffix(strings.TrimPrefix(agents, "Agents: "), " alone")
	}
	return []toggle{
		{"plan", plan, modes.Plan},
		{"agents", text.Cut(agents, max(w/3, 6)), modes.Single},
		{"refine", refine, modes.Quick},
	}
}

// modeBar is the line of switches above the input.
func (m *Model) modeBar(w int) string {
	locked := m.locked() != ""
	var cells []string
	for _, t := range m.toggles(w) {
		style := m.theme.Dim
		switch {
		case locked:
			style = m.theme.Locked
		case t.on:
			style = m.theme.Accent
		}
		cells = append(cells, style.Render(t.label))
	}
	line := " " + strings.Join(cells, m.theme.Border.Render(" │ "))
	if locked && w >= barRoom {
		line += m.theme.Locked.Render(" (locked)")
	}
	if status := m.planStatus(); status != "" {
		line += "  " + m.theme.Warn.Render(status)
	}
	if room := w - text.Width(line); room > 8 {
		right := text.Cut(m.standing(), room-2)
		line += text.Spaces(room-text.Width(right)-1) + m.standingStyle().Render(right)
	}
	return text.Cut(line, w)
}

// modeZones makes the switches clickable.
func (m *Model) modeZones(y, w int) {
	x := 1
	for _, t := range m.toggles(w) {
		n := text.Width(t.label)
		if x+n > w {
			return
		}
		m.clickable(x, y, n, 1, func(m *Model, _, _ int) tea.Cmd {
			a, _ := m.byName(t.action)
			return m.run(a, "")
		})
		x += n + 3
	}
}

// locked is why the modes cannot be changed now.
func (m *Model) locked() string {
	if m.talks() {
		return "There are no modes here: say how it is to be done, or press Coordinate."
	}
	if m.situation() == Running || m.situation() == Gate {
		return "The modes are locked while agents are at work."
	}
	return ""
}

// planStatus says what a plan is waiting for or being used for.
func (m *Model) planStatus() string {
	for _, g := range m.gates() {
		if g.Kind == event.GatePlan {
			return "Plan waits for your review"
		}
	}
	if m.story != nil && m.story.started.Spec.Plan != "" && m.busy() {
		return "Executing plan"
	}
	if m.story != nil && m.story.started.Rules.Planning && m.busy() {
		return "Planning"
	}
	return ""
}

// standing is how things are, and whom messages go to, for the right end of the
// mode bar.
func (m *Model) standing() string {
	switch m.situation() {
	case Gate:
		return "waiting for you"
	case Running:
		return m.progress()
	case Finished:
		if m.story != nil {
			return string(m.story.card.Status)
		}
	}
	return ""
}

// progress is what a run does, in a word or two.
func (m *Model) progress() string {
	s := m.story
	if m.stalled() {
		return "STOPPED (F9 goes on)"
	}
	if s == nil || s.card.Phase == view.PhaseNone || s.over() {
		return "starting"
	}
	to := ", messages to all"
	if a := cmp.Or(m.alone(), m.target()); a != "" {
		to = ", messages to " + text.Clean(string(a))
	}
	switch {
	case s.card.Phase == view.PhaseEnding:
		return "stopping, keeping what there is"
	case s.card.Paused:
		return "PAUSED (F9 goes on)"
	case s.wrapping:
		return "coming to an end" + to
	}
	return string(s.card.Phase) + to
}

func (m *Model) standingStyle() lipgloss.Style {
	if m.situation() == Gate || m.stalled() || m.story != nil && m.story.card.Paused && m.busy() {
		return m.theme.Warn
	}
	return m.theme.Faint
}

func modeActions() []Action {
	locked := func(m *Model) string { return m.locked() }
	return []Action{
		{Name: "plan", Command: true, Keys: []string{"shift+tab"}, Where: Anywhere, Title: "plan mode", Hint: 4, Why: locked,
			About: "Plan first: what you say next makes a plan that you approve before anything is done",
			Do: func(m *Model, _ string) tea.Cmd {
				m.modes.Plan = !m.modes.Plan
				m.notifyNow(onOff("Plan mode", m.modes.Plan, "what you say next makes a plan for you to approve", "what you say next is done at once"))
				return nil
			}},
		{Name: "agents", Command: true, Aliases: []string{"single", "multi"}, Keys: []string{"alt+g"}, Where: Anywhere, Title: "one agent or all", Why: locked,
			About: "One agent alone, chosen by its tab, or all of them", Args: "[AGENT|all]",
			Do: (*Model).switchAgents},
		{Name: "refine", Command: true, Keys: []string{"alt+e"}, Where: Anywhere, Title: "refinement", Why: locked,
			About: "Whether agents read each other, refine and vote, or give one answer each",
			Do: func(m *Model, _ string) tea.Cmd {
				m.modes.Quick = !m.modes.Quick
				m.notifyNow(onOff("Refinement", !m.modes.Quick, "agents read each other, refine and vote", "one answer each; with several agents one of them makes one answer of all"))
				return nil
			}},
	}
}

func onOff(what string, on bool, yes, no string) string {
	if on {
		return what + " is on: " + yes + "."
	}
	return what + " is off: " + no + "."
}

// switchAgents goes over to one agent, or back to all.
func (m *Model) switchAgents(args string) tea.Cmd {
	if args != "" && args != "all" && args != "multi" {
		for i, a := range m.team.Agents {
			if string(a.ID) == args {
				m.modes.Single, m.modes.Agent = true, a.ID
				m.notifyNow(args + " works alone on what you say next.")
				m.tab = min(i+1, len(m.agents()))
				return nil
			}
		}
		m.notify("There is no agent " + args + ".")
		return nil
	}
	if m.modes.Single || args == "all" || args == "multi" {
		m.modes.Single, m.modes.Agent = false, ""
		m.notifyNow("All agents work on what you say next.")
		return nil
	}
	m.modes.Single, m.modes.Agent = true, m.active()
	if m.modes.Agent == "" {
		m.modes.Agent = m.single()
	}
	m.notifyNow(string(m.modes.Agent) + " works alone on what you say next; choose another by its tab.")
	return nil
}
