package tui

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/input"
)

// submit does what Enter asks for: a command, a line for the shell, a message to
// agents at work, or the next thing said in the conversation.
func (m *Model) submit(s input.Submit) tea.Cmd {
	m.remember(s.Line)
	switch {
	case s.Command != "":
		return m.command(s.Command, s.Args)
	case s.Shell:
		return m.shell(s.Text)
	case strings.TrimSpace(s.Text) == "" && len(s.Images) == 0:
		return m.enterEmpty()
	case m.chatting():
		return m.speak(s.Text, s.Images)
	case m.inRun() && !m.runTakes():
		return m.speakFromRun(s.Text, s.Images)
	case m.strayed():
		return m.carryHome(s.Text)
	case m.busy() && len(s.Images) > 0:
		m.notify("Agents at work take no pictures: send it again when they are done.")
		m.giveBack(s.Text)
		return nil
	case m.busy():
		return m.message(s.Text)
	case m.reviewWith(s.Text):
		return nil
	}
	return m.say(s.Text, s.Images)
}

// enterEmpty is Enter with nothing typed: it answers the question that waits, if
// that can be answered so, or opens the run that goes on.
func (m *Model) enterEmpty() tea.Cmd {
	gates := m.gates()
	switch {
	case len(gates) == 0 && m.strayed():
		m.notify("Esc goes back to " + m.detour.name + ".")
	case len(gates) == 0 && m.chatting():
		cmd, _ := m.enterCard()
		return cmd
	case len(gates) == 0:
	case gates[0].Kind == event.GateOverride:
		return m.reply(gates[0], gates[0].Default, "")
	default:
		m.decide(gates[0])
	}
	return nil
}

// maxHistory is how much of what was asked before is remembered.
const maxHistory = 1000

// recall finds out what was asked here before: that takes the longer the more
// there is, and nobody waits for it.
func (m *Model) recall() tea.Cmd {
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		before, err := m.c.History(ctx, maxHistory)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("What was asked before cannot be read: " + err.Error())
			}
			m.history = append(m.history, before...)
			return nil
		}
	})
}

// remember puts what was typed in front of the history.
func (m *Model) remember(text string) {
	if text = strings.TrimSpace(text); text != "" && (len(m.history) == 0 || m.history[0] != text) {
		m.history = append([]string{text}, m.history...)
	}
}

// sent is what became of something that was sent.
type sent struct {
	what   string // is said if it failed
	err    error
	failed func(*Model)
	then   func(*Model) tea.Cmd
}

// wasSent takes in what became of something that was sent.
func (m *Model) wasSent(s sent) tea.Cmd {
	if s.err != nil {
		m.notify(fmt.Sprintf("%s: %v", s.what, s.err))
		if s.failed != nil {
			s.failed(m)
		}
		return nil
	}
	if s.then != nil {
		return s.then(m)
	}
	return m.takeUp() // else nobody would hear it
}

// giveBack puts words back into the input that were not taken, with chips and
// pictures if they are what was typed last. While something else is being typed
// they are in the history.
func (m *Model) giveBack(s string) {
	if !m.input.Empty() {
		return
	}
	if m.input.Restore(); strings.TrimSpace(m.input.Text()) != strings.TrimSpace(s) {
		m.input.SetText(s)
	}
}

// say says something in the conversation, which begins with it if need be.
func (m *Model) say(text string, images []string) tea.Cmd {
	c, id := m.c, m.id
	start := event.SessionStarted{Kind: event.SessionCoordinate, Config: cmp.Or(m.detour.config, m.o.Config), Asks: true, By: by}
	if id == "" && m.story != nil { // the run that is shown becomes its first turn
		start.From = m.story.id
	}
	m.detour.asked = m.detour.on
	said := event.Said{Text: event.Inline(text), Images: images, Modes: m.modes, By: by}
	return m.sending(func(ctx context.Context) sent {
		fail := func(err error) sent {
			return sent{what: "Not sent", err: err, failed: func(m *Model) { m.detour.asked = false; m.giveBack(text) }}
		}
		if id == "" {
			begun, err := c.Begin(ctx, start)
			if err != nil {
				return fail(err)
			}
			id = begun
		}
		if err := c.Send(ctx, id, event.Fact{ID: newID("said"), Body: said}); err != nil {
			return fail(err)
		}
		return sent{then: func(m *Model) tea.Cmd { return m.converse(id) }}
	})
}

// converse follows and drives the conversation from here on.
func (m *Model) converse(id event.FlowID) tea.Cmd {
	m.id = id
	m.inList = false
	m.feed.follow(id)
	return m.driver.ensure(id)
}

// tell sends a fact to the run that is going on.
func (m *Model) tell(what string, body event.Body) tea.Cmd {
	if m.story == nil {
		return nil
	}
	return m.send(m.story.id, fact(body), what, nil)
}

// send sends a fact to a flow. If that fails, what says what has not been done
// then, and failed, unless it is nil, puts things back.
func (m *Model) send(id event.FlowID, f event.Fact, what string, failed func(*Model)) tea.Cmd {
	c := m.c
	return m.sending(func(ctx context.Context) sent {
		return sent{what: what, err: c.Send(ctx, id, f), failed: failed}
	})
}

// fact is something a person says, under a name of its own.
func fact(b event.Body) event.Fact { return event.Fact{ID: newID(event.Kind(b)), Body: b} }

// by is how the person at this window is named in the log.
const by = "you"

// newID names something that is said.
func newID(kind string) string { return kind + "/" + rand.Text()[:12] }

// shell runs a line for the person; what it prints goes along with what is said
// next, unless it is taken out of the input.
func (m *Model) shell(line string) tea.Cmd {
	m.notify("$ " + line)
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		out, code, err := m.c.Shell(ctx, line)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify(fmt.Sprintf("! %s: %v", line, err))
				return nil
			}
			m.open(newPager("$ "+line+exitWords(code), out))
			label := fmt.Sprintf("$ %s, %s", line, plural(strings.Count(strings.TrimRight(out, "\n"), "\n")+1, "line"))
			m.input.AddChip(label, fmt.Sprintf("I ran `%s`%s:\n```\n%s\n```", line, exitWords(code), strings.TrimRight(out, "\n")))
			return nil
		}
	})
}

func exitWords(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf(" (exit code %d)", code)
}
