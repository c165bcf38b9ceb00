package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// addComment takes in the comment that was written.
func (p *planReview) addComment(m *Model) {
	plan, _, ok := m.planOf(p.gate, p.revision)
	words := p.comment.text()
	p.commenting = false
	p.comment.in.Clear()
	if pieces := p.pieces(m, plan); ok && words != "" && len(pieces) > 0 {
		p.at = min(p.at, len(pieces)-1)
		p.comments = append(p.comments, planComment{p.revision, p.view, p.at, strings.TrimSpace(pieces[p.at]), words})
	}
}

// place is what a comment is about: "line 3: Sort the keys".
func (p *planReview) place(m *Model) string {
	plan, _, _ := m.planOf(p.gate, p.revision)
	pieces := p.pieces(m, plan)
	if len(pieces) == 0 {
		return "the plan"
	}
	at := min(p.at, len(pieces)-1)
	what := fmt.Sprintf("line %d", at+1)
	if p.view == planTasks {
		what = fmt.Sprintf("task %d", at+1)
	}
	if s := view.OneLine(pieces[at]); s != "" {
		return what + ": " + s
	}
	return what + ", which is empty"
}

// said is everything the person has written about the plan.
func (p *planReview) said() string {
	var out []string
	if s := p.note.text(); s != "" {
		out = append(out, s)
	}
	for _, c := range p.comments {
		what := fmt.Sprintf("line %d", c.at+1)
		if c.view == planTasks {
			what = "the task"
		}
		if c.revision != p.revision {
			what += fmt.Sprintf(" of revision %d", c.revision)
		}
		if c.quote != "" {
			what += fmt.Sprintf(" (%q)", view.Shorten(c.quote, 120))
		}
		out = append(out, fmt.Sprintf("On %s: %s", what, c.words))
	}
	return strings.Join(out, "\n\n")
}

// judge answers the question about the plan with what was written.
func (m *Model) judge(choice string) tea.Cmd {
	p, ok := m.top().(*planReview)
	if !ok {
		return nil
	}
	g, open := m.gate(p.gate)
	said := p.said()
	switch {
	case !open:
		m.closeTop()
		m.notify("The plan has been decided about meanwhile.")
		return nil
	case choice == event.PlanChange && said == "":
		p.writing = true
		m.notify("Say what is to be different, then Ctrl+Enter, or Enter and r.")
		return nil
	case choice == event.PlanDrop && !m.again("drop "+p.gate):
		m.notify("Press the key again to drop the plan; nothing is executed then.")
		return nil
	}
	p.writing, p.commenting = false, false
	m.closeTop()
	return m.reply(g, choice, said)
}

// revise opens the plan in the person's editor; what they make of it is the next
// revision.
func (m *Model) revise() tea.Cmd {
	p, ok := m.top().(*planReview)
	if !ok {
		return nil
	}
	plan, _, ok := m.planOf(p.gate, p.revision)
	if !ok {
		m.notify("The plan is not there any more.")
		return nil
	}
	old := m.texts.of(plan.Text)
	return m.editText(old, func(m *Model, s string) tea.Cmd {
		if strings.TrimRight(s, "\n") == strings.TrimRight(old, "\n") {
			m.notify("Nothing was changed.")
			return nil
		}
		m.notify("Your revision of the plan is being kept.")
		return m.send(m.id, fact(event.Revised{Plan: plan.Plan, Revision: plan.Revision, Text: event.Inline(s), By: by}), "The plan was not changed", nil)
	})
}

// startComment begins a comment about a line or a task.
func (p *planReview) startComment(m *Model) {
	switch p.view {
	case planLines, planTasks:
		p.commenting = true
	default:
		p.look(planLines)
		m.notify("Choose a line with ↑ and ↓, then press c again; t shows the tasks.")
	}
}

func (p *planReview) look(v planView) {
	p.view, p.offset, p.at = v, 0, 0
}

func planActions() []Action {
	do := func(f func(m *Model, p *planReview)) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd {
			if p, ok := m.top().(*planReview); ok {
				f(m, p)
			}
			return nil
		}
	}
	decide := func(choice string) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd { return m.judge(choice) }
	}
	look := func(v planView) func(*Model, string) tea.Cmd {
		return do(func(_ *Model, p *planReview) { p.look(v) })
	}
	return []Action{
		{Name: "plan_approve", Keys: []string{"a"}, Where: atReview, Title: "approve", Hint: 1, Do: decide(event.PlanApprove),
			About: "Approve the plan and have it executed; what you have written is minded"},
		{Name: "plan_change", Keys: []string{"r", "ctrl+enter"}, Where: atReview, Title: "request changes", Hint: 2, Do: decide(event.PlanChange),
			About: "Have the plan changed as you have written and commented"},
		{Name: "plan_drop", Keys: []string{"x"}, Where: atReview, Title: "drop", Hint: 6, Do: decide(event.PlanDrop),
			About: "Drop the plan (press twice)"},
		{Name: "plan_write", Keys: []string{"i", "tab", "n"}, Where: atReview, Title: "write", Hint: 3,
			About: "Write additional instructions, or what to change",
			Do:    do(func(_ *Model, p *planReview) { p.writing = true })},
		{Name: "plan_comment", Keys: []string{"c"}, Where: atReview, Title: "comment", Hint: 4,
			About: "Comment on the marked line or task",
			Do:    do(func(m *Model, p *planReview) { p.startComment(m) })},
		{Name: "plan_uncomment", Keys: []string{"u"}, Where: atReview, Title: "take a comment back", About: "Take the last comment back",
			Why: func(m *Model) string {
				if m.review == nil || len(m.review.comments) == 0 {
					return "There is no comment."
				}
				return ""
			},
			Do: do(func(_ *Model, p *planReview) { p.comments = p.comments[:len(p.comments)-1] })},
		{Name: "plan_edit", Keys: []string{"e", "ctrl+g"}, Where: atReview, Title: "edit", Hint: 5, About: "Edit the plan in your own editor ($VISUAL, $EDITOR)",
			Do: func(m *Model, _ string) tea.Cmd { return m.revise() }},
		{Name: "plan_text", Keys: []string{"p"}, Where: atReview, Title: "plan", About: "The plan as it reads", Do: look(planText)},
		{Name: "plan_lines", Keys: []string{"l"}, Where: atReview, Title: "lines", About: "The plan line by line, to comment on", Do: look(planLines)},
		{Name: "plan_tasks", Keys: []string{"t"}, Where: atReview, Title: "tasks", Hint: 8, About: "The tasks of the plan, to comment on", Do: look(planTasks)},
		{Name: "plan_changes", Keys: []string{"d"}, Where: atReview, Title: "changes", Hint: 7, About: "What has changed since the revision before", Do: look(planDiff)},
		{Name: "note_change", Keys: []string{"ctrl+enter"}, Where: atNote, Title: "request changes", Hint: 2, About: "Have the plan changed as you have written; keep a comment",
			Do: func(m *Model, _ string) tea.Cmd {
				if p, ok := m.top().(*planReview); ok && p.commenting {
					p.addComment(m)
					return nil
				}
				return m.judge(event.PlanChange)
			}},
		{Name: "note_done", Keys: []string{"esc", "tab"}, Where: atNote, Title: "done writing", Hint: 1, About: "Done writing (so is Enter); what is written stays",
			Do: do(func(_ *Model, p *planReview) { p.writing, p.commenting = false, false })},
	}
}
