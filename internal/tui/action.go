package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// An Action is something a person can do. The table of all actions is the only
// place that knows keys, slash commands and their words: handlers, help, footer,
// palette and the names that a person rebinds are made from it.
type Action struct {
	// Name is what it is called in the configuration, and after a slash if it
	// is a Command.
	Name    string
	Command bool
	Aliases []string // of the command
	Args    string   // what a command takes, for its help: "[NAME]"
	// Covers are names of what it does as well: keys that a person binds to one of
	// them are its own besides those it has.
	Covers []string
	// Keys work where Where says.
	Keys  []string
	Where Where
	// Title is for menus and the footer, a word or two; About for help. Now is the
	// title as things stand, where that changes what it does.
	Title string
	Now   func(*Model) string
	About string
	// Hint is how much it belongs in the footer: 0 not at all, 1 always first.
	Hint int
	// Why says why it cannot be done now; empty is that it can. Nil is always.
	Why func(*Model) string
	Do  func(m *Model, args string) tea.Cmd
}

// Where is the part of the window that has the keys.
type Where string

// The parts of the main view. Screens have their own.
const (
	// Anywhere: in the main view, whatever has the focus there.
	Anywhere Where = "anywhere"
	// InInput: while the input has the focus and has no use for the key.
	InInput Where = "input"
	// InList: while the timeline has the focus.
	InList Where = "timeline"
	// InDialog: in every dialog and browser that does not use the key itself.
	InDialog Where = "dialog"
)

// actions is the whole table, in the order in which help shows it.
func actions() []Action {
	return slices.Concat(
		inputActions(), modeActions(), gateActions(), steerActions(), moveActions(), listActions(), lookActions(), jobListActions(), teamListActions(), talkActions(), windowActions(), suspendActions(),
		dialogActions(), screenActions(),
	)
}

// why is the reason against an action now.
func (a Action) why(m *Model) string {
	if a.Why == nil {
		return ""
	}
	return a.Why(m)
}

// title is what an action is called as things stand.
func (a Action) title(m *Model) string {
	if a.Now == nil {
		return a.Title
	}
	return a.Now(m)
}

// run does an action, or says why not.
func (m *Model) run(a Action, args string) tea.Cmd {
	if why := a.why(m); why != "" {
		m.notify(why)
		return nil
	}
	return a.Do(m, args)
}

// byName finds an action by its name or an alias of it.
func (m *Model) byName(name string) (Action, bool) {
	for _, a := range m.table {
		if a.Name == name || slices.Contains(a.Aliases, name) {
			return a, true
		}
	}
	return Action{}, false
}

// command carries out a slash command.
func (m *Model) command(name, args string) tea.Cmd {
	a, ok := m.byName(strings.ToLower(name))
	if !ok || !a.Command {
		m.notify("There is no command /" + name + "; type / to see what there is.")
		return nil
	}
	return m.run(a, strings.TrimSpace(args))
}

// Reasons that several actions share.
func whileRunning(m *Model) string {
	switch m.situation() {
	case Running, Gate:
		return ""
	}
	return m.idleWords()
}

// withTimeline is why there is nothing to move about in.
func withTimeline(m *Model) string {
	if m.chatting() && !m.unspoken() {
		return ""
	}
	return withRun(m)
}

func withRun(m *Model) string {
	if m.story == nil {
		return "There is no run yet; type what you want done."
	}
	return ""
}

// A Situation is how things stand, as far as it matters for what can be done.
type Situation int

const (
	Idle     Situation = iota // nothing was asked yet
	Running                   // agents are at work
	Gate                      // a question waits for the person
	Finished                  // there is an answer, or an end without one
)

func (s Situation) String() string {
	return [...]string{"idle", "running", "gate open", "finished"}[s]
}

// situation is derived from what the events say.
func (m *Model) situation() Situation {
	switch {
	case len(m.gates()) > 0:
		return Gate
	case m.busy():
		return Running
	case m.story != nil || m.session.Turns.Len() > 0:
		return Finished
	}
	return Idle
}
