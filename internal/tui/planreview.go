package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/diff"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// Where keys go in the review of a plan: they decide, or write.
const (
	atReview Where = "the review of a plan"
	atNote   Where = "what is said about a plan"
)

// A planView is one way to look at a plan.
type planView string

const (
	planText  planView = "plan"
	planLines planView = "lines"
	planTasks planView = "tasks"
	planDiff  planView = "changes"
)

// planReview is where a person decides about a plan: reads it, comments on it,
// and approves it, has it changed or drops it. What they have written stays while
// the plan waits, however often the review is closed.
type planReview struct {
	gate     string
	revision int

	view   planView
	offset int
	at     int // the line or task that a comment would be about

	note       field
	comment    field
	writing    bool // the note
	commenting bool
	comments   []planComment

	drawn    []string
	drawnFor string
}

// A planComment is about one line or task of a revision.
type planComment struct {
	revision int
	view     planView
	at       int
	quote    string
	words    string
}

// reviewOf is the review of the plan that a gate asks about.
func (m *Model) reviewOf(g view.Gate) *planReview {
	if m.review == nil || m.review.gate != g.Gate {
		m.review = &planReview{
			gate: g.Gate, view: planText,
			note:    newField("what to change, or what to mind besides (i writes)"),
			comment: newField("your comment"),
		}
	}
	m.review.renew(g)
	return m.review
}

// reviewWith opens the review of a plan that waits with what was typed: that is
// where it is said.
func (m *Model) reviewWith(s string) bool {
	for _, g := range m.gates() {
		if g.Kind != event.GatePlan {
			continue
		}
		p := m.reviewOf(g)
		if old := p.note.text(); old != "" {
			s = old + "\n" + s
		}
		p.note.in.SetText(s)
		m.decide(g)
		m.notify("The plan waits for you: a approves it with what you typed, r has it changed so.")
		return true
	}
	return false
}

// renew takes in that another revision is asked about, and reports whether it is.
func (p *planReview) renew(g view.Gate) bool {
	if p.revision == g.Revision {
		return false
	}
	p.revision, p.offset, p.at = g.Revision, 0, 0
	return true
}

// Refresh implements Refresher.
func (p *planReview) Refresh(m *Model) tea.Cmd {
	if g, ok := m.gate(p.gate); ok && p.renew(g) {
		m.put.sprung = m.o.Now() // what is decided now was meant for the one before
	}
	return nil
}

func (p *planReview) gateID() string { return p.gate }
func (p *planReview) Full() bool     { return true }

func (p *planReview) Where() Where {
	if p.writing || p.commenting {
		return atNote
	}
	return atReview
}

func (p *planReview) Title(m *Model) string {
	plan, _, _ := m.planOf(p.gate, p.revision)
	dir := plan.Dir
	if i := strings.LastIndex(dir, ".conclave"); i > 0 { // the rest is where we are
		dir = dir[i:]
	}
	return fmt.Sprintf("Plan, revision %d · %s", p.revision, dir)
}

// planOf is a revision of a plan and the one before it.
func (m *Model) planOf(id string, revision int) (now, before event.Planned, ok bool) {
	for _, t := range m.session.Turns.Backward() {
		plan := t.Plan
		if plan == nil || plan.ID != id {
			continue
		}
		for _, r := range plan.Revisions {
			switch r.Revision {
			case revision:
				now, ok = r, true
			case revision - 1:
				before = r
			}
		}
		return now, before, ok
	}
	return now, before, false
}

// Scroll moves the text, or the mark on the line that a comment would be about.
func (p *planReview) Scroll(n int) {
	if p.view == planLines || p.view == planTasks {
		p.at = max(p.at+n, 0)
		return
	}
	p.offset += n
}

func (p *planReview) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	switch {
	case p.commenting:
		done, used := p.comment.update(msg)
		if done {
			p.addComment(m)
		}
		return nil, used
	case p.writing:
		done, used := p.note.update(msg)
		if done {
			p.writing = false
		}
		return nil, used
	}
	return nil, false
}

// View draws how the plan stands, the plan, and what the person says about it.
func (p *planReview) View(m *Model, width, height int) []string {
	plan, before, ok := m.planOf(p.gate, p.revision)
	if !ok {
		return []string{m.theme.Dim.Render("The plan is not there any more.")}
	}
	head := []string{p.tabsLine(m, plan, width)}
	foot := p.foot(m, width, max(height/4, 1))
	room := max(height-len(head)-len(foot), 1)
	var body []string
	switch p.view {
	case planLines, planTasks:
		body = p.marked(m, plan, width, room)
	default:
		body = p.scrolled(m, plan, before, width, room)
	}
	return append(append(head, text.Fit(body, width, room)...), foot...)
}

// planViews are the ways to look at a plan, in the order of their tabs.
var planViews = []planView{planText, planLines, planTasks, planDiff}

// label is what the tab of a way to look at a plan says.
func (p *planReview) label(m *Model, v planView) string {
	plan, before, _ := m.planOf(p.gate, p.revision)
	switch {
	case v == planTasks:
		return fmt.Sprintf(" tasks %d ", len(plan.Tasks))
	case v == planDiff && before.Revision > 0:
		added, removed := diff.Stat(m.texts.of(before.Text), m.texts.of(plan.Text))
		return fmt.Sprintf(" changes +%d −%d ", added, removed)
	}
	return " " + string(v) + " "
}

// tabsLine is the ways to look at the plan, and who wrote it.
func (p *planReview) tabsLine(m *Model, plan event.Planned, width int) string {
	line := " "
	for _, v := range planViews {
		style := m.theme.Dim
		if v == p.view {
			style = m.theme.Selected
		}
		line += style.Render(p.label(m, v)) + " "
	}
	if plan.By != "" {
		line += m.theme.Faint.Render("written by " + text.Clean(plan.By))
	}
	return text.Cut(line, width)
}

// Click opens a tab.
func (p *planReview) Click(m *Model, x, y int) tea.Cmd {
	at := 1
	for _, v := range planViews {
		n := text.Width(p.label(m, v))
		if y == 0 && x >= at && x < at+n && !p.commenting {
			p.look(v)
		}
		at += n + 1
	}
	return nil
}

// scrolled is the text of the plan, or what has changed in it.
func (p *planReview) scrolled(m *Model, plan, before event.Planned, width, room int) []string {
	for key := fmt.Sprint(p.view, plan.Revision, width, m.theme.Name, m.theme.Dark); p.drawnFor != key; p.drawnFor = key {
		p.drawn = p.prose(m, plan, before, width)
	}
	p.offset = max(min(p.offset, len(p.drawn)-room), 0)
	return p.drawn[p.offset:min(p.offset+room, len(p.drawn))]
}

func (p *planReview) prose(m *Model, plan, before event.Planned, width int) []string {
	now := m.texts.of(plan.Text)
	if p.view != planDiff {
		out := markdown.Render(now, width, m.theme)
		if len(plan.Tasks) > 0 {
			out = append(out, "", m.theme.Heading.Render("Tasks"))
		}
		for _, t := range plan.Tasks {
			out = append(out, bodyLines("  "+t.ID+"  "+t.Text, width)...)
		}
		return out
	}
	if before.Revision == 0 {
		return []string{m.theme.Dim.Render("This is the first revision.")}
	}
	out := diff.Unified(m.texts.of(before.Text), now, width, m.theme)
	if len(out) == 0 {
		return []string{m.theme.Dim.Render(fmt.Sprintf("Nothing has changed since revision %d.", before.Revision))}
	}
	return out
}

// pieces are the lines or tasks that can be commented on.
func (p *planReview) pieces(m *Model, plan event.Planned) []string {
	if p.view == planTasks {
		var out []string
		for _, t := range plan.Tasks {
			out = append(out, text.Clean(t.ID+"  "+t.Text))
		}
		return out
	}
	return strings.Split(strings.TrimRight(text.Clean(m.texts.of(plan.Text)), "\n"), "\n")
}

// marked is the plan line by line or task by task, with comments below what they
// are about.
func (p *planReview) marked(m *Model, plan event.Planned, width, room int) []string {
	pieces := p.pieces(m, plan)
	if len(pieces) == 0 {
		return []string{m.theme.Dim.Render("The plan lists no tasks.")}
	}
	p.at = max(min(p.at, len(pieces)-1), 0)
	var out []string
	first, last := 0, 0
	for i, s := range pieces {
		if i == p.at {
			first = len(out)
		}
		out = append(out, p.piece(m, i, s, width)...)
		if i == p.at {
			last = len(out)
		}
	}
	p.offset = max(min(p.offset, first), last-room, 0)
	return out[p.offset:min(p.offset+room, len(out))]
}

func (p *planReview) piece(m *Model, i int, s string, width int) []string {
	var out []string
	for j, l := range text.Wrap(s, max(width-6, 4)) {
		number := "     "
		if j == 0 {
			number = fmt.Sprintf("%4d ", i+1)
		}
		l = m.theme.Faint.Render(number) + l
		if i == p.at {
			l = m.theme.Selected.Render(text.Pad(number+text.Cut(text.Wrap(s, max(width-6, 4))[j], width-6), width))
		}
		out = append(out, l)
	}
	for _, c := range p.comments {
		if c.revision == p.revision && c.view == p.view && c.at == i {
			for _, l := range bodyLines(c.words, max(width-9, 4)) {
				out = append(out, m.theme.User.Render("      ▎ "+l))
			}
		}
	}
	return out
}

// foot is what the person says about the plan.
func (p *planReview) foot(m *Model, width, height int) []string {
	out := []string{m.rule(width)}
	if n := len(p.comments); n > 0 {
		s := "1 comment goes along"
		if n > 1 {
			s = fmt.Sprintf("%d comments go along", n)
		}
		out = append(out, m.theme.User.Render(text.Cut(" "+s+" (u takes the last one back)", width)))
	}
	if p.commenting {
		out = append(out, m.theme.User.Render(text.Cut(" Your comment on "+p.place(m), width)))
		return append(out, p.comment.lines(m, width, height, true)...)
	}
	return append(out, p.note.lines(m, width, height, p.writing)...)
}
