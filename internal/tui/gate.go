package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A gateScreen is a screen in which a question is answered.
type gateScreen interface {
	Screen
	gateID() string
}

// settle is how long a dialog that has opened by itself takes no decision: what
// is typed at that moment was meant for the input.
const settle = 600 * time.Millisecond

// gateKey names one asking of a question.
func gateKey(g view.Gate) string {
	return fmt.Sprintf("%s %d %d", g.Gate, g.Revision, g.Since.UnixNano())
}

// attend puts questions before the person that they have not been shown yet. The
// override does not cover the timeline: it waits in the line above the input.
func (m *Model) attend() {
	if !m.caughtUp() {
		return
	}
	for _, g := range m.gates() {
		key := gateKey(g)
		if m.offered[key] {
			continue
		}
		if m.offered == nil {
			m.offered = map[string]bool{}
		}
		m.offered[key] = true
		if g.Kind != event.GateOverride && m.top() == nil && m.input.Empty() {
			m.decide(g)
			m.sprung = m.o.Now()
		}
	}
}

// caughtUp reports whether everything is taken in that had happened when the
// window was opened: what was asked and answered before is no news.
func (m *Model) caughtUp() bool { return m.story == nil || m.story.seq >= m.story.until }

// hasty is why a decision is not taken yet.
func hasty(m *Model) string {
	if m.o.Now().Sub(m.sprung) < settle {
		return "This has only just opened; press the key again."
	}
	return ""
}

// decide opens the dialog of a question.
func (m *Model) decide(g view.Gate) {
	m.sprung = time.Time{}
	m.notice.text = "" // the keys that decide are seen in its place
	switch g.Kind {
	case event.GateOverride:
		m.open(newOverride(m, g))
	case event.GatePlan:
		m.open(m.reviewOf(g))
	default:
		m.open(newPermission(g))
	}
}

// gate is a question that waits.
func (m *Model) gate(id string) (view.Gate, bool) {
	for _, g := range m.gates() {
		if g.Gate == id {
			return g, true
		}
	}
	return view.Gate{}, false
}

// answered takes the dialog of a question away that has been answered, here or
// elsewhere, and says how.
func (m *Model) answered(c event.Closed, live bool) {
	wasOpen := false
	for i := len(m.screens) - 1; i >= 0; i-- {
		if s, ok := m.screens[i].(gateScreen); ok && s.gateID() == c.Gate {
			m.screens = append(m.screens[:i:i], m.screens[i+1:]...)
			wasOpen = true
		}
	}
	if m.review != nil && m.review.gate == c.Gate {
		m.review = nil
	}
	if !live {
		return
	}
	m.notify(m.closedWords(c))
	if !wasOpen || m.top() != nil {
		return
	}
	for _, g := range m.gates() { // the next one of several
		if g.Kind == event.GatePermission {
			m.decide(g)
			m.sprung = m.o.Now()
			return
		}
	}
}

// closedWords say how a question was answered.
func (m *Model) closedWords(c event.Closed) string {
	what := text.Clean(c.Choice)
	switch {
	case c.Gate == event.GateOverride:
		what = m.nameOf(event.AgentID(c.Choice)) + " presents"
	case c.Choice == event.PermitOnce:
		what = "allowed once"
	case c.Choice == event.PermitRun:
		what = "allowed for this run"
	case c.Choice == event.PermitAlways:
		what = "allowed from now on"
	case c.Choice == event.PermitDeny:
		what = "denied"
	case c.Choice == event.PlanApprove:
		what = "the plan is approved and will be executed"
	case c.Choice == event.PlanChange:
		what = "the plan goes back to be changed"
	case c.Choice == event.PlanDrop:
		what = "the plan is dropped"
	}
	switch {
	case c.How == "expired":
		return "Time was up: " + what + "."
	case c.How != "reply":
		return "The question is closed, because what it was about has ended: " + what + "."
	case c.Reply == m.replied:
		return "Decided: " + what + "."
	}
	return "Answered elsewhere (" + text.Clean(c.By) + "): " + what + "."
}

// reply answers a question.
func (m *Model) reply(g view.Gate, choice, words string) tea.Cmd {
	id := m.id
	if g.Kind != event.GatePlan && m.story != nil {
		id = m.story.id
	}
	m.replied = newID("replied")
	return m.sendAs(m.replied, id, "Not answered", event.Replied{Gate: g.Gate, Choice: choice, Text: words, Revision: g.Revision, By: by})
}

// sendAs sends a fact with an id of our choice to a flow.
func (m *Model) sendAs(fact string, id event.FlowID, what string, body event.Body) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		return sent{what: what, err: c.Send(ctx, id, event.Fact{ID: fact, Body: body})}
	}
}

// nameOf is an agent by its label and its id.
func (m *Model) nameOf(a event.AgentID) string {
	id := text.Clean(string(a))
	if m.story != nil {
		if l, ok := m.story.card.Agent(a); ok && l.Label != "" && string(l.Label) != id {
			return fmt.Sprintf("%s (%s)", l.Label, id)
		}
	}
	return id
}

// waits are the lines above the input about questions that wait.
func (m *Model) waits(w int) []string {
	gates := m.gates()
	if len(gates) == 0 {
		return nil
	}
	g := gates[0]
	var line string
	switch g.Kind {
	case event.GateOverride:
		line = m.overrideLine(g, w)
	case event.GatePlan:
		line = fmt.Sprintf("Plan, revision %d, waits for your review: Ctrl+O opens it", g.Revision)
	case event.GatePermission:
		line = view.OneLine(g.Title) + " Ctrl+O opens the question"
	default:
		line = view.OneLine(g.Title) + " Ctrl+O opens it"
	}
	if n := len(gates) - 1; n > 0 {
		line += fmt.Sprintf(" (%d more)", n)
	}
	return []string{m.theme.Warn.Render(text.Cut(" ? "+text.Clean(line), w))}
}

// gatePlaceholder says what Enter does while a question waits.
func (m *Model) gatePlaceholder() string {
	if m.gates()[0].Kind == event.GateOverride {
		return "Enter continues with the winner, Ctrl+O chooses another"
	}
	return "A question waits for you: Enter opens it"
}

// left is how long a question stays open, in words.
func (m *Model) left(g view.Gate) string {
	at, ok := g.Closes()
	if !ok {
		return "waits for you"
	}
	return face(at.Sub(m.o.Now())) + " left"
}

// gateActions are for questions that wait.
func gateActions() []Action {
	return []Action{
		{Name: "decide", Command: true, Aliases: []string{"override", "review"}, Keys: []string{"ctrl+o"}, Where: Anywhere, Title: "decide", Hint: 1,
			About: "Open the question that waits: who presents, a permission, a plan",
			Why: func(m *Model) string {
				if len(m.gates()) == 0 {
					return "Nothing waits for your decision."
				}
				return ""
			},
			Do: func(m *Model, _ string) tea.Cmd { m.decide(m.gates()[0]); return nil }},
	}
}
