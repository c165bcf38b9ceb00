package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

func findActions() []Action {
	again := func(m *Model) string {
		if m.lanes.sought == "" {
			return "Nothing was looked for yet: / does."
		}
		return withEntries(m)
	}
	return []Action{
		{Name: "find", Keys: []string{"/"}, Where: InList, Title: "search", About: "Search the timeline, upwards from the entry that is selected", Hint: 6, Why: withEntries,
			Do: func(m *Model, _ string) tea.Cmd {
				m.open(newPrompt("Search the timeline", "", "", func(m *Model, s string) tea.Cmd {
					m.lanes.sought = s
					return m.find(-1)
				}))
				return nil
			}},
		{Name: "find_next", Keys: []string{"n"}, Where: InList, Title: "next found", About: "The next entry above that has what was looked for", Why: again,
			Do: func(m *Model, _ string) tea.Cmd { return m.find(-1) }},
		{Name: "find_previous", Keys: []string{"N", "shift+n"}, Where: InList, Title: "previous found", About: "The next entry below that has what was looked for", Why: again,
			Do: func(m *Model, _ string) tea.Cmd { return m.find(1) }},
	}
}

// oneSearch is how much text is looked through before anything else may happen.
const oneSearch = 4 << 20

// find selects the next entry that has what was looked for, up or down, and goes
// round at the end.
func (m *Model) find(step int) tea.Cmd {
	x := m.laneOf(m.active())
	at := x.list.Selected()
	if at < 0 {
		at = x.Len()
		if step > 0 {
			at = -1
		}
	}
	return m.search(x, strings.ToLower(m.lanes.sought), at, step, x.Len())
}

// search looks at no more than left entries, piece by piece.
func (m *Model) search(x *lane, what string, at, step, left int) tea.Cmd {
	for seen := 0; left > 0; left-- {
		n := x.Len()
		if n == 0 {
			break
		}
		at = ((at+step)%n + n) % n
		s := x.entry(at).plain(m)
		if strings.Contains(strings.ToLower(s), what) {
			m.inList = true
			x.list.Select(at)
			x.list.Reveal(at)
			m.notify(fmt.Sprintf("Found %q; n and N go on.", m.lanes.sought))
			return nil
		}
		if seen += len(s) + 64; seen > oneSearch {
			return func() tea.Msg {
				return func(m *Model) tea.Cmd { return m.search(x, what, at, step, left-1) }
			}
		}
	}
	m.notify(fmt.Sprintf("%q is not in this timeline.", m.lanes.sought))
	return nil
}
