package tui

import (
	tea "charm.land/bubbletea/v2"
)

const (
	atPrompt  Where = "a question"
	atConfirm Where = "a question to be sure"
)

// prompt is a dialog that asks for one line.
type prompt struct {
	title, about string
	field        field
	optional     bool // nothing may be an answer
	done         func(m *Model, s string) tea.Cmd
}

func newPrompt(title, about, begin string, done func(m *Model, s string) tea.Cmd) *prompt {
	p := &prompt{title: title, about: about, field: newField(""), done: done}
	p.field.in.SetText(begin)
	return p
}

func (p *prompt) Where() Where        { return atPrompt }
func (p *prompt) Title(*Model) string { return p.title }
func (p *prompt) Full() bool          { return false }
func (p *prompt) Typing() bool        { return true }

// Update writes; Enter is done.
func (p *prompt) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	done, used := p.field.update(msg)
	if !done {
		return nil, used
	}
	s := oneLine(p.field.text())
	if s == "" && !p.optional {
		m.notify("Write something, or press Esc.")
		return nil, true
	}
	m.closeTop()
	return p.done(m, s), true
}

func (p *prompt) View(m *Model, width, height int) []string {
	var out []string
	if p.about != "" {
		out = bodyLines(p.about, width)
	}
	return append(out, p.field.lines(m, width, max(height-len(out), 1), true)...)
}

// sure asks whether something is meant that cannot be undone; no is the first
// answer.
type sure struct {
	ask
	do func(m *Model) tea.Cmd
}

func (m *Model) confirm(title, words string, do func(m *Model) tea.Cmd) {
	m.open(&sure{ask{where: atConfirm, title: title, words: words}, do})
}

func confirmActions() []Action {
	return []Action{
		{Name: "confirm_no", Keys: []string{"n"}, Where: atConfirm, Title: "no", Hint: 1, About: "No, leave it as it is",
			Do: func(m *Model, _ string) tea.Cmd { m.closeTop(); return nil }},
		{Name: "confirm_yes", Keys: []string{"y"}, Where: atConfirm, Title: "yes", Hint: 2, About: "Yes, do it",
			Do: func(m *Model, _ string) tea.Cmd {
				s, ok := m.top().(*sure)
				if !ok {
					return nil
				}
				m.closeTop()
				return s.do(m)
			}},
	}
}
