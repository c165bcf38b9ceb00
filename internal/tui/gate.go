package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// put is what has become of the questions that were put to the person, each by
// its gateKey. Of questions that are closed it knows nothing.
type put struct {
	offered map[string]bool   // shown to them
	replies map[string]string // the ids of their replies
	// late is how questions were answered by somebody else while a reply to them
	// was on its way, by the id of that reply.
	late   map[string]event.Closed
	sprung time.Time // when a dialog last opened by itself, or was typed at then
	unread bool      // it has, and nobody has touched anything since
}

// gateKey names one asking of a question.
func gateKey(g view.Gate) string {
	return fmt.Sprintf("%s %d %d", g.Gate, g.Revision, g.Since.UnixNano())
}

// attend puts questions before the person that they have not been shown yet, and
// takes away those that are closed. The override does not cover the timeline: it
// waits in the line above the input.
func (m *Model) attend() {
	m.dismiss(m.asks)
	m.put.keep(m.gates())
	if !m.caughtUp() {
		return
	}
	for _, g := range m.gates() {
		fresh := !m.put.offered[gateKey(g)]
		m.put.offered[gateKey(g)] = true
		if fresh && g.Kind != event.GateOverride && m.top() == nil && m.input.Empty() {
			m.decide(g)
			m.put.sprung, m.put.unread = m.o.Now(), true
		}
	}
}

// keep forgets all questions but these.
func (p *put) keep(gates []view.Gate) {
	offered, replies := map[string]bool{}, map[string]string{}
	for _, g := range gates {
		key := gateKey(g)
		offered[key] = p.offered[key]
		if id := p.replies[key]; id != "" {
			replies[key] = id
		}
	}
	p.offered, p.replies = offered, replies
}

// dismiss takes away what was begun about questions that are not open, and
// reports whether the dialog of one was there.
func (m *Model) dismiss(open func(gate string) bool) bool {
	if m.review != nil && !open(m.review.gate) {
		m.review = nil
	}
	n := len(m.screens)
	m.screens = slices.DeleteFunc(m.screens, func(s Screen) bool {
		g, ok := s.(gateScreen)
		return ok && !open(g.gateID())
	})
	return len(m.screens) < n
}

// closed takes in that a question is closed: it may be asked again in the same
// breath. Of several permissions the next one is put before the person.
func (m *Model) closed(c event.Closed) {
	m.put.outrun(c)
	if m.dismiss(func(gate string) bool { return gate != c.Gate }) {
		for _, g := range m.permissions() {
			delete(m.put.offered, gateKey(g))
		}
	}
	if m.caughtUp() {
		m.notify(m.closedWords(c))
	}
}

// outrun remembers who was quicker than the person at this window.
func (p *put) outrun(c event.Closed) {
	for key, id := range p.replies {
		if strings.HasPrefix(key, c.Gate+" ") && id != c.Reply {
			if p.late == nil {
				p.late = map[string]event.Closed{}
			}
			p.late[id] = c
		}
	}
}

// lateWords say to whoever has answered second how the question was answered.
func (m *Model) lateWords(c event.Closed) string {
	who := " by " + view.OneLine(c.By)
	switch {
	case c.How == "expired":
		who = ", because time was up"
	case c.How != "reply":
		who = ", because what it was about has ended"
	case c.By == by:
		who = " by you, in another window"
	case c.By == "":
		who = " by somebody else"
	}
	switch launch := strings.HasPrefix(c.Gate, view.LaunchGate("")); {
	case launch && c.Choice == event.LaunchApprove:
		return "This run was already decided: approved" + who + "."
	case launch:
		return "This run was already decided: not approved" + who + "."
	}
	return "This was already decided" + who + ": " + m.choiceWords(c) + "."
}

// caughtUp reports whether everything is taken in that had happened when the
// window was opened: what was asked and answered before is no news.
func (m *Model) caughtUp() bool { return m.story == nil || m.story.seq >= m.story.until }

// settle is how long nothing must be typed into a dialog that has opened by
// itself before it takes anything: what is typed until then was meant for the
// input.
const settle = 600 * time.Millisecond

// slipped reports whether a key was meant for the input, which a dialog has just
// covered.
func (m *Model) slipped(s Screen, k tea.KeyPressMsg) bool {
	now := m.o.Now()
	_, asks := s.(gateScreen)
	if j, ok := s.(*jobScreen); ok {
		asks = !j.note.on
	}
	if j, ok := s.(*teamScreen); ok {
		if j.deaf(m, k) {
			return true
		}
		asks = !j.note.on
	}
	if !asks || now.Sub(m.put.sprung) >= settle || k.Text == "" && k.Code != tea.KeyEnter {
		return false
	}
	m.put.sprung = now
	m.notify("This has only just opened; press the key again.")
	return true
}

// decide opens the dialog of a question.
func (m *Model) decide(g view.Gate) {
	m.put.sprung, m.put.unread = time.Time{}, false
	m.notice.text = "" // the keys that decide are seen in its place
	switch g.Kind {
	case event.GateOverride:
		m.open(newOverride(m, g))
	case event.GatePlan:
		m.open(m.reviewOf(g))
	case event.GateLaunch:
		m.open(newLaunchAsk(g))
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

// flowOf is the flow that asks a question: the conversation, or its run.
func (m *Model) flowOf(g view.Gate) event.FlowID {
	own := slices.ContainsFunc(m.session.Gates, func(o view.Gate) bool { return gateKey(o) == gateKey(g) })
	if own || m.story == nil {
		return m.id
	}
	return m.story.id
}

// asks reports whether a question is open.
func (m *Model) asks(id string) bool {
	_, ok := m.gate(id)
	return ok
}

// choiceWords is an answer to a question.
func (m *Model) choiceWords(c event.Closed) string {
	switch {
	case c.Gate == event.GateOverride:
		return m.story.name(event.AgentID(c.Choice)) + " presents"
	case strings.HasPrefix(c.Gate, view.LaunchGate("")) && c.Choice == event.LaunchApprove:
		return "the run is launched"
	case strings.HasPrefix(c.Gate, view.LaunchGate("")):
		return "the run is not launched"
	case c.Choice == event.PermitOnce:
		return "allowed once"
	case c.Choice == event.PermitRun:
		return "allowed for this run"
	case c.Choice == event.PermitAlways:
		return "allowed from now on"
	case c.Choice == event.PermitDeny:
		return "denied"
	case c.Choice == event.PlanApprove:
		return "the plan is approved and will be executed"
	case c.Choice == event.PlanChange:
		return "the plan goes back to be changed"
	case c.Choice == event.PlanDrop:
		return "the plan is dropped"
	}
	return text.Clean(c.Choice)
}

// closedWords say how a question was answered.
func (m *Model) closedWords(c event.Closed) string {
	what := m.choiceWords(c)
	switch {
	case c.How == "expired":
		return "Time was up: " + what + "."
	case c.How != "reply":
		return "The question is closed, because what it was about has ended: " + what + "."
	case m.replied(c.Reply):
		return "Decided: " + what + "."
	}
	return "Answered elsewhere (" + text.Clean(c.By) + "): " + what + "."
}

// reply answers a question, once.
func (m *Model) reply(g view.Gate, choice, words string) tea.Cmd {
	key, flow := gateKey(g), m.flowOf(g)
	if m.put.replies[key] != "" {
		m.notify("Your answer is on its way.")
		return nil
	}
	f := event.Fact{ID: newID("replied"), Body: event.Replied{Gate: g.Gate, Choice: choice, Text: words, Revision: g.Revision, By: by}}
	if m.put.replies == nil {
		m.put.replies = map[string]string{}
	}
	m.put.replies[key] = f.ID
	return m.send(flow, f, "Not answered", func(m *Model) { m.unreplied(f.ID) })
}

// replied reports whether a reply is the person's at this window.
func (m *Model) replied(id string) bool {
	for _, own := range m.put.replies {
		if own == id {
			return true
		}
	}
	return false
}

// unreplied has a question open again whose reply was not taken.
func (m *Model) unreplied(id string) {
	maps.DeleteFunc(m.put.replies, func(_, own string) bool { return own == id })
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
	case event.GateLaunch:
		line = m.launchLine(g)
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
	switch {
	case g.Wait > 0 && m.hold.is(g):
		return "waits while you choose"
	case g.Wait > 0 && g.Held:
		return "waits while somebody chooses"
	case !ok:
		return "waits for you"
	}
	return face(at.Sub(m.o.Now())) + " left"
}

// gateActions are for questions that wait.
func gateActions() []Action {
	return []Action{
		{Name: "decide", Command: true, Aliases: []string{"override", "review"}, Keys: []string{"ctrl+o"}, Where: Anywhere, Title: "decide", Hint: 1,
			About: "Open the question that waits: a run to be launched, who presents, a permission, a plan",
			Why: func(m *Model) string {
				if len(m.gates()) == 0 {
					return "Nothing waits for your decision."
				}
				return ""
			},
			Do: func(m *Model, _ string) tea.Cmd { m.decide(m.gates()[0]); return nil }},
	}
}
