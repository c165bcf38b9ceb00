package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/live"
	"conclave/internal/tui/list"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// drawRow draws one entry of a timeline.
func (m *Model) drawRow(r rowItem, width int) []string {
	it := r.item()
	return text.Wrap(m.theme.Text.Render(text.Clean(it.Line())), width)
}

// isOpen reports whether a row shows all it has.
func (m *Model) isOpen(r rowItem) bool { return m.lanes.toggled[r.Key()] }

func (m *Model) themeVersion() int { return len(m.theme.Name) }

// earlier are the rows before the timeline of the run that is shown.
func (m *Model) earlier() []list.Item { return nil }

// liveRows are what is being said right now.
func (m *Model) liveRows(x *lane) []list.Item {
	if x.story == nil {
		return nil
	}
	var out []list.Item
	for _, a := range x.story.card.Agents {
		s := x.story.saying[a.ID]
		if s == nil || x.agent != "" && a.ID != x.agent {
			continue
		}
		for i := range s.parts {
			out = append(out, liveItem{m, a, s, i})
		}
	}
	return out
}

// liveItem is a stretch of live text.
type liveItem struct {
	m     *Model
	agent view.AgentLine
	s     *speech
	part  int
}

func (l liveItem) Key() string     { return fmt.Sprintf("live/%s/%d", l.agent.ID, l.part) }
func (l liveItem) Version() uint64 { return l.s.version }
func (l liveItem) Lines(width int) []string {
	p := &l.s.parts[l.part]
	style := l.m.theme.Text
	if p.kind != live.Text {
		style = l.m.theme.Dim
	}
	return text.Wrap(style.Render(text.Clean(p.text.String())), width)
}

// clickLane opens or closes what was clicked.
func (m *Model) clickLane(_, y int) tea.Cmd {
	x := m.laneOf(m.active())
	i, _, ok := x.list.At(y)
	if !ok {
		return nil
	}
	x.list.Select(i)
	m.inList = true
	return nil
}
