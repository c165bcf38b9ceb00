package tui

import (
	"fmt"
	"strings"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// newStatus is who works here, where everything is, and what the window has had
// to say.
func newStatus(m *Model) Screen {
	return &pager{title: "Status", live: true, lines: (*Model).statusLines}
}

func (m *Model) statusLines(width int) []string {
	var out []string
	head := func(s string) { out = append(out, m.theme.Heading.Render(s)) }
	say := func(format string, args ...any) {
		out = append(out, text.Wrap("  "+text.Clean(oneLine(fmt.Sprintf(format, args...))), width)...)
	}
	head("Team")
	for _, a := range m.team.Agents {
		say("%s: %s", a.ID, strings.Join(memberWords(a.Backend, a.Model, a.Tools, a.Servers), ", "))
	}
	say("%s", m.team.Source)
	if m.team.Offline {
		say("every agent is scripted: no model is called")
	}
	for _, w := range m.team.Warnings {
		say("! %s", w)
	}
	head("Now")
	say("%s", m.situation())
	m.flowStatus(say)
	head("Window")
	say("theme %s (%s)", themeName(m.o.Look.Theme), m.theme.Name)
	say("mouse %s, notifications %s", onWord(!m.o.Look.NoMouse), onWord(!m.o.Look.NoNotify))
	if m.o.Look.File != "" {
		say("your own settings: %s", m.o.Look.File)
	}
	for _, w := range m.o.Look.Warnings {
		say("! %s", w)
	}
	head("Said by the window")
	for _, n := range m.notice.log {
		say("%s", n)
	}
	if len(m.notice.log) == 0 {
		say("nothing")
	}
	return out
}

func memberWords(backend, model string, tools bool, servers []string) []string {
	var out []string
	if e := view.Engine(backend, model); e != "" {
		out = append(out, e)
	}
	if tools {
		out = append(out, "files and commands")
	}
	if len(servers) > 0 {
		out = append(out, "MCP: "+strings.Join(servers, " "))
	}
	return out
}

// flowStatus says what is shown, where it is and who drives it.
func (m *Model) flowStatus(say func(string, ...any)) {
	if m.id != "" {
		say("conversation %s, %s, %s", m.id, m.session.State(), plural(m.session.Turns.Len(), "turn"))
	}
	if s := m.story; s != nil {
		say("run %s: %s", s.id, runWords(s.card))
		if dir := s.started.Spec.Dir; dir != "" {
			say("its folder: %s", dir)
		}
		if dir := s.started.Spec.Plan; dir != "" {
			say("the plan it carries out: %s", dir)
		}
	}
	switch {
	case m.id == "" && m.story == nil:
		say("nothing was asked yet")
	case m.driver.drives(m.drivenFlow()):
		say("driven by this window")
	case m.stalled():
		say("nobody drives it: F9 goes on")
	case m.busy():
		say("driven by another process; this window follows it")
	default:
		say("nothing is being driven")
	}
}

func runWords(c view.Card) string {
	if c.Status != "" {
		return string(c.Status)
	}
	return string(c.Phase)
}

func onWord(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
