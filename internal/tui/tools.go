package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atTools Where = "tools"

// newTools is what agents are equipped with and how that fares.
func newTools(m *Model) Screen {
	p := &picker{
		where: atTools, title: "Tools and MCP servers", full: true, browse: true, fill: toolRows,
		note:  toolNote,
		empty: "The agents have no tools and have used none.",
	}
	lines := func(m *Model, p pick, width int) []string { return m.gearLines(p.value.(event.AgentID), width) }
	p.preview = lines
	p.chosen = func(m *Model, p pick) tea.Cmd {
		m.open(&pager{title: "The tools of " + m.nameOf(p.value.(event.AgentID)), live: true,
			lines: func(m *Model, width int) []string { return lines(m, p, width) }})
		return nil
	}
	return p
}

func toolNote(m *Model) string {
	var all view.ToolLine
	for _, a := range m.shown().tools.Agents {
		s := view.Sum(a.Tools)
		all = view.Sum([]view.ToolLine{all, s})
	}
	return useWords(all)
}

// toolRows are the servers of each agent, and the tools it has used.
func toolRows(m *Model) []pick {
	var out []pick
	for _, a := range m.shown().tools.Agents {
		who := m.cell(string(a.Agent), 10)
		row := func(what, about string) {
			out = append(out, pick{key: string(a.Agent) + "/" + what, text: who + " " + m.cell(what, 24), about: about, value: a.Agent})
		}
		for _, s := range a.Servers {
			row("server "+s.Name, serverWords(a, s))
		}
		for _, t := range a.Tools {
			row(t.Name, useWords(t))
		}
		if len(a.Servers)+len(a.Tools) == 0 && a.Any() {
			row("(nothing used yet)", "")
		}
	}
	return out
}

// serverWords is how an MCP server stands.
func serverWords(a view.AgentTools, s view.ServerLine) string {
	used := view.Sum(a.Of(s.Name))
	switch {
	case s.Trouble != "":
		return "✗ not to be had: " + s.Trouble
	case used.Calls > 0:
		return "✓ " + useWords(used)
	}
	return "no trouble told of"
}

// useWords is how often something was used, and how that went.
func useWords(t view.ToolLine) string {
	out := plural(t.Calls, "call")
	for _, x := range []struct {
		n    int
		what string
	}{{t.Open, "going on"}, {t.Failed, "failed"}, {t.Unknown, "cut off"}} {
		if x.n > 0 {
			out += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	if t.Time > 0 {
		out += ", " + span(time.Duration(t.Time))
	}
	if t.Provider {
		out += ", by the model's provider"
	}
	return out
}

// span is a length of time in few characters: 340ms, 4.2s, 3m12s.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// gearLines is the equipment of an agent.
func (m *Model) gearLines(id event.AgentID, width int) []string {
	a := m.shown().tools.Agent(id)
	out := []string{text.Cut(m.theme.Heading.Render(text.Clean(m.nameOf(id))), width)}
	wrap := func(s string) { out = append(out, text.Wrap(text.Clean(s), width)...) }
	wrap("has " + gearWords(a.Equipment))
	if len(a.Only) > 0 {
		wrap("only: " + strings.Join(a.Only, ", "))
	}
	if len(a.Except) > 0 {
		wrap("not: " + strings.Join(a.Except, ", "))
	}
	for _, s := range a.Servers {
		wrap("server " + s.Name + ": " + s.What)
		wrap("  " + serverWords(a, s))
	}
	if len(a.Tools) > 0 {
		rows := [][]string{{"tool", "calls", "failed", "time"}}
		for _, t := range a.Tools {
			rows = append(rows, []string{text.Clean(t.Name), fmt.Sprint(t.Calls), fmt.Sprint(t.Failed), span(time.Duration(t.Time))})
		}
		out = append(append(out, ""), m.columns(rows, width)...)
	}
	if len(a.Notices) > 0 {
		out = append(out, "", m.theme.Heading.Render("Notices"))
		for _, n := range a.Notices {
			wrap(m.clock(n.At) + " " + oneLine(n.Text))
		}
	}
	return out
}

func gearWords(q view.Equipment) string {
	var out []string
	add := func(has bool, what string) {
		if has {
			out = append(out, what)
		}
	}
	add(q.Files, "files")
	if q.Shell != nil {
		what := "commands"
		if q.Shell.Sandbox != "" {
			what += " (" + q.Shell.Sandbox + ")"
		}
		out = append(out, what)
	}
	add(q.Plan, "a task plan")
	add(q.Memory, "memory")
	add(q.Fetch, "web pages")
	add(q.Search, "web search")
	if n := len(q.Skills); n > 0 {
		out = append(out, "skills")
	}
	if n := len(q.Servers); n > 0 {
		out = append(out, plural(n, "MCP server"))
	}
	if len(out) == 0 {
		return "no tools of ours"
	}
	return strings.Join(out, ", ")
}
