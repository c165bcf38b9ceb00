package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// currentTab is what messages are directed at if they go to whoever's tab is open.
const currentTab = "current"

// readFor is how long a message that everybody has read is still shown.
const readFor = 20 * time.Second

// message says something to agents at work: to those it names with @ at its
// beginning, else to whom messages are directed.
func (m *Model) message(s string) tea.Cmd {
	if m.story == nil || m.story.over() {
		m.notify("Nobody is at work yet; say it again in a moment.")
		m.giveBack(s)
		return m.takeUp()
	}
	if name, ok := m.stranger(s); ok {
		return m.askWho(name, s)
	}
	return m.address(s)
}

// stranger is the name that a message begins with after an @, if it is no agent's.
func (m *Model) stranger(s string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "@")
	if !ok || rest == "" || rest[0] == '"' { // what is in quotes is a file
		return "", false
	}
	if i := strings.IndexAny(rest, " \t\n,;"); i >= 0 {
		rest = rest[:i]
	}
	name := strings.TrimRight(strings.TrimSuffix(rest, ":w"), ":")
	_, agent := m.agentNamed(name)
	return name, name != "" && !agent
}

// askWho finds out whether a message begins with a file, and sends it then. A name
// that is nobody's is told, and nothing is sent: it was not meant for all.
func (m *Model) askWho(name, s string) tea.Cmd {
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		_, _, file := c.File(ctx, name, 0)
		_, _, folder := c.Tree(ctx, name, 0)
		return func(m *Model) tea.Cmd {
			if file == nil || folder == nil {
				return m.address(s)
			}
			var names []string
			for _, a := range m.agentsIn(m.story) {
				names = append(names, "@"+view.OneLine(string(a.ID)))
			}
			m.notify(fmt.Sprintf("Not sent: there is no agent and no file %s. Agents: %s; without a name it goes to all.", view.OneLine(name), strings.Join(names, ", ")))
			m.giveBack(s)
			return nil
		}
	})
}

// address sends a message to whom it is for.
func (m *Model) address(s string) tea.Cmd {
	if m.story == nil || m.story.over() {
		m.notify("The run ended before it heard what you said; Enter goes on with it.")
		m.giveBack(s)
		return nil
	}
	to, words := m.addressed(s)
	if words == "" {
		m.notify("Say something after the name.")
		m.giveBack(s)
		return nil
	}
	f := fact(event.Messaged{Text: event.Inline(words), To: to, By: by})
	m.unheard = append(m.unheard, unheard{f.ID, s})
	return m.send(m.story.id, f, "Not sent", func(m *Model) { m.unsaid(f.ID) })
}

// unheard is a message without a verdict, by the id of its fact.
type unheard struct{ id, words string }

// heard takes in that there is a verdict about a message.
func (m *Model) heard(id string) {
	m.hold.taken = m.hold.taken || m.hold.id == id
	m.unheard = slices.DeleteFunc(m.unheard, func(x unheard) bool { return x.id == id })
}

// unsaid gives the words of a message back that was not taken.
func (m *Model) unsaid(id string) {
	if i := slices.IndexFunc(m.unheard, func(x unheard) bool { return x.id == id }); i >= 0 {
		words := m.unheard[i].words
		m.heard(id)
		m.giveBack(words)
	}
}

// tooLate gives the words back that nobody has heard: the run is over.
func (m *Model) tooLate() {
	var words []string
	for _, x := range m.unheard {
		words = append(words, x.words)
	}
	if m.unheard = nil; len(words) > 0 {
		m.notify("The run ended before it heard what you said; Enter goes on with it.")
		m.giveBack(strings.Join(words, "\n"))
	}
}

// addressed is whom a message is for, nil for all, and what it says.
func (m *Model) addressed(s string) (to []event.AgentID, words string) {
	words = strings.TrimSpace(s)
	for strings.HasPrefix(words, "@") {
		name, rest, _ := strings.Cut(words[1:], " ")
		a, ok := m.agentNamed(strings.TrimRight(name, ",:"))
		if !ok {
			break
		}
		to, words = append(to, a), strings.TrimSpace(rest)
	}
	if to == nil {
		if a := m.target(); a != "" {
			to = []event.AgentID{a}
		}
	}
	return to, words
}

// agentNamed finds an agent by its id or else by its label in the run that goes
// on, whichever run is looked at.
func (m *Model) agentNamed(name string) (event.AgentID, bool) {
	crew := m.agentsIn(m.story)
	for _, named := range []func(view.AgentLine) string{
		func(a view.AgentLine) string { return string(a.ID) },
		func(a view.AgentLine) string { return string(a.Label) },
	} {
		i := slices.IndexFunc(crew, func(a view.AgentLine) bool { return name != "" && strings.EqualFold(named(a), name) })
		if i >= 0 {
			return crew[i].ID, true
		}
	}
	return "", false
}

// target is the agent messages are directed at; empty for all.
func (m *Model) target() event.AgentID {
	name := m.to
	if name == currentTab {
		name = string(m.active())
	}
	a, _ := m.agentNamed(name)
	return a
}

// alone is the only agent of the run, if there is but one.
func (m *Model) alone() event.AgentID {
	if m.story == nil || len(m.story.card.Agents) != 1 {
		return ""
	}
	return m.story.card.Agents[0].ID
}

// messagePlaceholder says whom a message would reach.
func (m *Model) messagePlaceholder() string {
	if a := m.alone(); a != "" {
		return "Say something to " + m.story.name(a)
	}
	if a := m.target(); a != "" {
		return "Say something to " + m.story.name(a) + " (Alt+I: to all)"
	}
	return "Say something to all agents (@NAME to one, Alt+I to the open tab)"
}

// direct changes whom messages go to.
func (m *Model) direct(args string) tea.Cmd {
	switch name := strings.TrimPrefix(args, "@"); {
	case name == "" && m.to == "":
		m.to = currentTab
	case name == "" || name == "all":
		m.to = ""
	case name == currentTab:
		m.to = currentTab
	default:
		a, ok := m.agentNamed(name)
		if !ok {
			m.notify("There is no agent " + text.Clean(name) + ".")
			return nil
		}
		m.to = string(a)
	}
	switch a := m.target(); {
	case a != "" && m.to == currentTab:
		m.notify("Messages go to the agent whose tab is open, now " + m.story.name(a) + ".")
	case a != "":
		m.notify("Messages go to " + m.story.name(a) + " alone.")
	case m.to == currentTab:
		m.notify("Messages go to the agent whose tab is open; all together are open now, so to all.")
	default:
		m.notify("Messages go to all agents.")
	}
	return nil
}

// unsend takes back the newest message that somebody has not read yet.
func (m *Model) unsend(string) tea.Cmd {
	if m.chatting() {
		return m.takeBack(false)
	}
	x, _ := m.unreadMessage()
	m.notify("Taking back: " + view.Shorten(m.texts.of(x.Text), 60))
	return m.tell("Not taken back", event.Withdrawn{Message: x.ID, By: by})
}

func (m *Model) unreadMessage() (view.Message, bool) {
	if m.story == nil || m.story.over() {
		return view.Message{}, false
	}
	for _, x := range slices.Backward(m.story.messages.All) {
		if x.Waiting() {
			return x, true
		}
	}
	return view.Message{}, false
}

// queuedFor is how many messages an agent has not read yet.
func (m *Model) queuedFor(a event.AgentID) int {
	if m.story == nil {
		return 0
	}
	n := 0
	for _, x := range m.story.messages.All {
		if slices.ContainsFunc(x.Readers, func(r view.Reader) bool { return r.Agent == a && r.Fate == view.FateQueued }) {
			n++
		}
	}
	return n
}

// queue are the newest messages to agents and what has become of them.
func (m *Model) queue(w int) []string {
	if m.chatting() {
		return m.heldRows(w)
	}
	if m.story == nil {
		return nil
	}
	rows := 3
	if m.height < lowHeight {
		rows = 1
	}
	var out []string
	for _, x := range slices.Backward(m.story.messages.All) {
		if len(out) == rows {
			break
		}
		if m.showsMessage(x) {
			out = append(out, m.messageLine(x, w))
		}
	}
	slices.Reverse(out)
	return out
}

// showsMessage reports whether a message is still worth a line: while somebody
// has not read it, for a while after, and to the end if nobody has.
func (m *Model) showsMessage(x view.Message) bool {
	switch {
	case m.story.over():
		return goesAlong(x)
	case x.Waiting() || len(x.Readers) == 0 && x.Refused == "":
		return true
	}
	last := x.At
	for _, r := range x.Readers {
		if r.At.After(last) {
			last = r.At
		}
	}
	return m.o.Now().Sub(last) < readFor
}

// goesAlong reports whether nobody has read a message of a run that is over: the
// next one is told.
func goesAlong(x view.Message) bool {
	deferred := false
	for _, r := range x.Readers {
		switch r.Fate {
		case view.FateRead:
			return false
		case view.FateDeferred, view.FateMissed:
			deferred = true
		}
	}
	return deferred
}

func (m *Model) messageLine(x view.Message, w int) string {
	to := "all"
	if len(x.To) > 0 {
		to = m.labels(x.To)
	}
	fate := x.Fate()
	switch {
	case m.story.over():
		fate = "not read; goes along with what you say next"
	case x.Waiting() && w >= barRoom:
		fate += " (Alt+Z takes it back)"
	}
	head := " ✉ to " + to + ": "
	room := w - text.Width(head) - text.Width(fate) - 3
	line := head
	if room > 4 {
		line += text.Cut(text.Clean(view.OneLine(m.texts.of(x.Text))), room) + " – "
	}
	return m.theme.User.Render(text.Cut(line+fate, w))
}

// labels are agents by their labels and ids.
func (m *Model) labels(ids []event.AgentID) string {
	var out []string
	for _, a := range ids {
		out = append(out, m.story.name(a))
	}
	return strings.Join(out, ", ")
}

// refused says why something that was said is not taken, and gives the words
// back: nothing typed is lost.
func (m *Model) refused(b event.Refused) {
	if aboutHold(b.Ref) {
		return
	}
	if c, late := m.put.late[b.Ref]; late {
		delete(m.put.late, b.Ref)
		m.notify(m.lateWords(c))
	} else {
		m.notify(fmt.Sprintf("Not taken: %s", text.Clean(b.Why)))
	}
	m.unsaid(b.Ref)
	m.unreplied(b.Ref)
}

func queueActions() []Action {
	return []Action{
		{Name: "to", Command: true, Keys: []string{"alt+i"}, Where: Anywhere, Title: "whom to tell", Args: "[all|current|AGENT]",
			About: "Direct messages at all agents or at the one whose tab is open; @AGENT at the beginning of a message names one",
			Do:    (*Model).direct},
		{Name: "unsend", Command: true, Keys: []string{"alt+z"}, Where: Anywhere, Title: "take back", About: "Take back the newest message that has not been read by all",
			Why: func(m *Model) string {
				if m.chatting() {
					return withHeld(m)
				}
				if _, ok := m.unreadMessage(); !ok {
					return "There is no message that could be taken back."
				}
				return ""
			},
			Do: (*Model).unsend},
	}
}
