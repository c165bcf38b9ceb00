package team

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
)

func (t *Team) task(name string) *Task {
	for _, x := range t.s.Tasks {
		if x.Task == name {
			return x
		}
	}
	return nil
}

// open are the tasks that are not reported on, of everybody.
func (t *Team) open() []*Task {
	var out []*Task
	for _, x := range t.s.Tasks {
		if x.State == event.TaskOpen {
			out = append(out, x)
		}
	}
	return out
}

// openOf are those of one member.
func (t *Team) openOf(a event.AgentID) []*Task {
	return slices.DeleteFunc(t.open(), func(x *Task) bool { return x.Owner != a })
}

// tasked puts a task into the ledger and into the mailbox of its owner.
func (t *Team) tasked(e event.Event, b event.Tasked) []flow.Command {
	x := t.task(b.Task)
	if x == nil {
		x = &Task{Task: b.Task}
		t.s.Tasks = append(t.s.Tasks, x)
	}
	t.reassigned(e.ID, *x, b.Owner)
	*x = Task{Task: b.Task, Title: b.Title, Detail: b.Detail, Owner: b.Owner, State: event.TaskOpen}
	m := t.member(b.Owner)
	if m == nil {
		return nil // a damaged log; Check says so
	}
	m.answered()
	return t.post(m, Mail{ID: e.ID, At: e.At, Kind: MailTask, From: e.Agent, Text: b.Detail, Task: b.Task, Title: b.Title})
}

// reported notes how a task stands and tells the leader.
func (t *Team) reported(m *member, e event.Event, b event.Reported) []flow.Command {
	x := t.task(b.Task)
	if x == nil {
		return nil // a damaged log; Check says so
	}
	x.State, x.Summary, x.Files, x.Reminded = b.State, b.Summary, b.Files, 0
	m.Turn.Reported = append(m.Turn.Reported, reported{b.Task, b.State})
	return t.post(t.leader(), Mail{
		ID: e.ID, At: e.At, Kind: MailReport, From: m.ID, Text: b.Summary,
		Task: b.Task, Title: x.Title, State: b.State, Files: b.Files,
	})
}

// longest is how long the name of a task may be.
const longest = 60

func (t *Team) judgeTasked(m *member, b event.Tasked) *verdict {
	if !t.leads(m) {
		return onlyLeader("sets tasks")
	}
	x, owner := t.task(b.Task), t.member(b.Owner)
	switch {
	case strings.TrimSpace(b.Task) == "" || len(b.Task) > longest || strings.ContainsAny(b.Task, "\n\r"):
		return &verdict{code: codeTask, why: fmt.Sprintf("A task needs a short name of its own in one line, at most %d characters, such as landing-page.", longest)}
	case strings.TrimSpace(b.Title) == "":
		return &verdict{code: codeTask, why: "Say in the title what is to be done."}
	case owner == m:
		return &verdict{code: codeTask, why: "You lead the team: tasks are for its members. Assign it to one of them, or do it yourself without a task."}
	}
	if v := t.judgeReader(b.Owner); v != nil {
		return v
	}
	if x != nil && x.State == event.TaskOpen && x.Owner == b.Owner {
		return &verdict{code: codeTask, why: fmt.Sprintf("%s has the task %q already, and it is open. Write to it with send_message if something has changed, or give another task another name.", b.Owner, b.Task)}
	}
	return nil
}

func (t *Team) judgeReported(m *member, b event.Reported) *verdict {
	x := t.task(b.Task)
	switch {
	case x == nil:
		return &verdict{code: codeTask, why: fmt.Sprintf("There is no task %q. %s", b.Task, t.yours(m))}
	case x.Owner != m.ID:
		return &verdict{code: codeTask, why: fmt.Sprintf("The task %q is %s's, not yours. %s", b.Task, x.Owner, t.yours(m))}
	case b.State != event.TaskDone && b.State != event.TaskBlocked && b.State != event.TaskFailed:
		return &verdict{code: codeTask, why: fmt.Sprintf("%q is not how a task can stand: it is done, blocked or failed.", b.State)}
	case blank(b.Summary):
		return &verdict{code: codeEmpty, why: "Say in the summary what you have done and what the leader should know, or why it cannot be done."}
	case slices.Contains(m.Turn.Reported, reported{b.Task, b.State}):
		return &verdict{code: codeAlready, why: fmt.Sprintf("You have reported %q as %s in this turn already. End your turn, or go on with another task.", b.Task, b.State)}
	}
	return nil
}

// yours are the tasks a member can report on.
func (t *Team) yours(m *member) string {
	var names []string
	for _, x := range t.s.Tasks {
		if x.Owner == m.ID {
			names = append(names, x.Task)
		}
	}
	if len(names) == 0 {
		return "You have no tasks."
	}
	return "Yours are: " + strings.Join(names, ", ") + "."
}
