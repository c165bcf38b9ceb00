package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/input"
	"conclave/internal/view"
)

// runGoesOn reports whether a run that was launched in the conversation goes on.
func (m *Model) runGoesOn() bool { return m.session.Running != "" }

// deaf is why nothing can be said now: the conversation is closed while a run
// goes on.
func (m *Model) deaf() string {
	disabled := m.chat().Staffed.Rules.Disabled
	if m.chat().Staffed.Rules.Version == 0 && m.team.Interactive != nil {
		disabled = m.team.Interactive.Disabled
	}
	switch {
	case m.session.Kind == event.SessionClient:
		return "A program outside launches the runs here: there is nobody to talk to."
	case disabled && m.runGoesOn():
		return "Closed while a run goes on, as configured (input_during_run: disabled). Esc cancels the run."
	}
	return ""
}

// speak says something to the agent. While it cannot hear, it is held.
func (m *Model) speak(words string, images []string) tea.Cmd {
	if why := m.deaf(); why != "" {
		m.notify(why)
		m.giveBack(words)
		return nil
	}
	if m.id == "" && len(m.talk.said) > 0 { // what was said first is about to begin the session
		m.talk.next = append(m.talk.next, input.Submit{Text: words, Images: images})
		return nil
	}
	m.lane().Bottom()
	m.talk.apart = ""
	c, id := m.c, m.id
	start := event.SessionStarted{Kind: event.SessionInteractive, Config: m.o.Config, Asks: true, By: by}
	f := fact(event.Said{Text: event.Inline(words), Images: images, By: by})
	m.talk.said = append(m.talk.said, unheard{f.ID, words})
	return m.sending(func(ctx context.Context) sent {
		fail := func(err error) sent {
			return sent{what: "Not sent", err: err, failed: func(m *Model) { m.unspoke(f.ID, words) }}
		}
		if id == "" {
			begun, err := c.Begin(ctx, start)
			if err != nil {
				return fail(err)
			}
			id = begun
		}
		if err := c.Send(ctx, id, f); err != nil {
			return fail(err)
		}
		return sent{then: func(m *Model) tea.Cmd { return tea.Batch(m.converse(id), m.speakNext()) }}
	})
}

// speakNext says what was to be said once the session had begun, as one message.
func (m *Model) speakNext() tea.Cmd {
	var words, images []string
	for _, s := range m.talk.next {
		words, images = append(words, s.Text), append(images, s.Images...)
	}
	if m.talk.next = nil; words == nil {
		return nil
	}
	return m.speak(strings.Join(words, "\n"), images)
}

// unspoke gives words back that could not be sent, and those that were to follow.
func (m *Model) unspoke(id, words string) {
	m.talk.verdict(id)
	for _, s := range m.talk.next {
		words += "\n" + s.Text
	}
	m.talk.next = nil
	m.giveBack(words)
}

// talkPlaceholder says what becomes of what is typed.
func (m *Model) talkPlaceholder() string {
	name := m.partnerName()
	switch {
	case m.deaf() != "":
		return m.deaf()
	case m.situation() == Gate:
		return m.gatePlaceholder()
	case m.runGoesOn():
		return "What you say now is held until the run has ended"
	case m.busy():
		return "What you say now is heard after " + name + "'s next step"
	}
	return "Say something to " + name + "; / for commands, @ for files"
}

// talkEscape is Esc in a conversation: with a run going on it asks about that;
// else, pressed twice, it stops the agent.
func (m *Model) talkEscape() tea.Cmd {
	if r, ok := m.runningRun(); ok {
		m.askCancel(r)
		return nil
	}
	if m.again("interrupt") {
		return m.talkCancel()
	}
	m.notifyNow("Esc again stops " + m.partnerName() + " and keeps what it has done.")
	return nil
}

// runningRun is the run that goes on.
func (m *Model) runningRun() (view.SessionRun, bool) {
	if !m.runGoesOn() {
		return view.SessionRun{}, false
	}
	return m.session.Run(m.session.Running)
}

// talkCancel ends what goes on in the conversation: the run, a question about
// one, or the agent's turn.
func (m *Model) talkCancel() tea.Cmd {
	if m.id == "" {
		return nil
	}
	m.notifyNow("Stopping; what there is will be kept.")
	return m.send(m.id, fact(event.CancelRequested{By: by}), "Not stopped", nil)
}

// askCancel asks before a run is cancelled.
func (m *Model) askCancel(r view.SessionRun) {
	task := ""
	if r.Launch != nil {
		task = view.Shorten(m.texts.of(r.Launch.Task), 200) + "\n"
	}
	m.confirm("Cancel the run?", task+"What there is will be kept, and "+m.partnerName()+" is told.", func(m *Model) tea.Cmd {
		if m.session.Running != r.ID || r.Want == "" {
			return m.talkCancel()
		}
		m.notifyNow("Cancelling the run; what there is will be kept.")
		return m.send(m.id, fact(event.Withdrawn{Message: r.Want, By: by}), "Not cancelled", nil)
	})
}

// takeBack takes back what the agent has not heard yet: the newest. To write it
// anew, it is put into the input once it is certain that nobody hears it.
func (m *Model) takeBack(anew bool) tea.Cmd {
	held := m.chat().Held
	if len(held) == 0 {
		return nil
	}
	h := held[len(held)-1]
	words := m.texts.of(h.Text)
	f := fact(event.Withdrawn{Message: h.ID, By: by})
	if m.talk.back == nil {
		m.talk.back = map[string]string{}
	}
	if m.remember(words); !anew {
		words = ""
	}
	m.talk.back[f.ID] = words
	m.notifyNow("Taking back: " + view.Shorten(m.texts.of(h.Text), 60))
	return m.send(m.id, f, "Not taken back", func(m *Model) { delete(m.talk.back, f.ID) })
}
