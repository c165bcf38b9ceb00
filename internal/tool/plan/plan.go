// Package plan lets an agent keep a plan of its tasks in its workspace.
//
// A [Plan] is values: every change makes a new plan and is refused with a reason
// if that one would not [Plan.Check]. What can be worked out is never stored: a
// task is ready when everything it depends on is done, and blocked until then.
//
// [Tools] puts the plan into a file, through two functions that whoever opens
// the agent confines to its workspace. The agent may edit that file by other
// means; what does not check is told, never repaired.
package plan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Plan is tasks in the order they were planned.
type Plan struct {
	Tasks []Task `json:"tasks"`
}

// A Task is one thing to do.
type Task struct {
	ID          string   `json:"id"`
	Description string   `json:"description"`
	Status      Status   `json:"status"`
	Priority    Priority `json:"priority"`
	DependsOn   []string `json:"depends_on,omitempty"`
	Notes       string   `json:"notes,omitempty"`
}

// A Status is how far a task is.
type Status string

const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Verified   Status = "verified" // completed, and looked at again
)

var statuses = []Status{Pending, InProgress, Completed, Verified}

// done reports whether a task no longer holds up others.
func (s Status) done() bool { return s == Completed || s == Verified }

// A Priority says what to take first among what is ready.
type Priority string

const (
	High   Priority = "high"
	Medium Priority = "medium"
	Low    Priority = "low"
)

var priorities = []Priority{High, Medium, Low}

const (
	// maxTasks is how many tasks a plan may have unless another number is given.
	maxTasks = 200
	// maxText bounds a description and the notes of a task, in bytes.
	maxText = 4 << 10
)

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// Check is what is wrong with a plan of at most limit tasks, all of it.
func (p Plan) Check(limit int) error {
	if len(p.Tasks) > limit { // no more work for a file that was made to cause it
		return fmt.Errorf("a plan of %d tasks is too long; %d is the most", len(p.Tasks), limit)
	}
	var problems []error
	seen := map[string]bool{}
	for _, t := range p.Tasks {
		if seen[t.ID] {
			problems = append(problems, fmt.Errorf("there are two tasks %q", t.ID))
		}
		seen[t.ID] = true
		problems = append(problems, t.check()...)
	}
	for _, t := range p.Tasks {
		problems = append(problems, p.checkDepends(t)...)
	}
	if ring := p.cycle(); ring != nil {
		problems = append(problems, fmt.Errorf("tasks wait for one another: %s", strings.Join(ring, " → ")))
	}
	return errors.Join(problems...)
}

// check looks at one task alone.
func (t Task) check() []error {
	var out []error
	if !idPattern().MatchString(t.ID) {
		out = append(out, fmt.Errorf("%.80q is no id: use letters, digits, dots, dashes and underscores, 64 at most", t.ID))
	}
	if strings.TrimSpace(t.Description) == "" {
		out = append(out, fmt.Errorf("task %q has no description", t.ID))
	}
	if n := max(len(t.Description), len(t.Notes)); n > maxText {
		out = append(out, fmt.Errorf("a text of task %q has %d bytes; %d is the most", t.ID, n, maxText))
	}
	if t.Status == "blocked" {
		out = append(out, errors.New("blocked cannot be set: a task is blocked while what it depends on is not done"))
	} else if !slices.Contains(statuses, t.Status) {
		out = append(out, fmt.Errorf("%.80q is no status: use pending, in_progress, completed or verified", string(t.Status)))
	}
	if !slices.Contains(priorities, t.Priority) {
		out = append(out, fmt.Errorf("%.80q is no priority: use high, medium or low", string(t.Priority)))
	}
	return out
}

// checkDepends looks at what a task depends on.
func (p Plan) checkDepends(t Task) []error {
	if len(t.DependsOn) > len(p.Tasks) {
		return []error{fmt.Errorf("task %q depends on more tasks than there are", t.ID)}
	}
	var out []error
	for _, id := range t.DependsOn {
		on, ok := p.Find(id)
		switch {
		case !ok:
			out = append(out, fmt.Errorf("task %q depends on %.80q, which is not in the plan", t.ID, id))
		case t.Status.done() && !on.Status.done():
			out = append(out, fmt.Errorf("task %q cannot be %s while it depends on %q, which is %s", t.ID, t.Status, id, on.Status))
		}
	}
	return out
}

// cycle is a way from a task back to itself, if there is one.
func (p Plan) cycle() []string {
	state := map[string]int{} // 1 on the way, 2 without a cycle
	var way []string
	var visit func(id string) []string
	visit = func(id string) []string {
		switch state[id] {
		case 1:
			return append(slices.Clone(way[slices.Index(way, id):]), id)
		case 2:
			return nil
		}
		state[id], way = 1, append(way, id)
		t, _ := p.Find(id)
		for _, on := range t.DependsOn {
			if ring := visit(on); ring != nil {
				return ring
			}
		}
		state[id], way = 2, way[:len(way)-1]
		return nil
	}
	for _, t := range p.Tasks {
		if ring := visit(t.ID); ring != nil {
			return ring
		}
	}
	return nil
}

// Find is the task of that id.
func (p Plan) Find(id string) (Task, bool) {
	i := slices.IndexFunc(p.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return Task{}, false
	}
	return p.Tasks[i], true
}

// Ready reports whether a task can be begun.
func (p Plan) Ready(t Task) bool { return t.Status == Pending && len(p.Waits(t)) == 0 }

// Waits are the tasks a pending one is blocked by.
func (p Plan) Waits(t Task) []string {
	var out []string
	for _, id := range t.DependsOn {
		if on, ok := p.Find(id); t.Status == Pending && !(ok && on.Status.done()) {
			out = append(out, id)
		}
	}
	return out
}

// free is an id that no task has.
func (p Plan) free() string {
	for n := len(p.Tasks) + 1; ; n++ {
		if _, taken := p.Find("t" + strconv.Itoa(n)); !taken {
			return "t" + strconv.Itoa(n)
		}
	}
}
