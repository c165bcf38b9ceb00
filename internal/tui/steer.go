package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// twice is how soon something must be asked for again to mean it.
const twice = 3 * time.Second

// once is what was asked for once, of what must be asked for twice.
type once struct {
	what string
	at   time.Time
}

// again reports whether something is asked for the second time.
func (m *Model) again(what string) bool {
	was, now := m.once, m.o.Now()
	if m.once = (once{}); was.what == what && now.Sub(was.at) < twice {
		return true
	}
	m.once = once{what, now}
	return false
}

// steerActions are for a run that goes on.
func steerActions() []Action {
	return append(queueActions(), []Action{
		{Name: "interrupt", Keys: []string{"esc"}, Where: InInput, Title: "interrupt", Now: (*Model).escapeWords, Hint: 3,
			Why: func(m *Model) string {
				if m.past == nil && !m.leaving && !m.busy() && !m.detour.on {
					return m.idleWords() + " Ctrl+D leaves."
				}
				return ""
			},
			About: "Stop what is going on and keep what there is (press twice); with nothing going on, go back",
			Do:    (*Model).escape},
		{Name: "cancel", Command: true, Where: Anywhere, Title: "cancel the run", Why: whileRunning,
			About: "Stop what is going on and keep what there is",
			Do:    func(m *Model, _ string) tea.Cmd { return m.askToCancel() }},
		{Name: "wrapup", Command: true, Aliases: []string{"now"}, Keys: []string{"alt+n"}, Where: Anywhere, Title: "answer now", Why: underWay,
			About: "Ask everybody to come to an end with what they have",
			Do: func(m *Model, _ string) tea.Cmd {
				m.notifyNow("Asking everybody to come to an end.")
				return m.tell("Not asked", event.WrapUpRequested{By: by})
			}},
		{Name: "pause", Command: true, Aliases: []string{"continue"}, Keys: []string{"f9"}, Where: Anywhere, Title: "pause, continue",
			Why: func(m *Model) string {
				if m.stalled() {
					return ""
				}
				return underWay(m)
			},
			About: "Have the run stand still, or go on again; no deadline comes nearer meanwhile",
			Do:    func(m *Model, _ string) tea.Cmd { return m.pause() }},
		{Name: "stop", Command: true, Args: "[AGENT]", Keys: []string{"alt+k"}, Where: Anywhere, Title: "stop an agent", Why: underWay,
			About: "Stop one agent, the one whose tab is open if none is named; its answers stay and the others go on",
			Do:    (*Model).askStop},
	}...)
}

// underWay is why a run cannot be steered.
func underWay(m *Model) string {
	switch {
	case m.story == nil || m.story.over():
		return m.idleWords()
	case m.story.card.Phase == view.PhaseEnding:
		return "The run is ending already."
	}
	return ""
}

// escape goes back one step: out of an earlier run, or, pressed twice, out of the
// run that is going on.
func (m *Model) escape(string) tea.Cmd {
	switch {
	case m.past != nil:
		m.leavePast()
	case m.leaving:
		m.leaving = false
		m.notify("The window stays open.")
	case m.chatting():
		return m.talkEscape()
	case m.detour.on && !m.busy():
		return m.comeHome()
	case m.again("interrupt"):
		return m.cancel()
	default:
		m.notifyNow("Esc again stops the run and keeps what there is.")
	}
	return nil
}

// escapeWords is what Esc does as things stand.
func (m *Model) escapeWords() string {
	switch {
	case m.past != nil:
		return "back"
	case m.leaving:
		return "stay"
	case m.chatting() && m.runGoesOn():
		return "cancel the run…"
	case m.chatting():
		return "stop " + m.partnerName()
	case m.detour.on && !m.busy():
		return "back"
	}
	return "interrupt"
}

// askToCancel ends what goes on. A run of a conversation with one agent is asked
// about first, as its card does.
func (m *Model) askToCancel() tea.Cmd {
	if r, ok := m.runningRun(); ok && m.talks() {
		m.askCancel(r)
		return nil
	}
	return m.cancel()
}

// cancel ends the run that goes on.
func (m *Model) cancel() tea.Cmd {
	switch {
	case m.chatting():
		return m.talkCancel()
	case m.story == nil || m.story.over():
		if m.id == "" {
			return nil
		}
		m.notifyNow("Stopping.") // before the run has begun: the conversation knows
		return m.send(m.id, fact(event.CancelRequested{By: by}), "Not stopped", nil)
	case m.story.card.Phase == view.PhaseEnding:
		m.notifyNow("It is stopping already; what there is will be kept.")
		return nil
	}
	m.notifyNow("Stopping; what there is will be kept.")
	return m.tell("Not stopped", event.CancelRequested{By: by})
}

func (m *Model) pause() tea.Cmd {
	if m.stalled() {
		m.notify("Taking it up again.")
		return m.takeUp()
	}
	if m.story.card.Paused {
		m.notifyNow("The run goes on.")
		return m.tell("Not continued", event.ContinueRequested{By: by})
	}
	m.notifyNow("The run stands still as soon as nobody is in the middle of something. F9 goes on.")
	return m.tell("Not paused", event.PauseRequested{By: by})
}

// askStop asks before an agent is stopped: it cannot be undone.
func (m *Model) askStop(args string) tea.Cmd {
	a := m.active()
	if args != "" {
		named, ok := m.agentNamed(args)
		if !ok {
			m.notify("There is no agent " + view.OneLine(args) + ".")
			return nil
		}
		a = named
	}
	if a == "" {
		m.notify("Which one? Open its tab first, or name it: /stop AGENT")
		return nil
	}
	l, ok := m.story.card.Agent(a)
	if !ok {
		m.notify(view.OneLine(string(a)) + " is not in the run that goes on.")
		return nil
	}
	if l.State == view.StateLost {
		m.notify(m.story.name(a) + " does not act any more.")
		return nil
	}
	m.confirm("Stop "+m.story.name(a)+"?", "It will not act again in this run. Its answers stay, and the others go on.", func(m *Model) tea.Cmd {
		m.notify("Stopping " + m.story.name(a) + ".")
		return m.tell("Not stopped", event.StopRequested{Target: a, By: by})
	})
	return nil
}
