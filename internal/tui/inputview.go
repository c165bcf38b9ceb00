package tui

import (
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/input"
	"conclave/internal/tui/text"
)

// inputOptions are what the input completes from.
func (m *Model) inputOptions() input.Options {
	return input.Options{
		Paths:    (&pathFinder{c: m.c, now: m.o.Now}).paths,
		Commands: m.commands,
		History:  func() []string { return m.history },
		Agents:   m.addressees,
		Image:    isImage,
	}
}

// commands are the slash commands, with why one cannot be used now.
func (m *Model) commands() []input.Candidate {
	var out []input.Candidate
	for _, a := range m.table {
		if a.Command {
			out = append(out, input.Candidate{Text: a.Name, Also: a.Aliases, About: a.About, Args: a.Args, Why: a.why(m)})
		}
	}
	return out
}

// isImage reports whether a path names a picture.
func isImage(path string) bool {
	lower := strings.ToLower(path)
	for _, end := range []string{".png", ".jpg", ".jpeg", ".gif", ".webp"} {
		if strings.HasSuffix(lower, end) {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular()
		}
	}
	return false
}

// inputView draws the input; x and y are where the cursor is in it.
func (m *Model) inputView(w, h int) (lines []string, x, y int, popup []string) {
	m.input.Placeholder(m.placeholder())
	return m.input.View(w, min(maxInput, max(h/3, 1)), m.theme)
}

func (m *Model) placeholder() string {
	switch {
	case m.chatting():
		return m.talkPlaceholder()
	case m.situation() == Gate:
		return m.gatePlaceholder()
	case m.inRun() && !m.runTakes():
		return "The run is over; what you say goes to " + m.partnerName()
	case m.strayed():
		return "Done; Esc goes back to " + m.detour.name
	case m.busy():
		return m.messagePlaceholder()
	}
	who := ""
	if m.modes.Single {
		who = " by " + text.Clean(string(m.single())) + " alone"
	}
	switch {
	case m.modes.Plan:
		return "What is to be planned" + who + "?"
	case m.session.Turns.Len() > 0 && m.modes.Single:
		return "Go on with " + text.Clean(string(m.single())) + " alone"
	case m.session.Turns.Len() > 0:
		return "Go on with the conversation"
	case m.modes.Single:
		return "What do you want done" + who + "?"
	}
	return "What do you want done? / for commands, @ for files"
}

func (m *Model) clickPopup(row int) tea.Cmd {
	out, cmd := m.input.ClickPopup(row)
	return tea.Batch(cmd, m.outcome(out, nil))
}

func inputActions() []Action {
	return []Action{
		{Name: "editor", Command: true, Keys: []string{"ctrl+g"}, Where: Anywhere, Title: "editor", About: "Write in your own editor ($VISUAL, $EDITOR)",
			Do: func(m *Model, _ string) tea.Cmd { return m.editor() }},
	}
}
