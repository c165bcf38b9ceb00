package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// What is written to a job.
const (
	jobFeedback = "feedback" // what is to be different in the plan
	jobComment  = "comment"  // about lines of a file
	jobCorrect  = "correct"  // what is to be different in the result
)

// A jobNote is what a person is writing to a job.
type jobNote struct {
	on       bool
	kind     string
	title    string
	field    field
	revision int // that was looked at
	about    event.Commented
}

func (n jobNote) lines(m *Model, width, height int) []string {
	out := []string{m.theme.User.Render(text.Cut(" "+text.Clean(n.title), width))}
	return append(out, n.field.lines(m, width, height, true)...)
}

// write begins to write something.
func (s *jobScreen) write(kind, title, hint, begin string) {
	s.note = jobNote{on: true, kind: kind, title: title, field: newField(hint), about: s.note.about}
	s.note.field.in.SetText(begin)
	if g := s.job.Review; g != nil {
		s.note.revision = g.Revision
	}
}

// writeFeedback asks what is to be different; begin is what was written before.
func (s *jobScreen) writeFeedback(begin string) {
	title := "What is to be different?"
	if n := len(s.open()); n > 0 {
		title += " " + plural(n, "open comment") + " go along."
		if n == 1 {
			title = "What is to be different? 1 open comment goes along."
		}
	}
	s.write(jobFeedback, title+" Enter sends it, Esc keeps it as a draft.", "the plan is changed, and you are asked again", begin)
}

// writeComment asks for a comment on what is marked.
func (s *jobScreen) writeComment(m *Model) {
	p, ok := s.marked()
	if !ok {
		m.notify("There is nothing to comment on.")
		return
	}
	name := s.page.file()
	quote := strings.Join(s.files.texts[name].lines()[p.first-1:p.last], "\n")
	s.note.about = event.Commented{Path: name, Line: p.first, End: p.last, Quote: quote, By: by}
	s.write(jobComment, fmt.Sprintf("Your comment on %s, line %d (Enter keeps it): %s", name, p.first, view.Shorten(quote, 60)), "Enter keeps it; it goes to the agent when you ask for changes (r)", "")
}

// noted takes what was written.
func (s *jobScreen) noted(m *Model) tea.Cmd {
	n, words := s.note, s.note.field.text()
	if words == "" && (n.kind != jobFeedback || len(s.open()) == 0) {
		m.notify("Write something, or press Esc.")
		return nil
	}
	s.note.on = false
	switch n.kind {
	case jobComment:
		n.about.Text = words
		return s.say(m, n.about, "The comment was not kept", func(m *Model, _ event.Refused) { s.restore(n) })
	case jobCorrect:
		m.notify("It goes on with what you want to be different.")
		return s.say(m, event.Corrected{Text: event.Inline(words), By: by}, "Not corrected", func(m *Model, _ event.Refused) { s.restore(n) })
	}
	g := s.job.Review
	if g == nil {
		m.notify("It does not wait for you any more; it is " + string(s.job.State) + ".")
		return nil
	}
	return s.reply(m, *g, n.revision, event.ReviewChange, words, func(*Model, event.Refused) { s.restore(n) })
}

// restore goes on writing what was not taken. What is asked now was looked at by
// then: its revision is the one that is seen.
func (s *jobScreen) restore(n jobNote) {
	s.note = n
	s.note.on = true
	if g := s.job.Review; g != nil {
		s.note.revision = g.Revision
	}
}

// putAway stops writing. Feedback is kept as a draft, which every window has.
func (s *jobScreen) putAway(m *Model) tea.Cmd {
	words := s.note.field.text()
	s.note.on = false
	if s.note.kind != jobFeedback || words == strings.TrimSpace(s.job.Draft) || s.job.Review == nil {
		return nil
	}
	m.notify("Kept as a draft; r goes on with it.")
	return s.say(m, event.Drafted{Text: words, By: by}, "The draft was not kept", nil)
}

// noteEditor goes on writing in the person's own editor.
func (s *jobScreen) noteEditor(m *Model) tea.Cmd {
	return m.editNote(&s.note.field, &s.note.on)
}

// say says something to the job. If it is refused, or cannot be said, back puts
// things back.
func (s *jobScreen) say(m *Model, body event.Body, what string, back func(*Model, event.Refused)) tea.Cmd {
	f := fact(body)
	if _, edit := body.(event.Edited); edit {
		s.edits[f.ID] = true
	}
	return s.tell(m, f, what, back)
}

// reply answers a question of the job as it was looked at.
func (s *jobScreen) reply(m *Model, g view.Gate, revision int, choice, words string, back func(*Model, event.Refused)) tea.Cmd {
	return s.say(m, event.Replied{Gate: g.Gate, Choice: choice, Text: words, Revision: revision, By: by}, "Not decided", back)
}
