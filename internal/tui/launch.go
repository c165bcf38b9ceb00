package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// Where keys go in the question about a wanted run: they decide, or write.
const (
	atLaunch  Where = "the approval of a run"
	atAgainst Where = "the reason against a run"
)

// launchAsk asks whether a run is launched as it is shown. What is approved is
// the revision that is on the screen: whoever changes it meanwhile has it asked
// about anew.
type launchAsk struct {
	gate     string
	revision int

	offset  int
	reason  field
	writing bool // the reason against it
	// saving is the revision that was changed here, while the change is on its way;
	// before is what had been refused by then.
	saving int
	before string

	buttons []button // of the last frame
	row     int      // their line
}

// A button is a word that can be clicked, and the action it stands for.
type button struct {
	from, to int
	action   string
}

func newLaunchAsk(g view.Gate) *launchAsk {
	return &launchAsk{gate: g.Gate, revision: g.Revision, reason: newField("why not, for whoever wanted it (may be left empty)")}
}

func (a *launchAsk) gateID() string { return a.gate }
func (a *launchAsk) Full() bool     { return false }
func (a *launchAsk) Scroll(n int)   { a.offset += n }

func (a *launchAsk) Where() Where {
	if a.writing {
		return atAgainst
	}
	return atLaunch
}

func (a *launchAsk) Title(m *Model) string {
	title := "Launch this run?"
	if a.revision > 1 {
		title += fmt.Sprintf(" Revision %d", a.revision)
	}
	if n := len(m.launches()) - 1; n > 0 {
		title += fmt.Sprintf(", %d more", n)
	}
	return title
}

// launches are the questions whether a run is launched.
func (m *Model) launches() []view.Gate {
	return slices.DeleteFunc(slices.Clone(m.session.Gates), func(g view.Gate) bool { return g.Kind != event.GateLaunch })
}

// wantOf is the wanted run that a question is about.
func (m *Model) wantOf(gate string) (view.SessionWant, bool) {
	for _, w := range m.chat().Wants {
		if w.Gate == gate {
			return w, true
		}
	}
	return view.SessionWant{}, false
}

// Refresh implements Refresher: it takes in that another revision is asked about.
func (a *launchAsk) Refresh(m *Model) tea.Cmd {
	g, ok := m.gate(a.gate)
	if !ok {
		return nil
	}
	if a.saving > 0 && (g.Revision > a.saving || lastRefusal(m) != a.before) {
		a.saving = 0
	}
	if g.Revision != a.revision {
		a.revision, a.offset = g.Revision, 0
		m.put.sprung = m.o.Now() // what is decided now was meant for the one before
		m.notify(fmt.Sprintf("The run was changed: this is revision %d of it.", g.Revision))
	}
	return nil
}

// lastRefusal is what was refused last in the conversation.
func lastRefusal(m *Model) string {
	if n := len(m.session.Refusals); n > 0 {
		return m.session.Refusals[n-1].Ref
	}
	return ""
}

func (a *launchAsk) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	if !a.writing {
		return nil, false
	}
	done, used := a.reason.update(msg)
	if done {
		return m.launch(event.LaunchDeny), true
	}
	return nil, used
}

// gone says that the question stays where it is.
func (a *launchAsk) gone(m *Model) {
	if m.asks(a.gate) && !m.answering(a.gate) {
		m.notify("The run waits for you; Ctrl+O opens the question again.")
	}
}

// View shows all of the run; what does not fit is scrolled to, and it is said
// that there is more. The buttons are always seen.
func (a *launchAsk) View(m *Model, width, height int) []string {
	w, ok := m.wantOf(a.gate)
	if !ok {
		return []string{m.theme.Dim.Render("This has been decided.")}
	}
	var tail []string
	if a.writing {
		tail = append([]string{m.theme.Dim.Render(text.Cut("Do not launch it, because: (Enter sends)", width))}, a.reason.lines(m, width, max(min(4, height/3), 1), true)...)
	} else {
		tail = []string{a.buttonLine(m, width)}
	}
	if a.saving > 0 {
		tail = append(tail, m.theme.Dim.Render(text.Cut("Your change is being saved.", width)))
	}
	room := max(height-len(tail), 2)
	all := m.launchLines(w, width, foldedTask)
	out := all
	if len(all) > room {
		room--
		a.offset = max(min(a.offset, len(all)-room), 0)
		mark := m.theme.Dim.Render("the end")
		if more := len(all) - room - a.offset; more > 0 {
			mark = m.theme.Warn.Render(text.Cut(fmt.Sprintf("↓ %d more lines: scroll to read them", more), width))
		}
		out = append(slices.Clone(all[a.offset:a.offset+room]), mark)
	}
	if len(out) < room {
		out = append(slices.Clip(out), "")
	}
	a.row = len(out)
	return append(out, tail...)
}

// buttonLine is what can be decided, to be clicked.
func (a *launchAsk) buttonLine(m *Model, width int) string {
	line, deny := "", "[Do not launch]"
	if width < 36 {
		deny = "[Deny]"
	}
	a.buttons = a.buttons[:0]
	for _, b := range []struct{ label, action string }{{"[Approve]", "launch_approve"}, {"[Edit]", "launch_edit"}, {deny, "launch_deny"}} {
		at := text.Width(line)
		if at+text.Width(b.label) > width {
			break
		}
		a.buttons = append(a.buttons, button{at, at + text.Width(b.label), b.action})
		line += m.theme.Key.Render(b.label) + "  "
	}
	return text.Cut(line, width)
}

// Click presses a button, unless the dialog has opened under the mouse.
func (a *launchAsk) Click(m *Model, x, y int) tea.Cmd {
	for _, b := range a.buttons {
		if y != a.row || a.writing || x < b.from || x >= b.to {
			continue
		}
		if m.o.Now().Sub(m.put.sprung) < settle {
			m.notify("This has only just opened; click again.")
			return nil
		}
		do, _ := m.byName(b.action)
		return m.run(do, "")
	}
	return nil
}

// launch answers the question on top.
func (m *Model) launch(choice string) tea.Cmd {
	a, ok := m.top().(*launchAsk)
	if !ok {
		return nil
	}
	g, open := m.gate(a.gate)
	switch {
	case !open:
		m.closeTop()
		m.notify("The run has been decided about meanwhile.")
		return nil
	case choice == event.LaunchApprove && a.saving > 0:
		m.notify("Your change is being saved; approve it when it is shown.")
		return nil
	case g.Revision != a.revision: // not drawn yet
		m.notify("The run has just been changed; look at it first.")
		return nil
	}
	words := ""
	if choice == event.LaunchDeny {
		words = a.reason.text()
	}
	return m.reply(g, choice, words)
}

// editLaunch opens the wanted run to be changed.
func (m *Model) editLaunch() tea.Cmd {
	a, ok := m.top().(*launchAsk)
	if !ok {
		return nil
	}
	w, open := m.wantOf(a.gate)
	switch {
	case !open:
		m.notify("The run has been decided about meanwhile.")
		return nil
	case a.saving > 0:
		m.notify("Your change is being saved; it is shown in a moment.")
		return nil
	}
	c, base := m.c, w.Revision
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		p, err := c.Params(ctx, w.Launch)
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.notify("The run cannot be changed: " + err.Error())
			case m.asks(a.gate):
				m.open(newLaunchEdit(m, a, w.ID, base, p))
			}
			return nil
		}
	})
}

// atLaunching is why a wanted run cannot be decided about.
func atLaunching(m *Model) string {
	if _, ok := m.top().(*launchAsk); !ok {
		return "No run waits for you here."
	}
	return ""
}

func launchActions() []Action {
	do := func(f func(*launchAsk)) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd {
			if a, ok := m.top().(*launchAsk); ok {
				f(a)
			}
			return nil
		}
	}
	return slices.Concat([]Action{
		{Name: "launch_approve", Keys: []string{"a"}, Where: atLaunch, Title: "approve", Hint: 1, Why: atLaunching,
			About: "Launch the run as it is shown",
			Do:    func(m *Model, _ string) tea.Cmd { return m.launch(event.LaunchApprove) }},
		{Name: "launch_edit", Keys: []string{"e"}, Where: atLaunch, Title: "edit", Hint: 2, Why: atLaunching,
			About: "Change the run before it is launched: every field of it",
			Do:    func(m *Model, _ string) tea.Cmd { return m.editLaunch() }},
		{Name: "launch_deny", Keys: []string{"d"}, Where: atLaunch, Title: "deny", Hint: 3, Why: atLaunching,
			About: "Do not launch it, with a reason for whoever wanted it",
			Do:    do(func(a *launchAsk) { a.writing = true })},
		{Name: "launch_later", Keys: []string{"esc", "q"}, Where: atLaunch, Title: "later", Hint: 4, Why: atLaunching,
			About: "Decide later: the run waits, and Ctrl+O opens the question again",
			Do:    func(m *Model, _ string) tea.Cmd { m.closeTop(); return nil }},
		{Name: "launch_next", Keys: []string{"tab"}, Where: atLaunch, Title: "next run", Hint: 5, About: "The next run that waits",
			Why: func(m *Model) string {
				if len(m.launches()) < 2 {
					return "No other run waits for you."
				}
				return atLaunching(m)
			},
			Do: func(m *Model, _ string) tea.Cmd {
				all, a := m.launches(), m.top().(*launchAsk)
				i := slices.IndexFunc(all, func(g view.Gate) bool { return g.Gate == a.gate })
				m.decide(all[(i+1)%len(all)])
				return nil
			}},
		{Name: "against_send", Keys: []string{"ctrl+enter"}, Where: atAgainst, Title: "do not launch it", About: "Do not launch the run, for this reason (so does Enter)",
			Do: func(m *Model, _ string) tea.Cmd { return m.launch(event.LaunchDeny) }},
		{Name: "against_back", Keys: []string{"esc"}, Where: atAgainst, Title: "back", Hint: 2, About: "Back to the question",
			Do: do(func(a *launchAsk) { a.writing = false })},
	}, launchEditActions())
}

// launchLine is the line above the input about a run that waits.
func (m *Model) launchLine(g view.Gate) string {
	w, _ := m.wantOf(g.Gate)
	return "A run waits for your approval, Ctrl+O opens it: " + view.Shorten(strings.TrimSpace(m.texts.of(w.Launch.Task)), 200)
}
