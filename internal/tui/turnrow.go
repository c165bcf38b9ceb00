package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// around is the conversation before a run and after it. Around an earlier run
// that is looked at is only what was said to begin it.
func (m *Model) around(s *story) (before, after []entry) {
	at := &before
	here := event.FlowID("")
	if s != nil {
		here = s.id
	}
	if from := m.session.From; from != "" && from != here && m.past == nil {
		before = append(before, &pastRun{run: view.SessionRun{ID: from, Over: true, Status: event.StatusSuccess}})
	} else if from != "" && from == here {
		at = &after
	}
	for _, t := range m.session.Turns.All(0) {
		own := holds(t, here)
		if m.past != nil && !own {
			continue
		}
		*at = append(*at, &saidRow{id: t.ID, text: t.Text, images: t.Images, by: t.By})
		plan := revisions(t.Plan)
		for _, r := range t.Runs {
			if r.Note != "" {
				*at = append(*at, &saidRow{id: string(r.ID) + "/note", text: event.Inline(r.Note), by: t.By, about: "about the plan"})
			}
			switch {
			case r.ID == here:
				at = &after
				if m.past != nil {
					return before, nil
				}
				if r.Unbegun() {
					after = append(after, &pastRun{run: r})
				}
			case m.past == nil:
				*at = append(*at, &pastRun{run: r, plan: r.Purpose == event.PurposePlan})
			}
			for len(plan) > 0 && (plan[0].Run == r.ID || plan[0].Run == "") {
				*at = append(*at, &planRow{p: plan[0], known: plan[0].Run == here && here != ""})
				plan = plan[1:]
			}
		}
	}
	for _, h := range m.session.Heard {
		if h.Said != nil {
			after = append(after, &saidRow{id: h.ID, text: h.Said.Text, images: h.Said.Images, by: h.Said.By, about: "being taken up"})
		}
	}
	return before, after
}

func holds(t view.SessionTurn, id event.FlowID) bool {
	for _, r := range t.Runs {
		if r.ID == id {
			return true
		}
	}
	return false
}

func revisions(p *view.SessionPlan) []event.Planned {
	if p == nil {
		return nil
	}
	return p.Revisions
}

// saidRow is something that a person has said in the conversation.
type saidRow struct {
	id     string
	text   event.Content
	images []string
	by     string
	about  string
}

func (r *saidRow) key() string           { return "said/" + r.id }
func (r *saidRow) version() uint64       { return uint64(len(r.about)) }
func (r *saidRow) plain(m *Model) string { return m.texts.of(r.text) }

func (r *saidRow) draw(b brush) []string {
	who := view.Speaker(r.by)
	if r.about != "" {
		who += ", " + r.about
	}
	return b.bubble(who, b.of(r.text), r.images)
}

// bubble is what a person has said, with a bar at its left.
func (b brush) bubble(who, s string, images []string) []string {
	t := &b.m.theme
	lines := append([]string{t.User.Render(text.Cut(who, b.inner()))}, b.fold(b.wrapped(s, t.Text, b.inner()), foldedAnswer)...)
	for _, i := range images {
		lines = append(lines, t.Dim.Render(text.CutLeft("image: "+view.OneLine(i), b.inner())))
	}
	bar := t.User.Render("┃") + " "
	for i, l := range lines {
		lines[i] = bar + l
	}
	return b.apart(lines)
}

// pastRun is a run of the conversation that is not the one shown: what came of it.
type pastRun struct {
	run  view.SessionRun
	plan bool // what it came to is a plan, which has a row of its own
}

func (r *pastRun) key() string { return "run/" + string(r.run.ID) }
func (r *pastRun) version() uint64 {
	if r.run.Over {
		return 1 + uint64(len(r.run.Status))
	}
	return 0
}
func (r *pastRun) plain(m *Model) string { return m.texts.of(r.run.Answer) }

func (r *pastRun) draw(b brush) []string {
	t := &b.m.theme
	x := r.run
	mark, style := "◆", t.Accent
	var parts []string
	add := func(s string) { parts = append(parts, s) }
	switch {
	case !x.Over:
		add("is going on")
	case x.Unbegun():
		mark, style = "✗", t.Bad
		add("could not begin")
	case x.Status != event.StatusSuccess:
		mark, style = "■", t.Warn
		add(strings.ToLower(statusWords(x.Status, x.StoppedBy)))
	}
	if x.Winner != "" {
		add(view.OneLine(string(x.Winner)))
	}
	if n := x.Usage.Tokens(); n > 0 {
		add(short(n) + " tokens")
		add(x.Usage.Cost.String())
	}
	if took := x.Ended.Sub(x.Began); !x.Ended.IsZero() && took > 0 {
		add(face(took))
	}
	title := "Answer"
	switch {
	case r.plan:
		title = "Plan made"
	case x.Answer.Empty():
		title = "Run"
	}
	head := style.Render(title)
	if len(parts) > 0 {
		head += t.Dim.Render(" · " + strings.Join(parts, " · "))
	}
	if !x.Unbegun() {
		head += t.Faint.Render("  (" + b.m.listKey("Enter") + " opens the run)")
	}
	lines := hang(style.Render(mark), text.Wrap(head, b.inner()))
	if x.Error != "" {
		lines = append(lines, indent(b.wrapped(x.Error, t.Bad, b.inner()))...)
	}
	if x.Unbegun() {
		lines = append(lines, indent(b.wrapped("Nothing was done. Put that right and say it again: ↑ brings back what you said.", t.Dim, b.inner()))...)
	}
	if !r.plan && !x.Answer.Empty() {
		lines = append(lines, indent(b.fold(b.markdown(b.of(x.Answer)), foldedTurn))...)
	}
	for _, u := range x.Unread {
		lines = append(lines, indent(b.wrapped("not read by anybody: "+b.of(u), t.Warn, b.inner()))...)
	}
	return b.apart(lines)
}

// planRow is a revision of a plan. Known: the answer above it is the plan.
type planRow struct {
	p     event.Planned
	known bool
}

func (r *planRow) key() string { return fmt.Sprintf("plan/%s/%d", r.p.Plan, r.p.Revision) }
func (r *planRow) version() uint64 {
	if r.known {
		return 1
	}
	return 0
}
func (r *planRow) plain(m *Model) string { return m.texts.of(r.p.Text) }

func (r *planRow) draw(b brush) []string {
	t := &b.m.theme
	head := fmt.Sprintf("Plan, revision %d", r.p.Revision)
	if r.p.Run == "" {
		head += ", changed by " + view.OneLine(r.p.By)
	}
	if n := len(r.p.Tasks); n > 0 {
		head += fmt.Sprintf(" · %d tasks", n)
	}
	lines := hang(t.Accent.Render("☐"), text.Wrap(t.Accent.Render(head), b.inner()))
	if !r.known || b.open {
		lines = append(lines, indent(b.fold(b.markdown(b.of(r.p.Text)), foldedTurn))...)
	}
	return b.apart(append(lines, "  "+t.Dim.Render(text.CutLeft(view.OneLine(r.p.Dir), b.inner()))))
}

// lookBack shows an earlier run in place of the newest one.
func (m *Model) lookBack(id event.FlowID) tea.Cmd {
	if m.story != nil && m.story.id == id {
		if m.chatting() { // it is followed already
			m.past, m.tab, m.inList = m.story, 0, false
			m.lanes.changed()
			return nil
		}
		m.lane().Bottom()
		return nil
	}
	m.leavePast()
	past := newStory(id)
	m.past = past
	m.tab = 0
	m.lanes.changed()
	m.notify("An earlier run; Esc goes back.")
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		snap, err := c.Open(ctx, id)
		return func(m *Model) tea.Cmd {
			if m.past != past {
				return nil
			}
			if err != nil {
				m.leavePast()
				m.notify(fmt.Sprintf("The run cannot be shown: %v", err))
				return nil
			}
			past.opened(snap)
			m.feed.follow(id)
			m.lanes.changed()
			return nil
		}
	})
}

// leavePast goes back to the newest run.
func (m *Model) leavePast() {
	if m.past == nil {
		return
	}
	if m.past != m.story {
		m.feed.leave(m.past.id)
	}
	m.lanes.forget(m.past.id)
	m.past, m.tab = nil, 0
	m.lanes.changed()
}
