package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"conclave/internal/tui/text"
)

// fullScreen draws a screen that fills the window.
func (m *Model) fullScreen(s Screen, w, h int) []string {
	lines := []string{m.theme.Title.Render(text.Pad(" "+text.Cut(text.Clean(s.Title(m)), w-2), w))}
	foot := m.screenFoot(s, w)
	inner := max(h-1-len(foot), 1)
	lines = append(lines, text.Fit(s.View(m, w, inner), w, inner)...)
	m.screenZone(s, 0, 1, w, inner)
	return append(lines, foot...)
}

// dialog draws a screen in a box over what lies below it.
func (m *Model) dialog(s Screen, under []string, w, h int) []string {
	width := min(max(w-4, 16), 100)
	foot := m.screenFoot(s, width-4)
	inside := s.View(m, width-4, max(h-5-len(foot), 1))
	inside = inside[:min(len(inside), max(h-4-len(foot), 1))]
	x, y := (w-width)/2, max((h-len(inside)-3-len(foot))/2, 0)
	edge := m.theme.BorderFocus
	box := []string{edge.Render("╭─ ") + m.theme.Title.Render(text.Cut(text.Clean(s.Title(m)), width-6)) + edge.Render(" ")}
	box[0] += edge.Render(strings.Repeat("─", max(width-text.Width(box[0])-1, 0)) + "╮")
	for _, l := range inside {
		box = append(box, edge.Render("│ ")+text.Pad(text.Cut(l, width-4), width-4)+edge.Render(" │"))
	}
	for _, l := range foot {
		box = append(box, edge.Render("│ ")+text.Pad(text.Cut(l, width-4), width-4)+edge.Render(" │"))
	}
	box = append(box, edge.Render("╰"+strings.Repeat("─", width-2)+"╯"))
	m.zones = m.zones[:0] // nothing below can be clicked
	m.screenZone(s, x+2, y+1, width-4, len(inside))
	return overlay(text.Fit(under, w, h), box, x, y)
}

func (m *Model) screenZone(s Screen, x, y, w, h int) {
	c, ok := s.(Clicker)
	if !ok {
		return
	}
	m.clickable(x, y, w, h, c.Click)
}

// overlay puts a box over lines, with its corner at x and y.
func overlay(under, box []string, x, y int) []string {
	for i, l := range box {
		if y+i >= len(under) {
			break
		}
		below := under[y+i]
		under[y+i] = ansi.Cut(below, 0, x) + l + ansi.Cut(below, x+text.Width(l), text.Width(below))
	}
	return under
}
