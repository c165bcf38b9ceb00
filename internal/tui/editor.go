package tui

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// editor goes on with what is typed in the person's own editor.
func (m *Model) editor() tea.Cmd {
	return m.editText(m.input.Text(), func(m *Model, s string) tea.Cmd {
		m.input.SetText(s)
		return nil
	})
}

// editText opens a text in the person's editor, and hands on what became of it.
func (m *Model) editText(s string, then func(m *Model, s string) tea.Cmd) tea.Cmd {
	command := editorCommand(os.Getenv, exec.LookPath)
	if len(command) == 0 {
		m.notify("There is no editor: say which in VISUAL or EDITOR.")
		return nil
	}
	return m.later(func(context.Context) func(*Model) tea.Cmd {
		file, err := draft(s)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The text cannot be handed to the editor: " + err.Error())
				return nil
			}
			cmd := exec.CommandContext(m.showing, command[0], append(command[1:], file)...)
			cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
			cmd.WaitDelay = patience / 2
			cmd.Stdin, cmd.Stdout, cmd.Stderr = m.o.In, m.o.Out, m.o.Out
			return tea.ExecProcess(cmd, func(err error) tea.Msg { return edited(file, err, then) })
		}
	})
}

// editorCommand is the editor with its arguments: VISUAL may be "code -w". Where
// none is set it is one that most systems have.
func editorCommand(env func(string) string, find func(string) (string, error)) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if f := strings.Fields(env(name)); len(f) > 0 {
			return f
		}
	}
	for _, name := range []string{"nano", "vim", "vi"} {
		if path, err := find(name); err == nil {
			return []string{path}
		}
	}
	return nil
}

// draft is a file of the person's alone with a text in it.
func draft(s string) (string, error) {
	f, err := os.CreateTemp("", "conclave-*.md")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(s)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// edited is what became of a draft. One that the editor has failed on is kept
// where it is, so that nothing written is lost.
func edited(file string, err error, then func(m *Model, s string) tea.Cmd) func(*Model) tea.Cmd {
	p, read := os.ReadFile(file)
	if err == nil && read == nil {
		_ = os.Remove(file)
	}
	return func(m *Model) tea.Cmd {
		switch {
		case err != nil:
			m.notify("The editor failed (" + err.Error() + "); what was written is in " + file)
		case read != nil:
			m.notify("What was edited cannot be read: " + read.Error())
		default:
			return then(m, strings.TrimRight(string(p), "\n"))
		}
		return nil
	}
}
