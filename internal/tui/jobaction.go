package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// approve asks once more, and has the plan carried out as it is seen now. Of a job
// that cannot go on it has it try again.
func (s *jobScreen) approve(m *Model, choice string) tea.Cmd {
	g := *s.job.Review
	title := fmt.Sprintf("Carry out revision %d?", g.Revision)
	if choice == event.ReviewSkip {
		title = fmt.Sprintf("Carry out revision %d, and look at no further plan?", g.Revision)
	}
	words := s.approvalWords(choice)
	if g.Kind == event.GateTrouble {
		choice, title, words = event.TroubleRetry, "Go on?", "It goes on, with as much again of what had run out."
	}
	m.confirm(title, words, func(m *Model) tea.Cmd { return s.reply(m, g, g.Revision, choice, "", nil) })
	return nil
}

// approvalWords say what is approved and what is left open.
func (s *jobScreen) approvalWords(choice string) string {
	todo, left := 0, 0
	for _, t := range s.job.Staged {
		if t.Skip {
			left++
		} else {
			todo++
		}
	}
	out := []string{plural(todo, "todo") + " are done next."}
	if todo == 1 {
		out[0] = "1 todo is done next."
	}
	if left > 0 {
		out[0] = strings.TrimSuffix(out[0], ".") + fmt.Sprintf(", %d left out.", left)
	}
	switch n := len(s.open()); n {
	case 0:
	case 1:
		out = append(out, "1 comment is open and is not dealt with: to have it minded, ask for changes (r).")
	default:
		out = append(out, fmt.Sprintf("%d comments are open and are not dealt with: to have them minded, ask for changes (r).", n))
	}
	if n := s.unanswered(); n > 0 {
		out = append(out, plural(n, "question")+" of the plan: the default holds.")
	}
	if x := s.job.Estimate; x != nil {
		out = append(out, fmt.Sprintf("About %s and %s tokens to go.", x.Cost, short(x.Tokens)))
	}
	if choice == event.ReviewSkip {
		out = append(out, "No plan of this job is asked about again.")
	}
	return strings.Join(out, "\n")
}

// cancel asks, and ends the job.
func (s *jobScreen) cancel(m *Model) tea.Cmd {
	m.confirm("Cancel the job?", "What there is will be kept, and it can be taken up again with a correction (f).", func(m *Model) tea.Cmd {
		m.notify("Cancelling.")
		return s.say(m, event.CancelRequested{By: by}, "Not cancelled", nil)
	})
	return nil
}

// permission is the question whether a tool may be used.
func (s *jobScreen) permission() (view.Gate, bool) {
	i := slices.IndexFunc(s.job.Gates, func(g view.Gate) bool { return g.Kind == event.GatePermission })
	if i < 0 {
		return view.Gate{}, false
	}
	return s.job.Gates[i], true
}

const atPermit Where = "a permission of a job or a team"

// permit asks whether a tool may be used.
func (s *jobScreen) permit(m *Model) tea.Cmd {
	g, _ := s.permission()
	m.askPermit(g, "Allow it in this job", func(m *Model, choice string) tea.Cmd { return s.reply(m, g, g.Revision, choice, "", nil) })
	return nil
}

// askPermit asks whether a tool may be used; whole is what to say for all that
// follows.
func (m *Model) askPermit(g view.Gate, whole string, reply func(m *Model, choice string) tea.Cmd) {
	words := map[string]string{
		event.PermitOnce: "Allow it once", event.PermitRun: whole, event.PermitAlways: "Allow it from now on", event.PermitDeny: "Deny it",
	}
	p := &picker{where: atPermit, title: view.OneLine(g.Title), browse: true}
	for _, c := range g.Choices {
		p.rows = append(p.rows, pick{key: c.ID, text: cmp.Or(words[c.ID], view.OneLine(c.Text), c.ID), more: capital(view.OneLine(c.Text))})
	}
	p.preview = func(m *Model, r pick, width int) []string { // what is asked, and what is chosen in full
		out := bodyLines(m.texts.of(g.Text), width)
		if r.more != "" {
			out = append(out, append([]string{""}, text.Wrap(m.theme.Heading.Render(text.Clean(r.more)), width)...)...)
		}
		return out
	}
	p.chosen = func(m *Model, r pick) tea.Cmd {
		m.closeTop()
		return reply(m, r.key)
	}
	m.open(p)
}

const atThreads Where = "comments on a job"

// openThreads lists the comments, to reply to and to resolve.
func (m *Model) openThreads(s *jobScreen) {
	p := &picker{where: atThreads, title: "Comments", full: true, browse: true, empty: "Nobody has commented on anything. c comments on a line of the plan."}
	p.fill = func(*Model) []pick {
		var out []pick
		for _, t := range s.job.Threads {
			mark := "○ "
			if t.Resolved {
				mark = "✓ "
			} else if t.Answer != nil {
				mark = "● "
			}
			where := t.Path
			if t.Line > 0 {
				where += fmt.Sprintf(":%d", t.Line)
			}
			out = append(out, pick{key: t.ID, text: mark + view.OneLine(t.Text), about: where, value: t})
		}
		return out
	}
	p.preview = func(m *Model, r pick, width int) []string {
		t := r.value.(view.JobThread)
		return append(bodyLines(t.Quote, width), append([]string{""}, m.threadLines(t, width, false)...)...)
	}
	p.chosen = func(m *Model, r pick) tea.Cmd {
		m.open(newPrompt("Reply", view.OneLine(r.value.(view.JobThread).Text), "", func(m *Model, words string) tea.Cmd {
			return s.say(m, event.Commented{Text: words, Reply: r.key, By: by}, "The reply was not kept", nil)
		}))
		return nil
	}
	m.open(p)
}

// resolve says that the comment that is chosen needs nothing more, or does.
func (m *Model) resolve(string) tea.Cmd {
	p, ok := m.top().(*picker)
	if !ok || m.job == nil {
		return nil
	}
	r, ok := p.current()
	if !ok {
		m.notify("There is no comment.")
		return nil
	}
	t := r.value.(view.JobThread)
	if t.Resolved {
		m.notify("It is open again.")
	} else {
		m.notify("Resolved; the agent is not asked to deal with it.")
	}
	return m.job.say(m, event.Resolved{Comment: t.ID, On: !t.Resolved, By: by}, "Not resolved", nil)
}

// companion turns the window to the conversation about the job.
func (s *jobScreen) companion(m *Model) tea.Cmd {
	id := s.job.Started.Companion
	return m.turnAnd(id, func(m *Model) { m.notify("You talk about the job here; F12 goes back to it.") })
}

// Reasons against what is done with a job.
func jobReason(why func(s *jobScreen) string) func(*Model) string {
	return func(m *Model) string {
		if s, ok := m.top().(*jobScreen); ok {
			return why(s)
		}
		return "Open a job first (F12)."
	}
}

func jobWaits(s *jobScreen) string {
	if s.job.Review == nil {
		return "It is " + s.state() + ": there is nothing to decide now."
	}
	return ""
}

func jobReviews(s *jobScreen) string {
	if s.job.Review == nil || s.job.Review.Kind != event.GateReview {
		return "No plan waits for you now."
	}
	return ""
}

func jobGoesOn(s *jobScreen) string {
	if s.job.State.Over() {
		return "It is over already; f corrects it."
	}
	return ""
}

func jobOver(s *jobScreen) string {
	if !s.job.State.Over() {
		return "It is not over; x cancels it."
	}
	return ""
}

// jobScreenActions are what can be done at a job.
func jobScreenActions() []Action {
	any := func(*jobScreen) string { return "" }
	act := func(name, keys, title string, hint int, about string, why func(*jobScreen) string, do func(*jobScreen, *Model) tea.Cmd) Action {
		return Action{Name: name, Keys: strings.Fields(keys), Where: atJob, Title: title, Hint: hint, About: about, Why: jobReason(why),
			Do: func(m *Model, _ string) tea.Cmd { return do(m.top().(*jobScreen), m) }}
	}
	now := func(a Action, trouble string) Action {
		a.Now = func(m *Model) string {
			if m.job != nil && m.job.job.State == view.JobTrouble {
				return trouble
			}
			return a.Title
		}
		return a
	}
	titled := func(a Action, word func(*jobScreen) string) Action {
		a.Now = func(m *Model) string {
			if m.job != nil {
				return word(m.job)
			}
			return a.Title
		}
		return a
	}
	out := []Action{
		now(act("job_approve", "a", "approve", 1, "Have the plan carried out as you see it; of a job that cannot go on, have it go on", jobWaits,
			func(s *jobScreen, m *Model) tea.Cmd { return s.approve(m, event.ReviewApprove) }), "go on"),
		now(act("job_change", "r", "request changes", 2, "Say what is to be different; you are asked again", jobWaits,
			func(s *jobScreen, m *Model) tea.Cmd { s.writeFeedback(s.job.Draft); return nil }), "plan anew"),
		act("job_correct", "f", "correct", 1, "Have a job that is over do something else", jobOver, func(s *jobScreen, m *Model) tea.Cmd {
			s.write(jobCorrect, "What is to be different in the result? Enter sends it.", "it plans that, and carries it out", "")
			return nil
		}),
		act("job_permit", "p", "permission", 1, "Answer whether a tool may be used", func(s *jobScreen) string {
			if _, asks := s.permission(); !asks {
				return "It asks for no permission."
			}
			return ""
		}, (*jobScreen).permit),
		act("job_comment", "c", "comment", 3, "Comment on the line that is marked", func(s *jobScreen) string {
			if s.page != jobPlan && s.page != jobMemory {
				return "Lines are commented on where they are read: 1 is the plan, 3 the memory."
			}
			return ""
		}, func(s *jobScreen, m *Model) tea.Cmd { s.writeComment(m); return nil }),
		act("job_edit", "e", "edit", 4, "Edit the plan, the memory or the todos in your own editor ($VISUAL, $EDITOR)", func(s *jobScreen) string {
			if !s.job.State.Frozen() {
				return "Files can be edited only while the job waits for you."
			}
			return ""
		}, (*jobScreen).edit),
		titled(act("job_enter", "enter", "open", 3, "Answer the question, reword the todo, comment on the line, read the deliverable", jobEnters, (*jobScreen).enter), (*jobScreen).enterWord),
		act("job_untick", "space", "leave out", 3, "Leave the todo out, or take it in again", (*jobScreen).editable,
			func(s *jobScreen, m *Model) tea.Cmd { return s.changeTodos(m, untick) }),
		act("job_down", "shift+j J", "move down", 4, "Have the todo done later", (*jobScreen).editable, func(s *jobScreen, m *Model) tea.Cmd { return s.changeTodos(m, swap(1)) }),
		act("job_up", "shift+k K", "move up", 4, "Have the todo done earlier", (*jobScreen).editable, func(s *jobScreen, m *Model) tea.Cmd { return s.changeTodos(m, swap(-1)) }),
		act("job_skip", "s", "skip review", 5, "Have it carried out, and ask about no plan of this job again", jobReviews,
			func(s *jobScreen, m *Model) tea.Cmd { return s.approve(m, event.ReviewSkip) }),
		act("job_cancel", "x", "cancel", 6, "End the job, whatever it does", jobGoesOn, (*jobScreen).cancel),
		act("job_threads", "t", "comments", 0, "Every comment, to reply to or resolve", any, func(s *jobScreen, m *Model) tea.Cmd { m.openThreads(s); return nil }),
		act("job_files", "o", "files", 7, "Every file of the job", any, (*jobScreen).openFiles),
		act("job_talk", "m", "talk", 0, "Talk about the job with its companion", func(s *jobScreen) string {
			if s.job.Started.Companion == "" {
				return "Nobody is there to talk about it."
			}
			return ""
		}, (*jobScreen).companion),
		act("job_next", "tab right", "next page", 0, "The next page", any, func(s *jobScreen, _ *Model) tea.Cmd { s.look(s.page + 1); return nil }),
		act("job_previous", "shift+tab left", "page before", 0, "The page before", any, func(s *jobScreen, _ *Model) tea.Cmd { s.look(s.page - 1); return nil }),
		act("job_help", "?", "help", 8, "Every key and command", any, func(_ *jobScreen, m *Model) tea.Cmd { m.open(newHelp(m)); return nil }),
		act("job_leave", "esc q ctrl+c", "leave", 9, "Leave; the job goes on or waits", any, func(_ *jobScreen, m *Model) tea.Cmd { return m.closeJob() }),
	}
	for p := range jobPages {
		name := strings.ToLower(p.String())
		out = append(out, act("job_page_"+name, fmt.Sprint(int(p)+1), name, 0, "The page "+p.String(), any, func(s *jobScreen, _ *Model) tea.Cmd { s.look(p); return nil }))
	}
	return append(out, jobNoteActions()...)
}

// jobNoteActions are for what is being written to a job.
func jobNoteActions() []Action {
	note := func(name, keys, title string, hint int, about string, do func(*jobScreen, *Model) tea.Cmd) Action {
		return Action{Name: name, Keys: strings.Fields(keys), Where: atJobNote, Title: title, Hint: hint, About: about, Why: on(atJobNote, "Write something to a job first."),
			Do: func(m *Model, _ string) tea.Cmd { return do(m.top().(*jobScreen), m) }}
	}
	return []Action{
		note("job_note_send", "ctrl+enter", "send", 1, "Send it (so does Enter)", (*jobScreen).noted),
		note("job_note_close", "esc", "done writing", 2, "Stop writing; feedback is kept as a draft", (*jobScreen).putAway),
		note("job_note_editor", "ctrl+g", "editor", 3, "Go on writing in your own editor ($VISUAL, $EDITOR)", (*jobScreen).noteEditor),
		{Name: "thread_resolve", Keys: []string{"space"}, Where: atThreads, Title: "resolve", Hint: 2, Why: on(atThreads, "Open the comments of a job first."),
			About: "Say that the comment needs nothing more, or does again", Do: (*Model).resolve},
	}
}
