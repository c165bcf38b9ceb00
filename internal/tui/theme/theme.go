// Package theme gives colours and weights to the roles text plays in the
// terminal UI.
//
// A [Theme] is a value: take one with [Named] and render with its styles. Styles
// leave the background of the terminal alone, except where a role needs one of
// its own. They are written in true colour; the output turns them into what the
// terminal can show. The theme none has no colours at all and tells roles apart
// by weight, underlining and reversal.
package theme

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// A Theme is what every role looks like.
type Theme struct {
	Name       string
	Dark       bool
	Background color.Color // what the colours were chosen for; nil if there are none

	Text, Dim, Faint, Strong lipgloss.Style
	Emphasis, Struck         lipgloss.Style
	Accent, Good, Warn, Bad  lipgloss.Style
	Title, Selected          lipgloss.Style
	Border, BorderFocus      lipgloss.Style
	Key, Chip                lipgloss.Style // a hint of a key, a small label
	Added, Removed, Hunk     lipgloss.Style
	Code, Quote, Heading     lipgloss.Style
	Link                     lipgloss.Style
	Thinking, Tool           lipgloss.Style
	User, Locked             lipgloss.Style
	agents                   [Agents]lipgloss.Style
}

// Agents is how many agents look different before looks come round again.
const Agents = 8

// Agent is the look of the agent with an index.
func (t Theme) Agent(i int) lipgloss.Style {
	return t.agents[((i%Agents)+Agents)%Agents]
}

// Names are the themes there are, the one that follows the terminal first.
func Names() []string {
	return []string{"auto", "dark", "light", "contrast", "mocha", "latte", "none"}
}

// Named is the theme of a name, if there is one. Auto is dark or light, as the
// background of the terminal is; contrast has one look for each.
func Named(name string, dark bool) (Theme, bool) {
	switch name {
	case "", "auto":
		name = "light"
		if dark {
			name = "dark"
		}
	case "contrast":
		if !dark {
			name = "contrast-light"
		}
	case "none":
		return none(dark), true
	}
	p, ok := palettes[name]
	if !ok || name == "contrast-light" && dark {
		return Theme{}, false
	}
	return p.theme(strings.TrimSuffix(name, "-light")), true
}

// Pen is what a style writes before and after text on one line: for writers that
// put many small pieces together.
func Pen(s lipgloss.Style) (open, closing string) {
	const mark = "x"
	open, closing, _ = strings.Cut(s.Render(mark), mark)
	return open, closing
}

// none tells roles apart without colour.
func none(dark bool) Theme {
	s := lipgloss.NewStyle()
	bold, under, back := s.Bold(true), s.Underline(true), s.Reverse(true)
	t := Theme{
		Name: "none", Dark: dark,
		Text: s, Dim: s, Faint: s, Strong: bold, Emphasis: under, Struck: s,
		Accent: bold, Good: s, Warn: bold, Bad: bold.Underline(true),
		Title: bold, Selected: back, Border: s, BorderFocus: bold,
		Key: bold, Chip: back,
		Added: bold, Removed: under, Hunk: s,
		Code: s, Quote: s, Heading: bold, Link: under,
		Thinking: s, Tool: s, User: bold, Locked: s,
	}
	for i := range t.agents {
		t.agents[i] = bold
	}
	return t
}
