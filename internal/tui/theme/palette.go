package theme

import "charm.land/lipgloss/v2"

// A palette is the colours of a theme.
type palette struct {
	dark                    bool
	back                    string
	text, dim, faint        string
	accent, good, warn, bad string
	cyan                    string
	selBack, selText        string
	chipBack, chipText      string
	border                  string
	agents                  [Agents]string
}

// palettes are the themes with colours. Every colour can be read on the
// background it was chosen for; the test of this package measures it.
var palettes = map[string]palette{
	"dark": {
		dark: true, back: "#16181d",
		text: "#d7dae0", dim: "#9aa1ad", faint: "#767d8a",
		accent: "#7aa2f7", good: "#8fcf7f", warn: "#e5c07b", bad: "#f2838f", cyan: "#6fc3c9",
		selBack: "#2f3a52", selText: "#eef1f6", chipBack: "#2a2e37", chipText: "#c3c8d2", border: "#6b7280",
		agents: [Agents]string{"#7aa2f7", "#e5a36f", "#8fcf7f", "#d291e4", "#6fc3c9", "#e5c07b", "#f2838f", "#b3a5f5"},
	},
	"light": {
		back: "#fafafa",
		text: "#24292f", dim: "#5f6670", faint: "#7d848e",
		accent: "#1f5fbf", good: "#2a6f2f", warn: "#855b00", bad: "#b3232f", cyan: "#0f6a73",
		selBack: "#cfe0f7", selText: "#10203a", chipBack: "#e3e6ea", chipText: "#3a414a", border: "#7d848e",
		agents: [Agents]string{"#1f5fbf", "#9a4a10", "#2a6f2f", "#8a2fa0", "#0f6a73", "#7a5d00", "#b3232f", "#5a45b8"},
	},
	"contrast": {
		dark: true, back: "#000000",
		text: "#ffffff", dim: "#d0d0d0", faint: "#b0b0b0",
		accent: "#6cb6ff", good: "#5fff5f", warn: "#ffff5f", bad: "#ff8787", cyan: "#5fffff",
		selBack: "#ffff5f", selText: "#000000", chipBack: "#ffffff", chipText: "#000000", border: "#ffffff",
		agents: [Agents]string{"#6cb6ff", "#ffaf5f", "#5fff5f", "#ff87ff", "#5fffff", "#ffff5f", "#ff8787", "#d7afff"},
	},
	"contrast-light": {
		back: "#ffffff",
		text: "#000000", dim: "#303030", faint: "#4a4a4a",
		accent: "#0033aa", good: "#005000", warn: "#5c3d00", bad: "#8f0000", cyan: "#004b52",
		selBack: "#000000", selText: "#ffffff", chipBack: "#000000", chipText: "#ffffff", border: "#000000",
		agents: [Agents]string{"#0033aa", "#6e2c00", "#005000", "#66007a", "#004b52", "#5c3d00", "#8f0000", "#38228f"},
	},
	"mocha": {
		dark: true, back: "#1e1e2e",
		text: "#cdd6f4", dim: "#a6adc8", faint: "#7f849c",
		accent: "#89b4fa", good: "#a6e3a1", warn: "#f9e2af", bad: "#f38ba8", cyan: "#94e2d5",
		selBack: "#45475a", selText: "#e6ebfb", chipBack: "#313244", chipText: "#bac2de", border: "#7f849c",
		agents: [Agents]string{"#89b4fa", "#fab387", "#a6e3a1", "#cba6f7", "#94e2d5", "#f9e2af", "#f38ba8", "#b4befe"},
	},
	"latte": {
		back: "#eff1f5",
		text: "#4c4f69", dim: "#676a80", faint: "#7c7f93",
		accent: "#1a56d0", good: "#2b6f1d", warn: "#8a5500", bad: "#c00d33", cyan: "#0f686e",
		selBack: "#ccd0da", selText: "#2c2f45", chipBack: "#dce0e8", chipText: "#4c4f69", border: "#7c7f93",
		agents: [Agents]string{"#1a56d0", "#a84300", "#2b6f1d", "#7a2fd0", "#0f686e", "#8a5500", "#c00d33", "#5a4bd0"},
	},
}

// theme gives the colours of a palette to the roles.
func (p palette) theme(name string) Theme {
	s := lipgloss.NewStyle()
	fg := func(hex string) lipgloss.Style { return s.Foreground(lipgloss.Color(hex)) }
	t := Theme{
		Name: name, Dark: p.dark, Background: lipgloss.Color(p.back),
		Text: s, Dim: fg(p.dim), Faint: fg(p.faint), Strong: s.Bold(true),
		Emphasis: s.Italic(true), Struck: fg(p.dim).Strikethrough(true),
		Accent: fg(p.accent), Good: fg(p.good), Warn: fg(p.warn), Bad: fg(p.bad),
		Title:    fg(p.text).Bold(true),
		Selected: fg(p.selText).Background(lipgloss.Color(p.selBack)),
		Border:   fg(p.border), BorderFocus: fg(p.accent),
		Key:   fg(p.accent).Bold(true),
		Chip:  fg(p.chipText).Background(lipgloss.Color(p.chipBack)),
		Added: fg(p.good), Removed: fg(p.bad), Hunk: fg(p.cyan),
		Code: fg(p.cyan), Quote: fg(p.dim), Heading: fg(p.accent).Bold(true),
		Link:     fg(p.accent).Underline(true),
		Thinking: fg(p.dim).Italic(true), Tool: fg(p.cyan), User: fg(p.good).Bold(true), Locked: fg(p.faint),
	}
	for i, hex := range p.agents {
		t.agents[i] = fg(hex)
	}
	return t
}
