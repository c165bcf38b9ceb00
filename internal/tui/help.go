package tui

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/tui/text"
)

// newHelp is every key and command, made from the table.
func newHelp(m *Model) *pager {
	return &pager{title: "Keys and commands", lines: func(m *Model, width int) []string { return m.helpLines(width) }}
}

// places are the parts of the window in the order and words in which help shows
// them; screens that are not named go by their own names.
var places = []struct {
	where Where
	words string
}{
	{Anywhere, "Anywhere"}, {InInput, "While typing"}, {InList, "In the timeline"}, {InDialog, "In dialogs"},
}

func (m *Model) helpLines(width int) []string {
	order := slices.Clone(places)
	for _, a := range m.table {
		if !slices.ContainsFunc(order, func(p struct {
			where Where
			words string
		}) bool {
			return p.where == a.Where
		}) {
			order = append(order, struct {
				where Where
				words string
			}{a.Where, "In " + string(a.Where)})
		}
	}
	var out []string
	for _, p := range order {
		lines := m.helpOf(p.where, width)
		if len(lines) > 0 {
			out = append(append(out, m.theme.Heading.Render(p.words)), append(lines, "")...)
		}
	}
	return append(out, m.theme.Dim.Render("Bind other keys in the configuration: ui.keys, by the names in brackets."))
}

func (m *Model) helpOf(w Where, width int) []string {
	var out []string
	for _, a := range m.table {
		if a.Where != w {
			continue
		}
		var keys []string
		for _, k := range a.Keys {
			keys = append(keys, keyName(k))
		}
		if a.Command {
			keys = append(keys, strings.TrimSpace("/"+a.Name+" "+a.Args))
		}
		left := text.Pad(text.Cut(strings.Join(keys, ", "), 26), 26)
		line := fmt.Sprintf("  %s %s %s", m.theme.Key.Render(left), a.About, m.theme.Faint.Render("["+a.Name+"]"))
		if why := a.why(m); why != "" {
			line = fmt.Sprintf("  %s %s", m.theme.Locked.Render(left), m.theme.Locked.Render(a.About+" ("+why+")"))
		}
		out = append(out, text.Wrap(line, width)...)
	}
	return out
}
