package tui

import (
	"encoding/json"
	"slices"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atShells Where = "background commands"

// shells are the commands that agents have going in the background.
type shells struct{ picker }

func newShells(m *Model) Screen {
	j := &shells{picker{
		where: atShells, title: "Background commands", full: true, browse: true, fill: shellRows,
		empty: "No agent has started a command in the background.",
	}}
	j.preview = func(m *Model, p pick, width int) []string { return m.shellLines(p.value.(view.Shell), width) }
	j.chosen = func(m *Model, p pick) tea.Cmd {
		x := p.value.(view.Shell)
		m.open(&pager{title: x.ID + " of " + m.nameOf(x.Agent), live: true, lines: func(m *Model, width int) []string { return m.shellLines(x, width) }})
		return nil
	}
	return j
}

// shellRows are those that run first, then the newest.
func shellRows(m *Model) []pick {
	all := slices.Clone(m.shown().shells.All)
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b view.Shell) int { return ended(a) - ended(b) })
	var out []pick
	for _, x := range all {
		out = append(out, pick{
			key:  string(x.Agent) + "/" + x.Turn.String() + "/" + x.ID,
			text: shellMark(x) + " " + m.cell(string(x.Agent), 10) + " " + m.cell(x.ID, 6) + " " + oneLine(x.Command),
			// How long it runs changes with time and is not searched for.
			about: m.shellWords(x), value: x,
		})
	}
	return out
}

func ended(j view.Shell) int {
	if j.State == view.ShellRunning {
		return 0
	}
	return 1
}

func shellMark(j view.Shell) string {
	switch j.State {
	case view.ShellRunning:
		return "●"
	case view.ShellUnknown:
		return "?"
	}
	return "·"
}

func (m *Model) shellWords(j view.Shell) string {
	if j.State == view.ShellRunning {
		return "running for " + span(m.o.Now().Sub(j.Since))
	}
	return j.How + ", after " + span(j.Ended.Sub(j.Since))
}

// shellLines is a command and what its agent has last read of it.
func (m *Model) shellLines(j view.Shell, width int) []string {
	for _, x := range m.shown().shells.All {
		if x.Agent == j.Agent && x.Turn == j.Turn && x.ID == j.ID {
			j = x
		}
	}
	out := text.Wrap(m.theme.Heading.Render(text.Clean(m.nameOf(j.Agent)+", "+j.ID)), width)
	out = append(out, bodyLines("$ "+j.Command, width)...)
	out = append(out, text.Wrap(m.theme.Dim.Render(text.Clean(m.shellWords(j))), width)...)
	printed, ok := m.shellOutput(j)
	if !ok {
		return append(out, "", m.theme.Dim.Render(text.Cut("its agent has not looked at what it prints", width)))
	}
	return append(append(out, ""), bodyLines(printed, width)...)
}

// shellOutput is what the agent of a command has last read of it.
func (m *Model) shellOutput(j view.Shell) (string, bool) {
	t := m.shown().timeline
	for i := t.Len() - 1; i >= 0; i-- {
		it := t.At(i)
		if it.At.Before(j.Since) {
			break
		}
		if it.Tool == nil || it.Tool.Name != "shell_output" || it.Agent != j.Agent || it.Turn != j.Turn || it.Detail.Empty() {
			continue
		}
		var in struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(m.texts.input(it.Tool)), &in) == nil && in.ID == j.ID {
			return m.texts.of(it.Detail), true
		}
	}
	return "", false
}

func shellActions() []Action {
	return []Action{
		{Name: "shell_stop", Keys: []string{"s", "delete"}, Where: atShells, Title: "stop it", Hint: 2, Why: on(atShells, "Open the background commands first."),
			About: "Stop the command; its agent is told", Do: func(m *Model, _ string) tea.Cmd {
				s, _ := m.top().(*shells)
				p, ok := s.current()
				if !ok {
					m.notify("There is no command to stop.")
					return nil
				}
				x := p.value.(view.Shell)
				if x.State != view.ShellRunning || m.shown() != m.story {
					m.notify(x.ID + " does not run any more.")
					return nil
				}
				m.confirm("Stop "+x.ID+" of "+m.nameOf(x.Agent)+"?", oneLine(x.Command)+"\nIts agent is told.", func(m *Model) tea.Cmd {
					m.notify("Stopping " + x.ID + "; its agent is told.")
					return m.tell("Not stopped", event.StopRequested{Target: x.Agent, Job: x.ID, By: by})
				})
				return nil
			}},
	}
}
