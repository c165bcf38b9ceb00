package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
)

// PlanWork is what a call of a planning tool asks for, by the shape of its input.
// Models write what they like: what has another shape asks for nothing.
type PlanWork struct {
	Kind        string     `json:"kind,omitempty"` // create, add, update or edit
	Tasks       []planTask `json:"tasks,omitempty"`
	ID          string     `json:"id,omitempty"`
	Status      TaskStatus `json:"status,omitempty"`
	Notes       string     `json:"notes,omitempty"`
	Description *string    `json:"description,omitempty"`
	Priority    *string    `json:"priority,omitempty"`
	DependsOn   *[]string  `json:"depends_on,omitempty"`
	Remove      bool       `json:"remove,omitempty"`
}

// planTask is a task to be.
type planTask struct {
	ID          string   `json:"id,omitempty"`
	Description string   `json:"description"`
	DependsOn   []string `json:"depends_on,omitempty"`
	Priority    string   `json:"priority,omitempty"`
}

func planWork(c event.ToolCall) PlanWork {
	var w PlanWork
	if json.Unmarshal(c.Input, &w) != nil {
		return PlanWork{}
	}
	w.Kind = strings.TrimPrefix(c.Name, "plan_")
	return w
}

// on is what becomes of tasks, which are changed.
func (w PlanWork) on(tasks []TaskLine) []TaskLine {
	switch w.Kind {
	case "create":
		return added(nil, w.Tasks)
	case "add":
		return added(tasks, w.Tasks)
	}
	i := slices.IndexFunc(tasks, func(t TaskLine) bool { return t.ID == w.ID })
	if i < 0 {
		return tasks
	}
	t := &tasks[i]
	switch {
	case w.Kind == "update":
		if known(w.Status) {
			t.Status = w.Status
		}
		t.Notes = cmp.Or(w.Notes, t.Notes)
	case w.Kind == "edit" && w.Remove:
		return slices.Delete(tasks, i, i+1)
	case w.Kind == "edit":
		if w.Description != nil {
			t.Text = *w.Description
		}
		if w.Priority != nil {
			t.Priority = *w.Priority
		}
		if w.DependsOn != nil {
			t.Needs = *w.DependsOn
		}
	}
	return tasks
}

// added puts tasks behind others. Those without an id get the one the tool gives
// them.
func added(tasks []TaskLine, more []planTask) []TaskLine {
	ids := map[string]bool{}
	for _, m := range more[:min(len(more), maxTaskLines)] {
		tasks = append(tasks, TaskLine{ID: m.ID, Text: m.Description, Status: TaskPending, Needs: m.DependsOn, Priority: cmp.Or(m.Priority, "medium")})
	}
	for _, t := range tasks {
		ids[t.ID] = true
	}
	for i := range tasks {
		for n := len(tasks) + 1; tasks[i].ID == ""; n++ {
			if id := fmt.Sprintf("t%d", n); !ids[id] {
				tasks[i].ID, ids[id] = id, true
			}
		}
	}
	return tasks
}

func known(s TaskStatus) bool {
	return slices.Contains([]TaskStatus{TaskPending, TaskActive, TaskDone, TaskVerified}, s)
}

// planText reads the plan as the tools tell it to the model: how many there are,
// then a line for each. What is not that, or not all of it, is nothing.
func planText(text string) (tasks []TaskLine, ok bool) {
	var done, total int
	if _, err := fmt.Sscanf(text, "%d of %d tasks done.", &done, &total); err != nil || total > maxTaskLines {
		return nil, false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutPrefix(line, "- "); ok {
			tasks = append(tasks, taskLine(rest))
		} else if n := len(tasks); n > 0 {
			if waits, ok := strings.CutPrefix(line, "  waits for: "); ok {
				tasks[n-1].Needs = strings.Split(waits, ", ")
			} else if notes, ok := strings.CutPrefix(line, "  notes: "); ok {
				tasks[n-1].Notes = notes
			}
		}
	}
	return tasks, len(tasks) == total
}

// taskLine reads "t1 [ready, high] what is to be done".
func taskLine(line string) TaskLine {
	id, rest, _ := strings.Cut(line, " [")
	state, text, _ := strings.Cut(rest, "] ")
	status, priority, _ := strings.Cut(state, ", ")
	t := TaskLine{ID: id, Text: text, Status: TaskStatus(status), Priority: priority}
	if !known(t.Status) {
		t.Status = TaskPending // ready or blocked, which follows from the rest
	}
	return t
}

// overlaid is the plan as the tool tells it, with what that leaves out: line
// breaks, and what tasks needed that is done.
func overlaid(tasks, said []TaskLine) []TaskLine {
	for i := range said {
		s := &said[i]
		j := slices.IndexFunc(tasks, func(t TaskLine) bool { return t.ID == s.ID })
		if j < 0 {
			continue
		}
		if same(tasks[j].Text, s.Text) {
			s.Text = tasks[j].Text
		}
		if same(tasks[j].Notes, s.Notes) {
			s.Notes = tasks[j].Notes
		}
		if len(tasks[j].Needs) > 0 {
			s.Needs = tasks[j].Needs
		}
	}
	return said
}

// same reports whether texts differ in white space only.
func same(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }
