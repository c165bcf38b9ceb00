package tui

import (
	"context"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/input"
)

// inputOptions are what the input completes from.
func (m *Model) inputOptions() input.Options {
	return input.Options{
		Paths:    m.paths,
		Commands: m.commands,
		History:  func() []string { return m.history },
		Agents:   func() []input.Candidate { return nil },
		Image:    isImage,
	}
}

// commands are the slash commands, with why one cannot be used now.
func (m *Model) commands() []input.Candidate {
	var out []input.Candidate
	for _, a := range m.table {
		if a.Command {
			out = append(out, input.Candidate{Text: a.Name, About: a.About, Args: a.Args, Why: a.why(m)})
		}
	}
	return out
}

// maxPaths is how many files are looked through for a path.
const maxPaths = 20_000

// paths are files that fit what was typed after an @.
func (m *Model) paths(ctx context.Context, typed string) []input.Candidate {
	dir := "."
	if i := strings.LastIndex(typed, "/"); i >= 0 && (strings.HasPrefix(typed, "/") || strings.HasPrefix(typed, "~") || strings.HasPrefix(typed, "..")) {
		dir = typed[:i+1]
	}
	entries, _, err := m.c.Tree(ctx, dir, maxPaths)
	if err != nil {
		return nil
	}
	var out []input.Candidate
	for _, e := range entries {
		path := e.Path
		if dir != "." {
			path = dir + path
		}
		out = append(out, input.Candidate{Text: path, Dir: e.Dir})
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
	case m.situation() == Gate:
		return "A question waits for you: Enter opens it"
	case m.busy():
		return "Say something to the agents while they work"
	case m.modes.Plan:
		return "What is to be planned?"
	case len(m.session.Turns) > 0:
		return "Go on with the conversation"
	}
	return "What do you want done? / for commands, @ for files"
}

func (m *Model) clickPopup(row int) tea.Cmd {
	out, cmd := m.input.ClickPopup(row)
	return tea.Batch(cmd, m.outcome(out, nil))
}

// editor opens what is typed in the person's own editor.
func (m *Model) editor() tea.Cmd {
	name := os.Getenv("VISUAL")
	if name == "" {
		name = os.Getenv("EDITOR")
	}
	fields := strings.Fields(name)
	if len(fields) == 0 {
		m.notify(errNoEditor.Error())
		return nil
	}
	f, err := os.CreateTemp("", "conclave-*.md")
	if err != nil {
		m.notify(err.Error())
		return nil
	}
	_, err = f.WriteString(m.input.Text())
	if f.Close() != nil || err != nil {
		m.notify("The text cannot be handed to the editor.")
		return nil
	}
	cmd := exec.Command(fields[0], append(fields[1:], f.Name())...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		p, read := os.ReadFile(f.Name())
		_ = os.Remove(f.Name())
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.notify("The editor failed: " + err.Error())
			case read != nil:
				m.notify("What was edited cannot be read: " + read.Error())
			default:
				m.input.SetText(strings.TrimRight(string(p), "\n"))
			}
			return nil
		}
	})
}

func inputActions() []Action {
	return []Action{
		{Name: "editor", Command: true, Keys: []string{"ctrl+g"}, Where: Anywhere, Title: "editor", About: "Write in your own editor ($VISUAL, $EDITOR)",
			Do: func(m *Model, _ string) tea.Cmd { return m.editor() }},
	}
}
