package view

import (
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// TasksVersion is the version of a marshalled [Tasks].
const TasksVersion = 1

// Tasks are the plans that agents keep of their work, as their calls of the
// planning tools tell. An agent may change its plan by other means; the next call
// shows that.
type Tasks struct {
	Agents []TaskList `json:"agents,omitempty"` // in label order
	Turns  Turns      `json:"turns"`
	// Open are the calls that have not returned.
	Open []PlanCall `json:"open,omitempty"`
}

// A TaskList is the plan of one agent.
type TaskList struct {
	Agent event.AgentID `json:"agent"`
	Label event.Label   `json:"label"`
	Tasks []TaskLine    `json:"tasks,omitempty"` // in the order they were planned
	Done  int           `json:"done"`
	Total int           `json:"total"`
	At    time.Time     `json:"at,omitzero"` // when it last changed
}

// A TaskLine is one thing to do.
type TaskLine struct {
	ID     string     `json:"id"`
	Text   string     `json:"text"` // as the model wrote it
	Status TaskStatus `json:"status"`
	// Needs are the tasks that must be done first.
	Needs    []string `json:"needs,omitempty"`
	Priority string   `json:"priority,omitempty"`
	Notes    string   `json:"notes,omitempty"`
}

// A TaskStatus is how far a task is.
type TaskStatus string

const (
	TaskPending  TaskStatus = "pending"
	TaskBlocked  TaskStatus = "blocked" // pending, and so is something it needs
	TaskActive   TaskStatus = "in_progress"
	TaskDone     TaskStatus = "completed"
	TaskVerified TaskStatus = "verified" // done, and looked at again
)

// Finished reports whether nothing is left to do.
func (s TaskStatus) Finished() bool { return s == TaskDone || s == TaskVerified }

// A PlanCall is a call of a planning tool.
type PlanCall struct {
	OpenTurn
	Call string   `json:"call"`
	Name string   `json:"name"`
	Do   PlanWork `json:"do,omitzero"`
}

// maxTaskLines is how many tasks of an agent are kept: more than any plan may
// have.
const maxTaskLines = 1000

// Agent is the plan of one agent; one that has none has no tasks.
func (t Tasks) Agent(a event.AgentID) TaskList {
	if i := t.index(a); i >= 0 {
		return t.Agents[i]
	}
	return TaskList{Agent: a, Label: event.Label(a)}
}

// Apply returns t after e.
func (t Tasks) Apply(e event.Event) Tasks {
	switch f := e.Body.(type) {
	case event.RunStarted:
		t = Tasks{}
		for _, s := range f.Spec.Seats {
			t.Agents = append(t.Agents, TaskList{Agent: s.Agent, Label: s.Label})
		}
	case event.Called:
		for _, c := range f.Tools {
			t = t.called(OpenTurn{e.Agent, f.Turn}, c)
		}
	case event.ToolCalled:
		t = t.called(OpenTurn{e.Agent, f.Turn}, f.Tool)
	case event.ToolReturned:
		t = t.returned(e, f)
	}
	now := t.Turns.Apply(e)
	for _, o := range t.Turns.Open {
		if !now.Current(o) { // nobody knows what became of its calls
			t.Open = slices.DeleteFunc(slices.Clone(t.Open), func(c PlanCall) bool { return c.OpenTurn == o })
		}
	}
	t.Turns = now
	return t
}

func (t Tasks) called(o OpenTurn, c event.ToolCall) Tasks {
	if strings.HasPrefix(c.Name, "plan_") && t.open(o, c.ID) < 0 {
		t.Open = append(slices.Clip(t.Open), PlanCall{o, c.ID, c.Name, planWork(c)})
	}
	return t
}

func (t Tasks) open(o OpenTurn, call string) int {
	return slices.IndexFunc(t.Open, func(c PlanCall) bool { return c.OpenTurn == o && c.Call == call })
}

// returned takes in what a call has done: what was asked for, and over that what
// the tool says the plan is now.
func (t Tasks) returned(e event.Event, f event.ToolReturned) Tasks {
	if !strings.HasPrefix(f.Name, "plan_") {
		return t
	}
	var do PlanWork
	if i := t.open(OpenTurn{e.Agent, f.Turn}, f.Call); i >= 0 {
		do = t.Open[i].Do
		t.Open = slices.Delete(slices.Clone(t.Open), i, i+1)
	}
	if f.Error || e.Agent == "" {
		return t
	}
	old := t.Agent(e.Agent)
	list := do.on(slices.Clone(old.Tasks))
	if said, ok := planText(f.Result.Text); ok {
		list = overlaid(list, said)
	}
	if len(list) > maxTaskLines {
		list = list[:maxTaskLines]
	}
	return t.with(old.counted(e.At, list))
}

// counted is the plan with these tasks, and what follows from them.
func (l TaskList) counted(at time.Time, tasks []TaskLine) TaskList {
	done := map[string]bool{}
	for _, t := range tasks {
		done[t.ID] = t.Status.Finished()
	}
	l.Tasks, l.Done, l.Total, l.At = tasks, 0, len(tasks), at
	for i, t := range tasks {
		if t.Status == TaskBlocked {
			tasks[i].Status = TaskPending
		}
		if tasks[i].Status == TaskPending && slices.ContainsFunc(t.Needs, func(id string) bool { return !done[id] }) {
			tasks[i].Status = TaskBlocked
		}
		if t.Status.Finished() {
			l.Done++
		}
	}
	return l
}

func (t Tasks) with(l TaskList) Tasks {
	t.Agents = slices.Clone(t.Agents)
	if i := t.index(l.Agent); i >= 0 {
		t.Agents[i] = l
	} else {
		t.Agents = append(t.Agents, l)
	}
	return t
}

func (t Tasks) index(a event.AgentID) int {
	return slices.IndexFunc(t.Agents, func(l TaskList) bool { return l.Agent == a })
}
