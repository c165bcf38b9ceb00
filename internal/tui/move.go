package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// moveActions are for going from agent to agent and up and down.
func moveActions() []Action {
	scroll := func(name string, keys []string, where Where, title, about string, do func(m *Model)) Action {
		return Action{Name: name, Keys: keys, Where: where, Title: title, About: about, Why: withTimeline,
			Do: func(m *Model, _ string) tea.Cmd { do(m); return nil }}
	}
	out := []Action{
		{Name: "next_agent", Keys: []string{"tab", "shift+right"}, Where: Anywhere, Title: "next agent", About: "The next agent's tab", Hint: 5, Why: tabbed,
			Do: func(m *Model, _ string) tea.Cmd { return m.openTab(m.tabAfter(1)) }},
		{Name: "previous_agent", Keys: []string{"shift+left"}, Where: Anywhere, Title: "previous agent", About: "The tab before", Why: tabbed,
			Do: func(m *Model, _ string) tea.Cmd { return m.openTab(m.tabAfter(-1)) }},
		scroll("page_up", []string{"pgup"}, Anywhere, "page up", "A page up in the timeline", func(m *Model) { m.lane().Page(-1) }),
		scroll("page_down", []string{"pgdown"}, Anywhere, "page down", "A page down in the timeline", func(m *Model) { m.lane().Page(1) }),
		scroll("line_up", []string{"shift+up"}, Anywhere, "line up", "A line up in the timeline", func(m *Model) { m.lane().Scroll(-1) }),
		scroll("line_down", []string{"shift+down"}, Anywhere, "line down", "A line down in the timeline", func(m *Model) { m.lane().Scroll(1) }),
		scroll("first", []string{"home", "shift+home"}, Anywhere, "first", "The beginning of the timeline (Home only while nothing is typed)", func(m *Model) { m.lane().Top() }),
		scroll("last", []string{"end", "shift+end"}, Anywhere, "newest", "The newest, and follow it (End only while nothing is typed)", func(m *Model) { m.lane().Bottom() }),
	}
	for i := range 10 {
		key := fmt.Sprintf("alt+%d", i)
		about := fmt.Sprintf("Tab %d of the agents, from the left", i)
		if i == 0 {
			about = "The tab of all together"
		}
		out = append(out, Action{Name: fmt.Sprintf("agent_%d", i), Keys: []string{key}, Where: Anywhere, Title: fmt.Sprintf("tab %d", i),
			About: about,
			Why: func(m *Model) string {
				if i > len(m.agents()) {
					return fmt.Sprintf("There are %d agents.", len(m.agents()))
				}
				return tabbed(m)
			},
			Do: func(m *Model, _ string) tea.Cmd { return m.openTab(i) }})
	}
	return out
}

// tabbed is why there is no tab to go to: there are none before the first run,
// but with one agent to work alone they choose it.
func tabbed(m *Model) string {
	if m.chatting() {
		return "Here is one agent; the tabs of a run are there when it is opened."
	}
	if m.modes.Single {
		return ""
	}
	return withRun(m)
}

// listActions are for the timeline while it has the focus.
func listActions() []Action {
	list := func(name string, keys []string, title, about string, hint int, do func(m *Model)) Action {
		return Action{Name: name, Keys: keys, Where: InList, Title: title, About: about, Hint: hint,
			Do: func(m *Model, _ string) tea.Cmd { do(m); return nil }}
	}
	return slices.Concat([]Action{
		{Name: "timeline", Command: true, Keys: []string{"f6"}, Where: InInput, Title: "into the timeline", Why: withTimeline,
			About: "Move about in the timeline: select, open, copy",
			Do: func(m *Model, _ string) tea.Cmd {
				m.inList = true
				m.lane().Select(m.seen())
				return nil
			}},
		list("input", []string{"i", "f6", "q"}, "back to typing", "Back to the input", 1, func(m *Model) { m.inList = false; m.lane().Bottom() }),
		list("back", []string{"esc"}, "back", "Back to the newest run, or to the input", 0, func(m *Model) {
			if m.past != nil {
				m.leavePast()
				return
			}
			m.inList = false
			m.lane().Bottom()
		}),
		list("select_down", []string{"down", "j"}, "down", "The next entry", 0, func(m *Model) { m.lane().Move(1) }),
		list("select_up", []string{"up", "k"}, "up", "The entry before", 0, func(m *Model) { m.lane().Move(-1) }),
		list("select_first", []string{"home", "g"}, "first", "The first entry", 0, func(m *Model) { m.lane().Top(); m.lane().Select(0) }),
		list("select_last", []string{"end", "shift+g", "G"}, "newest", "The newest entry", 0, func(m *Model) {
			m.lane().Bottom()
			m.lane().Select(m.laneOf(m.active()).Len() - 1)
		}),
	}, rowActions(), findActions(), splitActions())
}

// seen is the entry to begin with in the timeline: the newest, or the first that
// begins where the person has scrolled to.
func (m *Model) seen() int {
	x := m.lane()
	if x.Following() {
		return m.laneOf(m.active()).Len() - 1
	}
	first, _, _ := x.At(0)
	for y := 0; ; y++ {
		switch i, line, ok := x.At(y); {
		case !ok:
			return first
		case line == 0:
			return i
		}
	}
}
