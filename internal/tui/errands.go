package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
)

// errandActions are small things to do besides: copying, saving, attaching.
func errandActions() []Action {
	cmd := func(name, args, title, about string, why func(*Model) string, do func(*Model, string) tea.Cmd) Action {
		return Action{Name: name, Command: true, Args: args, Where: Anywhere, Title: title, About: about, Why: why, Do: do}
	}
	keyed := func(a Action, keys ...string) Action { a.Keys = keys; return a }
	also := func(a Action, aliases ...string) Action { a.Aliases = aliases; return a }
	return []Action{
		cmd("copy", "[answer|last|N]", "copy", "Copy the final answer, the last one given, or that of turn N", withTimeline, (*Model).copyAnswer),
		cmd("export", "[FILE]", "export", "Write the whole log of what is shown to a file", withTimeline, (*Model).export),
		keyed(cmd("theme", "[NAME]", "theme", "Choose how things look", nil, (*Model).chooseTheme)),
		{Name: "next_theme", Keys: []string{"f8"}, Where: Anywhere, Title: "next theme", About: "Go on to the next theme", Do: (*Model).nextTheme},
		also(cmd("new", "", "new conversation", "Begin a new conversation in this window", (*Model).held, (*Model).anew), "clear", "reset"),
		cmd("rename", "NAME", "rename", "Give this conversation a name", withSession, (*Model).renameThis),
		cmd("attach", "PATH", "attach", "Attach a picture or name a file or folder", nil, (*Model).attach),
		keyed(cmd("paste-image", "", "paste a picture", "Attach the picture that is on the clipboard", nil, (*Model).pasteImage), "ctrl+v"),
		cmd("mouse", "[on|off]", "mouse", "Whether the window has the mouse; off leaves selecting text to the terminal", nil, (*Model).mouseSwitch),
		cmd("config", "", "configuration", "Where the configuration is", nil, func(m *Model, _ string) tea.Cmd {
			where := "Agents: " + m.team.Source
			if m.o.Look.File != "" {
				where += " · your own settings: " + m.o.Look.File
			}
			m.notify(where)
			return nil
		}),
	}
}

func withSession(m *Model) string {
	if m.id == "" {
		return "There is no conversation yet; type what you want done."
	}
	return ""
}

// copyAnswer copies the answer that is named.
func (m *Model) copyAnswer(args string) tea.Cmd {
	if m.chatting() {
		return m.copySaid(args)
	}
	all := answersOf(m.shown())
	n, err := strconv.Atoi(args)
	switch {
	case err == nil && n >= 1 && n <= m.session.Turns.Len():
		for _, r := range slices.Backward(m.session.Turns.At(n - 1).Runs) {
			if !r.Answer.Empty() {
				return m.copy(m.texts.of(r.Answer))
			}
		}
		m.notify(fmt.Sprintf("Turn %d has no answer.", n))
		return nil
	case err == nil:
		m.notify(fmt.Sprintf("There are %s.", plural(m.session.Turns.Len(), "turn")))
		return nil
	case args == "" || args == "answer":
		if f := m.shown().result.Final; !f.Empty() {
			return m.copy(m.texts.of(f))
		}
		if f, ok := m.lastFinal(); ok && len(all) == 0 { // what is shown has none
			return m.copy(m.texts.of(f))
		}
	case args != "last":
		all = slices.DeleteFunc(all, func(x answer) bool { return x.name != args })
	}
	if len(all) == 0 {
		m.notify("There is no such answer yet.")
		return nil
	}
	return m.copy(m.texts.of(all[0].content))
}

// lastFinal is the newest final answer of the conversation.
func (m *Model) lastFinal() (event.Content, bool) {
	for _, t := range m.session.Turns.Backward() {
		for _, r := range slices.Backward(t.Runs) {
			if !r.Answer.Empty() {
				return r.Answer, true
			}
		}
	}
	return event.Content{}, false
}

// export writes the log of the run that is shown; of one that could not begin
// there is none, but the conversation tells why.
func (m *Model) export(file string) tea.Cmd {
	id := m.id
	if !m.chatting() && (m.shown().seq > 0 || id == "") {
		id = m.shown().id
	}
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		written, err := m.c.Export(ctx, id, file)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("Not exported: " + err.Error())
			} else {
				m.notify("Written: " + written)
			}
			return nil
		}
	})
}

// save writes a text to a file that is not there yet.
func (m *Model) save(file, s string) tea.Cmd {
	return m.later(func(context.Context) func(*Model) tea.Cmd {
		abs, err := filepath.Abs(file)
		if err == nil {
			err = writeNew(abs, s)
		}
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("Not saved: " + err.Error())
			} else {
				m.notify("Saved: " + abs)
			}
			return nil
		}
	})
}

// writeNew writes a file that must not be there.
func writeNew(file, s string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (m *Model) renameThis(name string) tea.Cmd {
	if name = oneLine(name); name == "" {
		m.open(newPrompt("Rename the conversation", "What is it to be called?", "", func(m *Model, s string) tea.Cmd { return m.rename(m.id, s) }))
		return nil
	}
	return m.rename(m.id, name)
}

// attach puts a picture, or the name of a file, into the input.
func (m *Model) attach(file string) tea.Cmd {
	if file == "" {
		m.notify("Say which file: /attach PATH")
		return nil
	}
	return m.later(func(context.Context) func(*Model) tea.Cmd {
		picture := isImage(file)
		_, err := os.Stat(file)
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.notify(fmt.Sprintf("There is no file %s here.", file))
			case picture:
				m.input.AddImage(file)
			default:
				name := "@" + file
				if strings.ContainsAny(file, " \t") {
					name = `@"` + file + `"`
				}
				return m.input.InsertText(name + " ")
			}
			return nil
		}
	})
}

func (m *Model) pasteImage(string) tea.Cmd {
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		file, err := m.c.Clipboard(ctx)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("No picture: " + err.Error())
				return nil
			}
			m.input.AddImage(file)
			return nil
		}
	})
}

func (m *Model) mouseSwitch(args string) tea.Cmd {
	switch strings.ToLower(args) {
	case "on":
		m.o.Look.NoMouse = false
	case "off":
		m.o.Look.NoMouse = true
	case "":
		m.o.Look.NoMouse = !m.o.Look.NoMouse
	default:
		m.notify("The mouse is on or off.")
		return nil
	}
	m.notify(onOff("The mouse", !m.o.Look.NoMouse, "click on things, turn the wheel", "the terminal has it, to select text with"))
	return nil
}
