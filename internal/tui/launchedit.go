package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// Where keys go while a wanted run is changed: they move and switch, or write.
const (
	atForm  Where = "a run to be changed"
	atField Where = "a text of a run to be changed"
)

// launchEdit is where a person changes a wanted run before deciding about it. What
// is wrong with it is said at once; what is saved is asked about anew.
type launchEdit struct {
	ask   *launchAsk
	want  string
	base  int // the revision that is changed
	team  []event.Teammate
	dir   string // where relative paths begin
	rows  []formRow
	begin string // the form as it was

	at, first int
	writing   bool
	wrong     string // what whoever has to save it says
	sending   bool
	spots     []int // the row of each line of the last frame
}

// A formRow is one field of it.
type formRow struct {
	label string
	about string
	// A text has a field; a switch has words for off and on.
	text   *field
	on     bool
	values [2]string
	agent  event.AgentID // of a checkbox, or of what one agent is told
	kind   formKind
}

type formKind int

const (
	formTask formKind = iota
	formContext
	formAgent
	formMode
	formRefine
	formPlan
	formExecute
	formPaths
	formPrompt
	formOverrides
)

func newLaunchEdit(m *Model, a *launchAsk, want string, base int, p launch.Params) *launchEdit {
	e := &launchEdit{ask: a, want: want, base: base, team: m.chat().Staffed.Team, dir: m.team.Dir}
	words := func(kind formKind, label, about, begin string, agent event.AgentID) {
		f := newField(about)
		f.in.SetText(begin)
		e.rows = append(e.rows, formRow{kind: kind, label: label, about: about, text: &f, agent: agent})
	}
	turn := func(kind formKind, label string, on bool, off, yes string) {
		e.rows = append(e.rows, formRow{kind: kind, label: label, on: on, values: [2]string{off, yes}})
	}
	words(formTask, "Task", "what is to be accomplished", p.Task, "")
	words(formContext, "Context", "what the agents should know of it", p.Context, "")
	for _, t := range e.team {
		on := len(p.Agents) == 0 || slices.Contains(p.Agents, string(t.Agent))
		e.rows = append(e.rows, formRow{kind: formAgent, label: "Agent", on: on, agent: t.Agent,
			about: view.OneLine(string(t.Agent)) + prefixed("  ", view.Engine(t.Backend, t.Model))})
	}
	turn(formMode, "Mode", p.AgentMode != "single", "single: one agent alone", "multi: several agents")
	turn(formRefine, "Refinement", p.Refinement == nil || *p.Refinement, "off: one answer each", "on: agents improve and vote")
	turn(formPlan, "Planning", p.PlanningMode != nil && *p.PlanningMode, "off: carried out at once", "on: a plan is made first")
	turn(formExecute, "Execute", p.Execute != nil && *p.Execute, "off: a plan stays a plan", "on: the winner carries its plan out")
	words(formPaths, "Files", "one a line: read PATH or write PATH", pathText(p.ContextPaths), "")
	for _, t := range e.team {
		words(formPrompt, "For "+view.OneLine(string(t.Agent)), "what it is told besides, in this run alone", p.Prompts[string(t.Agent)], t.Agent)
	}
	words(formOverrides, "Settings", `coordination settings as JSON, such as {"max_cost": 2}`, indented(p.Overrides), "")
	e.begin = e.state()
	return e
}

// state tells whether anything was changed.
func (e *launchEdit) state() string {
	var b strings.Builder
	for _, r := range e.rows {
		if r.text != nil {
			fmt.Fprintf(&b, "%q", r.text.text())
		}
		fmt.Fprint(&b, r.on, ";")
	}
	return b.String()
}

func (e *launchEdit) gateID() string { return e.ask.gate }
func (e *launchEdit) Full() bool     { return true }
func (e *launchEdit) Typing() bool   { return e.writing }

func (e *launchEdit) Where() Where {
	if e.writing {
		return atField
	}
	return atForm
}

func (e *launchEdit) Title(*Model) string { return fmt.Sprintf("Change the run, revision %d", e.base) }

// Scroll moves to another field.
func (e *launchEdit) Scroll(n int) {
	e.at = max(min(e.at+n, len(e.rows)-1), 0)
}

func (e *launchEdit) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	if !e.writing {
		return nil, false
	}
	done, used := e.rows[e.at].text.update(msg)
	if done {
		e.done()
	}
	e.wrong = ""
	return nil, used
}

// done ends the writing. Files are shown as they are meant.
func (e *launchEdit) done() {
	e.writing = false
	e.spell(&e.rows[e.at])
}

// spell has paths be absolute that were written as relative ones.
func (e *launchEdit) spell(r *formRow) {
	if r.kind == formPaths {
		r.text.in.SetText(pathText(pathsIn(r.text.text(), e.dir)))
	}
}

// step goes to another field, round and round.
func (e *launchEdit) step(n int) {
	if e.writing {
		e.done()
	}
	e.at = (e.at + n + len(e.rows)) % len(e.rows)
}

// turn switches the field that is chosen, or begins to write in it.
func (e *launchEdit) turn() {
	r := &e.rows[e.at]
	if r.text != nil {
		e.writing = true
		return
	}
	r.on, e.wrong = !r.on, ""
}

// View draws the fields, and below them what is wrong.
func (e *launchEdit) View(m *Model, width, height int) []string {
	_, wrong := e.params()
	if e.wrong != "" {
		wrong = e.wrong
	}
	foot := []string{m.rule(width)}
	switch {
	case e.sending:
		foot = append(foot, m.theme.Dim.Render("Saving."))
	case wrong != "":
		for _, l := range bodyLines(wrong, width-2) {
			foot = append(foot, m.theme.Warn.Render("! "+l))
		}
		foot = foot[:min(len(foot), max(height/3, 2))]
	default:
		foot = append(foot, m.theme.Dim.Render(text.Cut("↑↓, Tab: another field. What you save is shown again before it is launched.", width)))
	}
	room := max(height-len(foot), 1)
	var lines []string
	e.spots = e.spots[:0]
	from, to := 0, 0
	for i := range e.rows {
		if i == e.at {
			from = len(lines)
		}
		for _, l := range e.row(m, i, width, max(room-1, 1)) {
			lines, e.spots = append(lines, l), append(e.spots, i)
		}
		if i == e.at {
			to = len(lines)
		}
	}
	e.first = max(min(e.first, from, len(lines)-room), to-room, 0)
	return append(text.Fit(lines[e.first:min(e.first+room, len(lines))], width, room), foot...)
}

// row draws one field; the one that is written in shows all of its text.
func (e *launchEdit) row(m *Model, i, width, room int) []string {
	r, here := e.rows[i], i == e.at
	mark := "  "
	if here {
		mark = "› "
	}
	label := text.Pad(text.Cut(r.label, 12), 12) + " "
	inner := max(width-15, 8)
	if r.text != nil && here && e.writing {
		out := []string{m.theme.Selected.Render(text.Pad(mark+text.Cut(r.label+": "+r.about, width-2), width))}
		for _, l := range r.text.lines(m, max(width-2, 4), min(room, 12), true) {
			out = append(out, "  "+l)
		}
		return out
	}
	words := r.about
	switch {
	case r.text != nil:
		words = view.OneLine(r.text.text())
		if n := strings.Count(r.text.text(), "\n"); n > 0 {
			words = fmt.Sprintf("%s (%d lines)", text.Cut(words, max(inner-12, 4)), n+1)
		}
		if words != "" && r.kind == formPrompt && !e.takesPart(r.agent) {
			words = "(not in this run) " + words
		}
	case r.kind == formAgent && r.on:
		words = "☑ " + words
	case r.kind == formAgent:
		words = "☐ " + words
	case r.on:
		words = r.values[1]
	default:
		words = r.values[0]
	}
	switch {
	case here:
		return []string{m.theme.Selected.Render(text.Pad(text.Cut(mark+label+text.Clean(words), width), width))}
	case r.text != nil && words == "":
		return []string{text.Cut(mark+m.theme.Dim.Render(label)+m.theme.Faint.Render(text.Clean(r.about)), width)}
	}
	return []string{text.Cut(mark+m.theme.Dim.Render(label)+text.Clean(words), width)}
}

// Click chooses a field; a second click switches it or writes in it.
func (e *launchEdit) Click(_ *Model, _, y int) tea.Cmd {
	if y += e.first; y < 0 || y >= len(e.spots) || e.writing {
		return nil
	}
	if i := e.spots[y]; i != e.at {
		e.at = i
		return nil
	}
	e.turn()
	return nil
}

// saveLaunch has the change asked about.
func (m *Model) saveLaunch(e *launchEdit) tea.Cmd {
	p, wrong := e.params()
	g, open := m.gate(e.ask.gate)
	switch {
	case e.sending:
		m.notify("It is being saved.")
		return nil
	case wrong != "":
		m.notify("That cannot be launched so: " + view.OneLine(wrong))
		return nil
	case e.state() == e.begin:
		m.closeTop()
		m.notify("Nothing was changed.")
		return nil
	case open && g.Revision != e.base:
		m.notify(fmt.Sprintf("Somebody has changed the run meanwhile, to revision %d: close this and edit that one.", g.Revision))
		return nil
	}
	e.done()
	e.sending = true
	c, session := m.c, m.id
	return m.sending(func(ctx context.Context) sent {
		err := c.Amend(ctx, session, e.want, e.base, p, by)
		return sent{then: func(m *Model) tea.Cmd { return m.savedLaunch(e, err) }}
	})
}

// savedLaunch takes in whether the change was taken.
func (m *Model) savedLaunch(e *launchEdit, err error) tea.Cmd {
	e.sending = false
	if problem, ok := errors.AsType[*launch.Problem](err); ok {
		e.wrong = formWords(problem.Why)
		return nil
	}
	if err != nil {
		e.wrong = "Not saved: " + err.Error()
		return nil
	}
	m.screens = slices.DeleteFunc(m.screens, func(s Screen) bool { return s == Screen(e) })
	e.ask.saving, e.ask.before = e.base, lastRefusal(m)
	return tea.Batch(e.ask.Refresh(m), m.takeUp())
}

func launchEditActions() []Action {
	at := func(f func(m *Model, e *launchEdit) tea.Cmd) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd {
			if e, ok := m.top().(*launchEdit); ok {
				return f(m, e)
			}
			m.notify("Open a run that waits for you, and change it, first.")
			return nil
		}
	}
	save := at((*Model).saveLaunch)
	done := at(func(_ *Model, e *launchEdit) tea.Cmd { e.done(); return nil })
	step := func(n int) func(*Model, string) tea.Cmd {
		return at(func(_ *Model, e *launchEdit) tea.Cmd { e.step(n); return nil })
	}
	return []Action{
		{Name: "form_save", Keys: []string{"s", "ctrl+s", "ctrl+enter"}, Where: atForm, Title: "save", Hint: 1, About: "Have the changed run asked about", Do: save},
		{Name: "form_change", Keys: []string{"enter", "space"}, Where: atForm, Title: "change", Hint: 2, About: "Switch the field, or write in it",
			Do: at(func(_ *Model, e *launchEdit) tea.Cmd { e.turn(); return nil })},
		{Name: "form_editor", Keys: []string{"e", "ctrl+g"}, Where: atForm, Title: "editor", Hint: 3, About: "Write the field in your own editor ($VISUAL, $EDITOR)",
			Do: at((*Model).formEditor)},
		{Name: "form_next", Keys: []string{"tab", "down", "j"}, Where: atForm, Title: "next field", Hint: 4, About: "The next field", Do: step(1)},
		{Name: "form_previous", Keys: []string{"shift+tab", "up", "k"}, Where: atForm, Title: "field before", About: "The field before", Do: step(-1)},
		{Name: "form_leave", Keys: []string{"esc", "q"}, Where: atForm, Title: "leave", Hint: 5, About: "Leave the run as it was; what you have changed is lost (press twice)",
			Do: at(func(m *Model, e *launchEdit) tea.Cmd {
				if e.state() != e.begin && !m.again("leave form") {
					m.notify("Press it again to lose what you have changed; s saves it.")
					return nil
				}
				m.closeTop()
				return nil
			})},
		{Name: "field_done", Keys: []string{"esc"}, Where: atField, Title: "done", Hint: 1, About: "Done writing (so is Enter; Alt+Enter begins a line)", Do: done},
		{Name: "field_next", Keys: []string{"tab"}, Where: atField, Title: "next field", Hint: 3, About: "Done writing, and to the next field", Do: step(1)},
		{Name: "field_previous", Keys: []string{"shift+tab"}, Where: atField, Title: "field before", About: "Done writing, and to the field before", Do: step(-1)},
		{Name: "field_save", Keys: []string{"ctrl+s", "ctrl+enter"}, Where: atField, Title: "save", Hint: 2, About: "Have the changed run asked about", Do: save},
	}
}

// formEditor writes a field in the person's own editor.
func (m *Model) formEditor(e *launchEdit) tea.Cmd {
	r := e.rows[e.at]
	if r.text == nil {
		m.notify("There is nothing to write: Space switches it.")
		return nil
	}
	return m.editText(r.text.text(), func(_ *Model, s string) tea.Cmd {
		r.text.in.SetText(s)
		e.spell(&r)
		e.wrong = ""
		return nil
	})
}
