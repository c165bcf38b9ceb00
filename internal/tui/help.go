package tui

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/tui/text"
)

const helpTitle = "Keys and commands"

// newHelp is every key and command, made from the table.
func newHelp(m *Model) *pager {
	return &pager{title: helpTitle, live: true, lines: (*Model).helpLines}
}

// A helpPart is a part of the window as help speaks of it.
type helpPart struct {
	where Where
	words string
}

// parts are those of the main view in the order in which help shows them;
// screens go by their own names. A team that help was asked for at comes first.
func (m *Model) parts() []helpPart {
	var out []helpPart
	if n := len(m.screens); n > 1 && m.screens[n-2].Where() == atTeam {
		out = []helpPart{{atTeam, "At a team"}, {atTeamNote, "While writing to a team"}}
	}
	out = append(out, []helpPart{{Anywhere, "Anywhere"}, {InInput, "While typing"}, {InList, "In the timeline"}, {InDialog, "In dialogs and browsers"}}...)
	for _, a := range m.table {
		if !slices.ContainsFunc(out, func(p helpPart) bool { return p.where == a.Where }) {
			out = append(out, helpPart{a.Where, "In " + string(a.Where)})
		}
	}
	return out
}

func (m *Model) helpLines(width int) []string {
	var out []string
	for _, p := range m.parts() {
		if lines := m.helpOf(p.where, width); len(lines) > 0 {
			out = append(append(out, m.theme.Heading.Render(text.Cut(p.words, width))), append(lines, "")...)
		}
	}
	words := "While typing, the keys of readline are as everywhere. Bind other keys in your own configuration: ui.keys, by the names in brackets."
	return append(out, text.Wrap(m.theme.Dim.Render(words), width)...)
}

func (m *Model) helpOf(w Where, width int) []string {
	var out []string
	left := min(26, width/3)
	for _, a := range m.table {
		if a.Where != w || a.Name != "agent_0" && usualTab(a) {
			continue
		}
		keys := howTo(a)
		if usualTab(a) { // ten keys are one thing to learn
			keys, a.Name = keyName("alt+0")+"…9", "agent_0 … agent_9"
			a.About, a.Why = "The tab of all together, or that of an agent, counted from the left", tabbed
		}
		style, words := m.theme.Key, a.About+" "+m.theme.Faint.Render("["+a.Name+"]")
		// A screen that is not open is no reason worth telling.
		if why := a.why(m); why != "" && slices.Contains([]Where{Anywhere, InInput, InList}, w) {
			style, words = m.theme.Locked, m.theme.Locked.Render(a.About+" ("+why+") ["+a.Name+"]")
		}
		if width < 60 { // no room for two columns
			out = append(out, text.Cut("  "+style.Render(keys), width))
			for _, l := range text.Wrap(words, max(width-4, 8)) {
				out = append(out, "    "+l)
			}
			continue
		}
		first := fmt.Sprintf("  %s ", style.Render(text.Pad(text.Cut(keys, left), left)))
		for i, l := range text.Wrap(words, max(width-left-3, 8)) {
			if i > 0 {
				first = text.Spaces(left + 3)
			}
			out = append(out, first+l)
		}
	}
	return out
}

// usualTab reports whether an action opens a tab with the key that it always had.
func usualTab(a Action) bool {
	n, ok := strings.CutPrefix(a.Name, "agent_")
	return ok && len(n) == 1 && slices.Equal(a.Keys, []string{"alt+" + n})
}

// howTo is how an action is asked for: its keys and its command.
func howTo(a Action) string {
	var how []string
	for _, k := range a.Keys {
		how = append(how, keyName(k))
	}
	if a.Command {
		how = append(how, strings.TrimSpace("/"+a.Name+" "+a.Args))
	}
	return strings.Join(how, ", ")
}
