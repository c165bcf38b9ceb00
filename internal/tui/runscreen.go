package tui

import (
	tea "charm.land/bubbletea/v2"

	"conclave/internal/launch"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A run of a conversation with one agent is shown as runs are shown anywhere: its
// agents' tabs and timelines, votes, browsers, questions and messages. It has a
// title of its own, and a way back.

// buttonBack goes back to the conversation.
const buttonBack = "[Back]"

// inRun reports whether a run of a conversation with one agent is what is seen.
func (m *Model) inRun() bool { return m.talks() && m.past != nil }

// openRun shows a run of the conversation.
func (m *Model) openRun(r view.SessionRun) tea.Cmd {
	if !r.Over && (m.story == nil || m.story.id != r.ID) { // of several that go on, the one to be steered
		m.leavePast()
		m.watch(r.ID, view.Snapshot{})
	}
	return m.lookBack(r.ID)
}

// runTakes reports whether what is typed goes to the agents of the run that is
// seen.
func (m *Model) runTakes() bool { return m.past == m.story && !m.story.over() }

// speakFromRun says something to the agent that is talked to: the run that is
// seen is over.
func (m *Model) speakFromRun(words string, images []string) tea.Cmd {
	m.leavePast()
	m.notify("The run is over, so that was said to " + m.partnerName() + ".")
	return m.speak(words, images)
}

// assigned is what the agents of a run were given to do, and by whom.
func (m *Model) assigned(s *story) []entry {
	r, ok := m.session.Run(s.id)
	if !ok || r.Launch == nil {
		return nil
	}
	out := []entry{&saidRow{id: r.Want + "/task", text: r.Launch.Task, by: m.partnerName(), about: "to the agents of this run"}}
	if !r.Launch.Context.Empty() {
		out = append(out, &saidRow{id: r.Want + "/context", text: r.Launch.Context, by: m.partnerName(), about: "what they should know"})
	}
	return out
}

// runHead is the title of the run, with what stands below it, and the way back.
func (m *Model) runHead(w int, below func() []string) []string {
	from := len(m.zones)
	lines := below()
	for i := range m.zones[from:] {
		m.zones[from+i].y++
	}
	return append([]string{m.runTitle(w)}, lines...)
}

// runTitle is "Run: " and what the run is about, and buttons.
func (m *Model) runTitle(w int) string {
	t, s := &m.theme, m.past
	task := m.texts.of(s.card.Task)
	r, known := m.session.Run(s.id)
	if known && r.Launch != nil {
		task = m.texts.of(r.Launch.Task)
	}
	buttons := []string{buttonBack}
	if known && !r.Over {
		buttons = []string{buttonCancel, buttonBack}
	}
	x, right := w-1, ""
	for i := len(buttons) - 1; i >= 0; i-- {
		b := buttons[i]
		x -= text.Width(b)
		m.clickable(x, 0, text.Width(b), 1, func(m *Model, _, _ int) tea.Cmd {
			if b == buttonCancel {
				m.askCancel(r)
				return nil
			}
			m.leavePast()
			return nil
		})
		right = t.Key.Render(b) + " " + right
		x--
	}
	title := text.Cut(" Run: "+text.Clean(launch.Summary(task)), max(x, 8))
	line := t.Title.Render(title)
	return text.Cut(line+text.Spaces(max(w-text.Width(line)-text.Width(right), 1))+right, w)
}
