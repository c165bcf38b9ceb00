package input

import (
	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// Update takes a message. The command, which may be nil, is for Bubble Tea to
// run; its message has to come back here.
func (m *Model) Update(msg tea.Msg) (Outcome, tea.Cmd) {
	switch msg := msg.(type) {
	case found:
		if msg.by != m {
			return Unhandled{}, nil
		}
		m.arrived(msg)
		return nil, nil
	case tea.KeyPressMsg:
		if m.blurred {
			return Unhandled{}, nil
		}
		return m.key(msg)
	case tea.PasteMsg:
		if m.blurred {
			return Unhandled{}, nil
		}
		return nil, m.paste(msg.Content)
	}
	return Unhandled{}, nil
}

// typedBy is the text a key types.
func typedBy(k tea.KeyPressMsg) string {
	if k.Text == "" || k.Mod&(tea.ModCtrl|tea.ModAlt) == tea.ModCtrl {
		return ""
	}
	return text.Clean(k.Text)
}

func (m *Model) key(k tea.KeyPressMsg) (Outcome, tea.Cmd) {
	name, typed := k.Keystroke(), typedBy(k)
	if s, ok := same[name]; ok {
		name = s
	}
	if m.find != nil {
		return m.findKey(name, typed)
	}
	if m.menu.shown() {
		if out, cmd, ok := m.menuKey(name); ok {
			return out, cmd
		}
	}
	if typed != "" {
		m.buf.insert(typed)
		m.edited()
		return nil, m.complete(true)
	}
	return m.command(name)
}

// edited notes that what the history gave is now a text of one's own.
func (m *Model) edited() {
	if m.walk != nil {
		m.walk.fresh = false
	}
}

// command does what a key means outside of popups.
func (m *Model) command(name string) (Outcome, tea.Cmd) {
	switch name {
	case "enter":
		if at := m.buf.at; at > 0 && m.buf.atoms[at-1].s == `\` {
			m.buf.keep(moving, false)
			m.buf.replace(at-1, at, cut("\n"))
			m.edited()
			return nil, m.complete(true)
		}
		return m.submit(), nil
	case "ctrl+j":
		m.buf.put(cut("\n"))
		m.edited()
		return nil, m.complete(true)
	case "up":
		return m.up(), m.complete(false)
	case "down":
		return m.down(), m.complete(false)
	case "ctrl+r":
		if m.opt.History == nil {
			return Unhandled{}, nil
		}
		m.search()
		return nil, nil
	case "ctrl+g":
		return Editor{m.Text()}, nil
	case "ctrl+d":
		if m.Empty() {
			return Unhandled{}, nil
		}
		name = "delete"
	case "left", "right", "home", "end":
		if m.Empty() {
			return Unhandled{}, nil
		}
	}
	edit, ok := edits[name]
	if !ok {
		return Unhandled{}, nil
	}
	ver := m.buf.ver
	edit(&m.buf)
	m.edited()
	return nil, m.complete(m.buf.ver != ver)
}

// up goes a row up, and on the first one further back in the history.
func (m *Model) up() Outcome {
	if (m.walk == nil || !m.walk.fresh) && m.vertical(-1) {
		return nil
	}
	return m.older()
}

// down goes a row down, and on the last one forward in the history.
func (m *Model) down() Outcome {
	if (m.walk == nil || !m.walk.fresh) && m.vertical(1) {
		return nil
	}
	return m.newer()
}
