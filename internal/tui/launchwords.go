package tui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// foldedTask is how many lines of a task stand above what is short and decides:
// who works, what may be written to, what it costs. All of it stands below.
const foldedTask = 6

// launchLines are all there is to know of a wanted run. A task of more lines than
// foldedTask stands below the rest.
func (m *Model) launchLines(w view.SessionWant, width, foldedTask int) []string {
	t, l := &m.theme, w.Launch
	var out []string
	add := func(name, words string, style lipgloss.Style) {
		const column = 13
		lines := text.Wrap(style.Render(text.Clean(words)), max(width-column, 8))
		for i, x := range lines {
			head := text.Spaces(column)
			if i == 0 {
				head = t.Dim.Render(text.Pad(name, column))
			}
			out = append(out, text.Cut(head+x, width))
		}
	}
	section := func(name, words string) {
		out = append(out, "", t.Heading.Render(text.Cut(name, width)))
		out = append(out, bodyLines(words, width)...)
	}
	task := bodyLines(m.texts.of(l.Task), width)
	long := len(task) > foldedTask+2
	out = append(out, t.Heading.Render("Task"))
	if long {
		out = append(out, task[:foldedTask]...)
		out = append(out, t.Faint.Render(text.Cut(fmt.Sprintf("… %s more, below", plural(len(task)-foldedTask, "line")), width)))
	} else {
		out = append(out, task...)
	}
	out = append(out, "")
	add("Agents", m.crewOf(l), t.Text)
	add("Mode", modeOf(l), t.Text)
	add("Refinement", refineOf(l), t.Text)
	add("Planning", planOf(l), t.Text)
	for i, p := range m.pathsOf(l) {
		name, style := "Files", t.Text
		if i > 0 {
			name = ""
		}
		if p.write {
			style = t.Warn
		}
		add(name, p.words, style)
	}
	for i, o := range overridesOf(l) {
		name := "Settings"
		if i > 0 {
			name = ""
		}
		add(name, o, t.Text)
	}
	add("May cost", estimateOf(w.Estimate), t.Strong)
	add("Budget", m.budgetWords(), t.Text)
	if by := m.wantedBy(l); by != "" {
		add("Asked by", by, t.Text)
	}
	if long {
		section("The whole task", m.texts.of(l.Task))
	}
	if !l.Context.Empty() {
		section("Context, which the agents are told", m.texts.of(l.Context))
	}
	for _, a := range slices.Sorted(maps.Keys(l.Prompts)) {
		section("What "+view.OneLine(string(a))+" is told besides", l.Prompts[a])
	}
	return out
}

// crewOf is who works on a run and who does not.
func (m *Model) crewOf(l event.Launch) string {
	var out []string
	for _, a := range m.chat().Staffed.Team {
		box := "☐ "
		if slices.Contains(l.Agents, a.Agent) {
			box = "☑ "
		}
		out = append(out, box+view.OneLine(string(a.Agent))+prefixed(" ", view.OneLine(shortModel(a.Model))))
	}
	for _, a := range l.Agents {
		if !slices.ContainsFunc(m.chat().Staffed.Team, func(t event.Teammate) bool { return t.Agent == a }) {
			out = append(out, "☑ "+view.OneLine(string(a)))
		}
	}
	return strings.Join(out, "   ")
}

func modeOf(l event.Launch) string {
	if l.Single {
		return "single: one agent alone"
	}
	return fmt.Sprintf("multi: %s", plural(len(l.Agents), "agent"))
}

func refineOf(l event.Launch) string {
	switch {
	case l.Quick && l.Single:
		return "off: one answer, at once"
	case l.Quick:
		return "off: one answer each, and one made of all"
	case l.Single:
		return "on: it may improve its answer"
	}
	return "on: they read each other, improve and vote"
}

func planOf(l event.Launch) string {
	switch {
	case l.Plan && l.Execute:
		return "on: a plan is made, and then the winner carries it out"
	case l.Plan:
		return "on: a plan is made and nothing is carried out"
	}
	return "off: it is carried out at once"
}

// A pathLine is a file or folder of the user's that a run is given.
type pathLine struct {
	words string
	write bool
}

// pathsOf are the files and folders of a run, each with what may be done to it and
// where that comes from.
func (m *Model) pathsOf(l event.Launch) []pathLine {
	var out []pathLine
	for _, c := range launch.Paths(l, m.chat().Staffed.ContextPaths) {
		what, from := "read ", "from the configuration"
		if c.Write {
			what = "WRITE "
		}
		if slices.ContainsFunc(l.Paths, func(o event.ContextPath) bool { return o.Path == c.Path }) {
			from = "for this run"
		}
		words := what + view.OneLine(c.Path) + ", " + from
		if len(c.Protected) > 0 {
			words += "; stays as it is: " + view.OneLine(strings.Join(c.Protected, ", "))
		}
		out = append(out, pathLine{words, c.Write})
	}
	slices.SortStableFunc(out, func(a, b pathLine) int { return int(bit(b.write)) - int(bit(a.write)) }) // what matters more
	if len(out) == 0 {
		return []pathLine{{words: "none of yours besides what the task names"}}
	}
	return out
}

// overridesOf are the settings that a run changes, one by one.
func overridesOf(l event.Launch) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal(l.Overrides, &all) != nil || len(all) == 0 {
		return []string{"as configured"}
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, view.OneLine(k+": "+string(all[k])))
	}
	return out
}

// estimateOf is what a run may come to, and what that is guessed from.
func estimateOf(e *event.Estimate) string {
	if e == nil || e.Cost == 0 && e.Tokens == 0 {
		s := "nobody can tell"
		if e != nil && e.Basis != "" {
			s = "nothing (" + e.Basis + ")"
		}
		return s
	}
	var out []string
	if e.Cost > 0 {
		out = append(out, "about "+e.Cost.String())
	}
	if e.Tokens > 0 {
		out = append(out, short(e.Tokens)+" tokens")
	}
	s := strings.Join(out, ", ")
	if e.Basis != "" {
		s += " (" + view.OneLine(e.Basis) + ")"
	}
	return s
}

// budgetWords is what may still be spent in the conversation, and by one run.
func (m *Model) budgetWords() string {
	r := m.chat().Staffed.Rules
	used := m.chat().Usage.Add(m.runsCost())
	var out []string
	if c := r.Budget.Cost; c != nil {
		out = append(out, fmt.Sprintf("%s left of %s", max(*c-used.Cost, 0), *c))
	}
	if n := r.Budget.Tokens; n != nil {
		out = append(out, fmt.Sprintf("%s tokens left of %s", short(max(*n-used.Tokens(), 0)), short(*n)))
	}
	if len(out) == 0 {
		out = append(out, "no limit for this conversation")
	}
	if c := r.RunBudget.Cost; c != nil {
		out = append(out, "at most "+c.String()+" for one run")
	}
	if n := r.RunBudget.Tokens; n != nil {
		out = append(out, "at most "+short(*n)+" tokens for one run")
	}
	return strings.Join(out, ", ")
}

// wantedBy is why a person is asked, where that is not by the rules.
func (m *Model) wantedBy(l event.Launch) string {
	rules := m.chat().Staffed.Rules.Approve && !m.chat().Waived
	switch {
	case m.session.Kind == event.SessionClient:
		return m.partnerName() + ", a program outside"
	case l.Approve && !rules:
		return m.partnerName() + ", though you have said that runs need no approval"
	}
	return ""
}
