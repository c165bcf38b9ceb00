package team

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// owed is a notice that is to be recorded, under an id made of its cause.
type owed struct {
	ID string `json:"id"`
	event.Notified
}

// CodeHung is the code of the loss of a member whose turns took too long.
const CodeHung = "hung"

// owe has something told to a member by the program.
func (t *Team) owe(id string, b event.Notified) {
	if t.s.Ending == nil {
		t.s.Owed = append(t.s.Owed, owed{id, b})
	}
}

func notice(id string, b event.Notified) event.Fact {
	return event.Fact{ID: "notified/" + id, Body: b}
}

// notify records what is owed, unless nobody would read it.
func (t *Team) notify() (event.Fact, bool) {
	if len(t.s.Owed) == 0 || t.s.Ending != nil {
		return event.Fact{}, false
	}
	return notice(t.s.Owed[0].ID, t.s.Owed[0].Notified), true
}

// notified puts a notice into the mailbox of who it is for, and notes what it
// means that it was told.
func (t *Team) notified(e event.Event, b event.Notified) []flow.Command {
	if len(t.s.Owed) > 0 && notice(t.s.Owed[0].ID, event.Notified{}).ID == e.ID {
		t.s.Owed = slices.Clone(t.s.Owed[1:])
	}
	m := t.member(b.To)
	if m == nil {
		return nil // a damaged log; Check says so
	}
	switch b.Code {
	case event.NoticeIdle:
		t.s.Idle++
	case event.NoticeWaited:
		m.Await = nil
	case event.NoticePending:
		m.Reminded++
		for _, x := range t.openOf(m.ID) {
			x.Reminded++
		}
	case event.NoticeStalled:
		if o := t.member(b.About); o != nil {
			o.Stalled = true
		}
	}
	return t.post(m, Mail{ID: e.ID, At: e.At, Kind: MailNotice, Text: event.Inline(b.Text), Code: b.Code, Task: "", From: ""})
}

// remind is about a member that has stopped with tasks of its own open and has said
// nothing about them: it is reminded, and after that the leader is told.
func (t *Team) remind(m *member, u *turn) {
	open := t.openOf(m.ID)
	if len(open) == 0 || len(u.Reported) > 0 || m.Question != nil || len(m.Box) > 0 || m.Stalled || t.s.Ending != nil || t.s.Finish != nil {
		return
	}
	cause := string(m.ID) + "/" + u.Turn.String()
	if m.Reminded < max(t.rules().MaxIdle, 1) {
		t.owe("pending/"+cause, event.Notified{To: m.ID, Code: event.NoticePending, Text: fmt.Sprintf(
			"You have ended your turn, and %s still open: %s. Go on with it, and report how it stands when it is done, or if you cannot do it; or ask the leader. Ending a turn does not tell anybody anything.",
			tasksAre(len(open), "yours"), taskNames(open))})
		return
	}
	t.owe("stalled/"+cause, event.Notified{To: t.leader().ID, Code: event.NoticeStalled, About: m.ID, Text: fmt.Sprintf(
		"%s has stopped %s in a row without a report, and %s still open: %s. Write to it, or give the work to somebody else.",
		m.ID, times(m.Reminded+1), tasksAre(len(open), "its own"), taskNames(open))})
}

// chase is about questions that the leader has heard in a turn and not answered.
func (t *Team) chase(u *turn) {
	for _, m := range t.s.Members {
		q := m.Question
		if q == nil || q.Answered || q.Chased || !slices.Contains(u.Questions, q.ID) || t.s.Finish != nil {
			continue
		}
		q.Chased = true
		t.owe("unsolved/"+q.ID, event.Notified{To: t.leader().ID, Code: event.NoticeUnsolved, About: m.ID, Text: fmt.Sprintf(
			"%s has asked you something, waits for your answer, and does nothing until you write to it.", m.ID)})
	}
}

// reassigned tells a member that a task of its own is another's from now on, unless
// it does nothing and was told nothing: then it need not begin for that.
func (t *Team) reassigned(cause string, x Task, to event.AgentID) {
	m := t.member(x.Owner)
	if t.rules().Version < 2 || x.State != event.TaskOpen || x.Owner == to || m == nil || m.Lost != nil {
		return
	}
	unread := slices.ContainsFunc(m.Box, func(l Mail) bool { return l.Kind == MailTask && l.Task == x.Task })
	if m.Turn == nil && !unread {
		return
	}
	t.owe("reassigned/"+cause, event.Notified{To: m.ID, Code: event.NoticeReassigned, About: to, Text: fmt.Sprintf(
		"The leader has given your task %s (%s) to %s. It is not yours any more: leave it as it is and do not report it.", x.Task, x.Title, to)})
}

// restarts tells the leader that a member begins a turn again.
func (t *Team) restarts(m *member, why string) {
	if t.leads(m) {
		return // which is told itself
	}
	t.owe("restart/"+string(m.ID)+"/"+m.Turn.Turn.String(), event.Notified{To: t.leader().ID, Code: event.NoticeRestart, About: m.ID, Text: fmt.Sprintf(
		"%s has failed and is begun again, for the %s time of at most %d: %s. There is nothing to do about it.",
		m.ID, nth(m.Turn.Attempts+1), max(t.rules().MaxAttempts, 1), sentence(why))})
}

// lostWords tells the leader that a member is lost, and what that leaves undone.
func (t *Team) lostWords(m *member) {
	text := fmt.Sprintf("%s is lost and will not work any more: %s.", m.ID, sentence(cmp.Or(m.Lost.Message, m.Lost.Code)))
	if open := t.openOf(m.ID); len(open) > 0 {
		text += fmt.Sprintf(" It leaves %s open: %s. Assign it to somebody else, or finish without it.", tasks(len(open)), taskNames(open))
	}
	if m.Fresh != "" {
		text += " What it had made can still be merged."
	}
	t.owe("lost/"+string(m.ID), event.Notified{To: t.leader().ID, Code: event.NoticeLost, About: m.ID, Text: text})
}

// idleWords is what the leader is told when nobody works.
func (t *Team) idleWords() string {
	var parts []string
	if open := t.open(); len(open) > 0 {
		parts = append(parts, "Open are: "+taskNames(open)+".")
	}
	for _, m := range t.s.Members {
		if m.asks() {
			parts = append(parts, string(m.ID)+" waits for your answer.")
		}
		if m.Fresh != "" {
			parts = append(parts, "What "+string(m.ID)+" has made is not merged.")
		}
	}
	return "Nobody works, nothing is on its way to you, and the team has not finished. " + strings.Join(append(parts, ""), " ") +
		"Set somebody to work, or end the team's work with finish."
}

// whoWorks is who does something, in words.
func (t *Team) whoWorks() string {
	var names []string
	for _, m := range t.s.Members {
		if m.Turn != nil {
			names = append(names, string(m.ID))
		}
	}
	if len(names) == 0 {
		return "Nobody works."
	}
	return "At work: " + strings.Join(names, ", ") + "."
}

func sentence(s string) string { return strings.TrimRight(strings.TrimSpace(s), ". ") }

// stoppedWords is why a member is gone that was stopped. The leader reads it, to
// whom "you" is itself; the windows call whoever sits at them so.
func (t *Team) stoppedWords(by string) string {
	if by == "" || by == "you" && t.rules().Version >= 2 {
		return "it was stopped by a person"
	}
	return "it was stopped by " + by
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func nth(n int) string {
	switch {
	case n%100/10 == 1:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

func tasks(n int) string {
	if n == 1 {
		return "a task"
	}
	return fmt.Sprintf("%d tasks", n)
}

func tasksAre(n int, whose string) string {
	if n == 1 {
		return "a task of " + whose + " is"
	}
	return fmt.Sprintf("%d tasks of %s are", n, whose)
}

func taskNames(list []*Task) string {
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprintf("%s (%s)", x.Task, x.Title))
	}
	return strings.Join(out, "; ")
}
