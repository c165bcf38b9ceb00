package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const (
	atTeams     Where = "teams"
	atTeamKinds Where = "kinds of teams"
)

// teamCommand is /team: it lists teams, opens one, or sets one to work.
func (m *Model) teamCommand(args string) tea.Cmd {
	verb, rest, _ := strings.Cut(args, " ")
	kind, task, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch task = strings.TrimSpace(task); {
	case args == "":
		return m.openTeams()
	case (verb == "run" || verb == "new") && task == "":
		return m.openTeamKinds(kind)
	case verb == "run" || verb == "new":
		return m.newTeam(kind, task)
	}
	return m.findFlow(args, (*Model).openTeam)
}

// newTeam sets a team to work, and shows it.
func (m *Model) newTeam(kind, task string) tea.Cmd {
	r := control.TeamRequest{Team: kind, Task: task, Config: m.o.Config, Asks: true, By: by}
	if m.session.Config != "" {
		r.Config = m.session.Config
	}
	c := m.c
	m.notify("The team is being begun.")
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		id, err := c.NewTeam(ctx, r)
		if err == nil {
			err = c.Wake(ctx, id)
		}
		return func(m *Model) tea.Cmd {
			if err != nil && id == "" {
				m.notify("The team was not begun: " + err.Error())
				m.giveBack("/team run " + kind + " " + task)
				return nil
			}
			if err != nil {
				m.notify("The team is begun, and nobody could be set to work on it: " + err.Error())
			}
			return tea.Batch(m.openTeam(id), m.lookForJobs(true))
		}
	})
}

// openTeamKinds lists the descriptions of teams there are, to be set to work.
func (m *Model) openTeamKinds(name string) tea.Cmd {
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		all, err := c.TeamKinds(ctx)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The descriptions of teams cannot be listed: " + err.Error())
				return nil
			}
			if i := slices.IndexFunc(all, func(k control.TeamKind) bool { return k.Name == name }); i >= 0 {
				m.askTask(all[i])
				return nil
			}
			p := &picker{where: atTeamKinds, title: "Which team is to work?", full: true, browse: true, empty: "There is no description of a team here."}
			for _, k := range all {
				p.rows = append(p.rows, pick{key: k.File + "/" + k.Name, text: text.Pad(view.OneLine(k.Name), 14), about: view.OneLine(k.Title), why: k.Problem, value: k})
			}
			p.preview = func(m *Model, r pick, width int) []string { return m.kindLines(r.value.(control.TeamKind), width) }
			p.chosen = func(m *Model, r pick) tea.Cmd {
				m.closeTop()
				m.askTask(r.value.(control.TeamKind))
				return nil
			}
			m.open(p)
			return nil
		}
	})
}

// askTask asks what is wanted of a team.
func (m *Model) askTask(k control.TeamKind) {
	name := k.Name
	if k.File != "" {
		name = k.File
	}
	m.open(newPrompt("Team "+view.OneLine(k.Name), "What is wanted of it?", "", func(m *Model, words string) tea.Cmd { return m.newTeam(name, words) }))
}

// kindLines is a description of a team before it is set to work.
func (m *Model) kindLines(k control.TeamKind, width int) []string {
	out := text.Wrap(m.theme.Heading.Render(text.Clean(view.OneLine(k.Title))), width)
	out = append(out, text.Wrap(text.Clean(view.OneLine(k.About)), width)...)
	out = append(out, text.Wrap(m.theme.Dim.Render("Roles: "+text.Clean(strings.Join(k.Roles, ", "))), width)...)
	if k.Problem != "" {
		out = append(out, text.Wrap(m.theme.Warn.Render(text.Clean(view.OneLine(k.Problem))), width)...)
	}
	return out
}

// openTeams lists the teams.
func (m *Model) openTeams() tea.Cmd { return m.listTeams(func(*Model) bool { return true }) }

// relistTeams lists them anew, unless the list was closed meanwhile.
func (m *Model) relistTeams() tea.Cmd {
	return m.listTeams(func(m *Model) bool { return m.top() != nil && m.top().Where() == atTeams })
}

func (m *Model) listTeams(wanted func(*Model) bool) tea.Cmd {
	return m.listFlows(view.KindTeam, wanted, newTeamList)
}

func newTeamList(m *Model, all []control.Flow, titles map[event.FlowID]string) *picker {
	p := &picker{where: atTeams, title: "Teams", full: true, browse: true, empty: "There are no teams here yet. Esc goes back; /team run sets one to work."}
	p.rows = flowRows(m, all, titles)
	p.preview = func(m *Model, r pick, width int) []string { return m.teamGlance(r.value.(control.Flow), r.more, width) }
	p.chosen = func(m *Model, r pick) tea.Cmd { return m.openTeam(event.FlowID(r.key)) }
	return p
}

// teamGlance is a team before it is opened.
func (m *Model) teamGlance(f control.Flow, title string, width int) []string {
	var words, names []string
	if f.Phase != "" {
		words = append(words, "in "+f.Phase)
	}
	if f.Todos > 0 {
		words = append(words, fmt.Sprintf("%d of %s done", f.Done, plural(f.Todos, "task")))
	}
	for _, a := range f.Agents {
		names = append(names, view.OneLine(string(a)))
	}
	return m.flowGlance(f, title, width, words, strings.Join(names, ", "))
}

func teamListActions() []Action {
	return []Action{
		{Name: "teams", Command: true, Aliases: []string{"team"}, Args: "[run [NAME WHAT]|ID]", Keys: []string{"alt+p"}, Where: Anywhere, Title: "teams",
			About: "Teams: a leader that sets members to work, over many turns; set one to work, follow it, speak to it",
			Do:    (*Model).teamCommand},
	}
}
