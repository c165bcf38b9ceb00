package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// lookActions are for looking around: the browsers, and what is done with what
// is seen there. Each browser has a key for everywhere and, as the timeline has
// no use for letters, a letter there.
func lookActions() []Action {
	var out []Action
	for _, b := range browsers() {
		out = append(out, b.Action)
		if b.letter != "" {
			a := b.Action
			a.Name, a.Command, a.Aliases, a.Args = "timeline_"+a.Name, false, nil, ""
			a.Keys, a.Where, a.Hint = []string{b.letter}, InList, b.hint
			out = append(out, a)
		}
	}
	out = append(out, Action{Name: "timeline_help", Keys: []string{"?"}, Where: InList, Title: "help", Hint: 7, About: "Every key and command",
		Do: func(m *Model, _ string) tea.Cmd { m.open(newHelp(m)); return nil }})
	return append(out, errandActions()...)
}

// A browser is a screen to look around in, and the action that opens it.
type browser struct {
	Action
	letter string // in the timeline
	hint   int    // there
}

func browsers() []browser {
	open := func(f func(*Model) Screen) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd {
			s := f(m)
			m.open(s)
			if p, ok := s.(interface{ told(*Model) tea.Cmd }); ok {
				return p.told(m)
			}
			return nil
		}
	}
	look := func(f func(*Model) Screen, letter string, hint int, a Action) browser {
		a.Where, a.Command, a.Do = Anywhere, true, open(f)
		return browser{a, letter, hint}
	}
	return []browser{
		look(newPalette, "", 0, Action{Name: "palette", Aliases: []string{"commands"}, Keys: []string{"f2", "alt+x"}, Title: "commands", Hint: 6,
			About: "Everything that can be done now, with its key"}),
		look(newAnswers, "a", 3, Action{Name: "answers", Keys: []string{"alt+a"}, Title: "answers", Why: withRun,
			About: "Every answer, to read and compare"}),
		look(newVotes, "v", 4, Action{Name: "votes", Aliases: []string{"vote"}, Keys: []string{"alt+v"}, Title: "votes", Why: withRun,
			About: "Who votes for whom, why, and what that comes to"}),
		look(newPlaces, "w", 5, Action{Name: "files", Aliases: []string{"workspace"}, Keys: []string{"alt+w"}, Title: "files", Why: withRun,
			About: "The agents' files, now and with each answer"}),
		look(newCosts, "c", 6, Action{Name: "cost", Aliases: []string{"costs"}, Keys: []string{"alt+o"}, Title: "costs", Why: withRun,
			About: "What it takes, by agent and by turn"}),
		look(newTools, "m", 0, Action{Name: "tools", Aliases: []string{"mcp", "metrics"}, Keys: []string{"alt+m"}, Title: "tools", Why: withRun,
			About: "The agents' tools and MCP servers, and how they fare"}),
		look(newShells, "b", 0, Action{Name: "shells", Aliases: []string{"background"}, Keys: []string{"alt+j"}, Title: "background", Why: withRun,
			About: "Commands that agents have going in the background, and stopping one"}),
		look(newTasks, "t", 0, Action{Name: "tasks", Keys: []string{"f4"}, Title: "tasks", Why: withRun,
			About: "The plan of its work that each agent keeps"}),
		look(newHistory, "h", 0, Action{Name: "history", Keys: []string{"f7"}, Title: "said before",
			About: "What was said before; Enter puts it into the input"}),
		look(newStatus, "s", 0, Action{Name: "status", Keys: []string{"f5"}, Title: "status",
			About: "Who works here, where everything is, and what the window has said"}),
		{Action{Name: "runs", Command: true, Aliases: []string{"sessions", "resume"}, Keys: []string{"f3"}, Where: Anywhere, Title: "runs",
			About: "Runs and conversations, to open one in this window",
			Do:    func(m *Model, _ string) tea.Cmd { return m.openRuns() }}, "r", 0},
		{Action{Name: "projects", Command: true, Aliases: []string{"deliverables"}, Keys: []string{"f10"}, Where: Anywhere, Title: "projects",
			About: "Projects: their goals, deliverables in all versions, paths and runs",
			Do:    func(m *Model, _ string) tea.Cmd { return m.openProjects() }}, "", 0},
	}
}

// looks reports whether an action opens a browser.
func looks(a Action) bool {
	return slices.ContainsFunc(browsers(), func(b browser) bool { return b.Name == a.Name })
}

// browserActions are what can be done in browsers.
func browserActions() []Action {
	return slices.Concat(pagerActions(), answerActions(), fileActions(), shellActions(), runsActions(), projectActions())
}

// cell is a text of others in a column, a narrower one in a narrow window.
func (m *Model) cell(s string, width int) string {
	if m.width < 60 {
		width = max(width*3/5, 6)
	}
	return text.Pad(text.Cut(unbroken(s), width), width)
}

// clock is a time of day where the person is.
func (m *Model) clock(t time.Time) string { return t.In(m.o.Now().Location()).Format("15:04:05") }
