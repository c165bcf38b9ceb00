package tui

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agnivade/levenshtein"

	"conclave/internal/event"
	"conclave/internal/project"
	"conclave/internal/view"
)

// notTalking is why something cannot be done in a conversation with all agents.
const notTalking = "That is for a conversation with one agent: interactive_mode in the configuration gives one."

// inTalk is why something cannot be done before one talks to an agent.
func inTalk(m *Model) string {
	switch {
	case !m.talks():
		return notTalking
	case m.id == "":
		return "Nothing was said yet; say something first."
	}
	return ""
}

// talkActions are for conversations with one agent.
func talkActions() []Action {
	return []Action{
		{Name: "coordinate", Command: true, Keys: []string{"alt+q"}, Where: Anywhere, Title: "coordinate", Hint: 7, Why: (*Model).coordinateWhy,
			About: "Ask all agents together, apart from this conversation, and come back",
			Do:    func(m *Model, _ string) tea.Cmd { return m.coordinate() }},
		{Name: "edit_held", Command: true, Where: Anywhere, Title: "edit what is held", Why: withHeld,
			About: "Take the newest message that is held back into the input (↑ with nothing typed)",
			Do:    func(m *Model, _ string) tea.Cmd { return m.takeBack(true) }},
		{Name: "pin", Command: true, Where: Anywhere, Title: "pin", Why: (*Model).pinWhy,
			About: "Keep the entry that is selected, or the newest answer, word for word however long the conversation gets",
			Do:    func(m *Model, _ string) tea.Cmd { return m.pinThis(true) }},
		{Name: "unpin", Command: true, Where: Anywhere, Title: "unpin", Why: (*Model).unpinWhy,
			About: "Let the entry that is selected, or the one pinned last, be put into fewer words again",
			Do:    func(m *Model, _ string) tea.Cmd { return m.pinThis(false) }},
		{Name: "pin_entry", Keys: []string{"p"}, Where: InList, Title: "pin, unpin", Hint: 5, Why: (*Model).pinEntryWhy,
			About: "Keep the entry word for word however long the conversation gets, or no longer",
			Do:    func(m *Model, _ string) tea.Cmd { return m.pinEntry() }},
		{Name: "cancel_run", Keys: []string{"x"}, Where: InList, Title: "cancel the run", Hint: 4, Why: (*Model).cancelRunWhy,
			About: "Cancel the run that goes on; what there is will be kept, and the agent is told",
			Do: func(m *Model, _ string) tea.Cmd {
				r, _ := m.runningRun()
				m.askCancel(r)
				return nil
			}},
		{Name: "auto-approve", Command: true, Args: "[on|off]", Where: Anywhere, Title: "auto-approve", Why: inTalk,
			About: "Whether runs are launched in this conversation without asking you",
			Do:    (*Model).waive},
		{Name: "project", Command: true, Args: "[NAME|none]", Where: Anywhere, Title: "project", Why: inTalk,
			About: "Open a project for this conversation, or none",
			Do:    (*Model).openProject},
	}
}

// coordinateWhy is why one cannot go over to all agents now.
func (m *Model) coordinateWhy() string {
	switch {
	case m.detour.on:
		return m.homeWhy()
	case !m.talks():
		return "What you say here goes to all agents already."
	case m.runGoesOn():
		return "A run goes on here; wait for it, or cancel it first."
	case m.busy():
		return m.partnerName() + " is at work; wait, or stop it first (Esc twice)."
	case len(m.gates()) > 0:
		return "A question waits for you here; decide it first (Ctrl+O)."
	}
	return ""
}

// waive says whether runs are launched without asking.
func (m *Model) waive(args string) tea.Cmd {
	on := !m.chat().Waived
	switch strings.ToLower(args) {
	case "":
	case "on", "yes", "true":
		on = true
	case "off", "no", "false":
		on = false
	default:
		m.notify("Say /auto-approve on or /auto-approve off.")
		return nil
	}
	if on {
		m.notify("Runs in this conversation are launched without asking you. /auto-approve off asks again.")
	} else {
		m.notify("You are asked before a run is launched, unless the configuration says otherwise.")
	}
	return m.send(m.id, fact(event.Waived{On: on, By: by}), "Not changed", nil)
}

// openProject opens a project.
func (m *Model) openProject(name string) tea.Cmd {
	switch name {
	case "":
		m.notify(m.projectWords() + ". /project NAME opens one, /project none leaves it.")
		return nil
	case "none":
		m.notify("Leaving the project.")
		return m.sendOpened("")
	}
	c, dir := m.c, m.chat().Staffed.Dir
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		all, err := c.Projects(ctx)
		there := slices.ContainsFunc(all, func(p project.Project) bool { return p.Name == name })
		if !there && dir != "" && project.CheckName(name) == nil { // the configuration of this conversation may keep them elsewhere
			_, _, err := c.Tree(ctx, filepath.Join(dir, "projects", name), 0)
			there = err == nil
		}
		return func(m *Model) tea.Cmd {
			switch {
			case there:
			case err != nil:
				m.notify("Not opened, because the projects cannot be listed: " + err.Error())
				return nil
			default:
				m.notify(m.noProject(name, all))
				return nil
			}
			m.notify("Opening " + view.OneLine(name) + ".")
			return m.sendOpened(name)
		}
	})
}

func (m *Model) sendOpened(name string) tea.Cmd {
	return m.send(m.id, fact(event.Opened{Project: name, By: by}), "Not opened", nil)
}

// noProject says that there is none of a name, which is nearest, and how one comes
// to be.
func (m *Model) noProject(name string, all []project.Project) string {
	words := "There is no project " + view.OneLine(name)
	if len(all) > 0 {
		nearest := slices.MinFunc(all, func(a, b project.Project) int {
			return cmp.Compare(levenshtein.ComputeDistance(a.Name, name), levenshtein.ComputeDistance(b.Name, name))
		})
		words += "; the nearest is " + view.OneLine(nearest.Name) + ", and /projects lists all"
	}
	return words + ". To have one made, ask " + m.partnerName() + ": create the project " + view.OneLine(name) + "."
}

// pinTarget is the entry that is selected, if it can be pinned, or else the newest
// one for which is holds.
func (m *Model) pinTarget(is func(id string) bool) string {
	x := m.laneOf("")
	if m.inList {
		if e, ok := x.selected(); ok {
			return pinOf(e)
		}
		return ""
	}
	for _, e := range slices.Backward(x.before) {
		if _, said := e.(*chatSaid); said && !m.pinned(pinOf(e)) {
			continue // pins what was answered, unless something else is chosen
		}
		if id := pinOf(e); id != "" && is(id) {
			return id
		}
	}
	return ""
}

func pinOf(e entry) string {
	if p, ok := e.(pinnable); ok {
		return p.pin()
	}
	return ""
}

func (m *Model) unpinned(id string) bool { return !m.pinned(id) }

func (m *Model) pinWhy() string {
	if why := m.pinPlaceWhy(); why != "" {
		return why
	}
	switch id := m.pinTarget(m.unpinned); {
	case id == "":
		return "There is nothing here that can be pinned: messages, and what runs have come to."
	case m.pinned(id):
		return "That is pinned already."
	}
	return ""
}

func (m *Model) unpinWhy() string {
	if why := m.pinPlaceWhy(); why != "" {
		return why
	}
	if id := m.pinTarget(m.pinned); id == "" || !m.pinned(id) {
		return "That is not pinned."
	}
	return ""
}

// pinPlaceWhy is why nothing can be pinned where one is.
func (m *Model) pinPlaceWhy() string {
	if why := inTalk(m); why != "" {
		return why
	}
	if !m.chatting() {
		return "Messages of the conversation can be pinned; Esc goes back to it."
	}
	return ""
}

func (m *Model) pinEntryWhy() string {
	if why := m.pinPlaceWhy(); why != "" {
		return why
	}
	if e, ok := m.laneOf("").selected(); !ok || pinOf(e) == "" {
		return "That cannot be pinned: messages can, and what runs have come to."
	}
	return ""
}

func (m *Model) pinThis(on bool) tea.Cmd {
	if on {
		return m.sendPin(m.pinTarget(m.unpinned), true)
	}
	return m.sendPin(m.pinTarget(m.pinned), false)
}

// pinEntry pins the entry that is selected, or no longer.
func (m *Model) pinEntry() tea.Cmd {
	e, _ := m.laneOf("").selected()
	id := pinOf(e)
	return m.sendPin(id, !m.pinned(id))
}

func (m *Model) sendPin(id string, on bool) tea.Cmd {
	if on {
		m.notifyNow("Pinned: it stays word for word.")
	} else {
		m.notifyNow("No longer pinned.")
	}
	return m.send(m.id, fact(event.Pinned{Message: id, On: on, By: by}), "Not pinned", nil)
}

func (m *Model) cancelRunWhy() string {
	if !m.talks() {
		return notTalking
	}
	if _, ok := m.runningRun(); !ok {
		return "No run goes on."
	}
	return ""
}
