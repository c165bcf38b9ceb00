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
	if s == "" {
		m.notify("Write something, or press Esc.")
		return nil, true
	}
	m.closeTop()
	return p.done(m, s), true
}

func (p *prompt) View(m *Model, width, height int) []string {
	out := bodyLines(p.about, width)
	return append(out, p.field.lines(m, width, max(height-len(out), 1), true)...)
}

// confirm asks whether something is meant; no is the first answer.
func (m *Model) confirm(title, yes string, do func(m *Model) tea.Cmd) {
	m.open(&picker{where: atConfirm, title: title, browse: true,
		rows: []pick{{text: "No, leave it as it is", value: false}, {text: yes, value: true}},
		chosen: func(m *Model, p pick) tea.Cmd {
			m.closeTop()
			if p.value != true {
				return nil
			}
			return do(m)
		}})
}
