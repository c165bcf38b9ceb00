package tui

import (
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// editText opens a text in the person's own editor, and does then with what they
// have made of it.
func (m *Model) editText(s string, then func(m *Model, s string) tea.Cmd) tea.Cmd {
	name := os.Getenv("VISUAL")
	if name == "" {
		name = os.Getenv("EDITOR")
	}
	fields := strings.Fields(name)
	if len(fields) == 0 {
		m.notify("There is no editor: set VISUAL or EDITOR.")
		return nil
	}
	f, err := os.CreateTemp("", "conclave-*.md")
	if err != nil {
		m.notify("The text cannot be handed to the editor: " + err.Error())
		return nil
	}
	path := f.Name()
	_, err = f.WriteString(s)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(path)
		m.notify("The text cannot be handed to the editor: " + err.Error())
		return nil
	}
	cmd := exec.Command(fields[0], append(fields[1:], path)...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		p, read := os.ReadFile(path)
		_ = os.Remove(path)
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.notify("The editor failed: " + err.Error())
			case read != nil:
				m.notify("What was edited cannot be read: " + read.Error())
			default:
				return then(m, string(p))
			}
			return nil
		}
	})
}
