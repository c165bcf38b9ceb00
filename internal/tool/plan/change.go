package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// A New is a task to be.
type New struct {
	ID          string   `json:"id,omitempty" jsonschema_description:"A short id to refer to it by; one is made up if you give none."`
	Description string   `json:"description" jsonschema_description:"What is to be done, and how one sees that it is."`
	DependsOn   []string `json:"depends_on,omitempty" jsonschema_description:"Ids of tasks that must be done first."`
	Priority    Priority `json:"priority,omitempty" jsonschema:"enum=high,enum=medium,enum=low" jsonschema_description:"Medium if you give none."`
}

// Add is the plan with more tasks. They may depend on one another in any order.
func (p Plan) Add(limit int, tasks ...New) (Plan, error) {
	p = p.clone()
	for _, n := range tasks {
		t := Task{ID: n.ID, Description: n.Description, Status: Pending, Priority: cmp.Or(n.Priority, Medium), DependsOn: slices.Clone(n.DependsOn)}
		p.Tasks = append(p.Tasks, t)
	}
	for i := range p.Tasks { // when every id that was given is known
		if p.Tasks[i].ID == "" {
			p.Tasks[i].ID = p.free()
		}
	}
	return p, p.Check(limit)
}

// Update is the plan with another status of a task. Notes replace those there
// are unless they are empty.
func (p Plan) Update(limit int, id string, s Status, notes string) (Plan, error) {
	return p.change(limit, id, func(t *Task) {
		t.Status = s
		t.Notes = cmp.Or(notes, t.Notes)
	})
}

// An Edit is what becomes of a task; nil leaves it as it is.
type Edit struct {
	Description *string
	Priority    *Priority
	DependsOn   *[]string
}

// Edit is the plan with a task changed.
func (p Plan) Edit(limit int, id string, e Edit) (Plan, error) {
	return p.change(limit, id, func(t *Task) {
		if e.Description != nil {
			t.Description = *e.Description
		}
		if e.Priority != nil {
			t.Priority = *e.Priority
		}
		if e.DependsOn != nil {
			t.DependsOn = slices.Clone(*e.DependsOn)
		}
	})
}

// Remove is the plan without a task that no other depends on.
func (p Plan) Remove(limit int, id string) (Plan, error) {
	if _, ok := p.Find(id); !ok {
		return p, p.unknown(id)
	}
	p = p.clone()
	p.Tasks = slices.DeleteFunc(p.Tasks, func(t Task) bool { return t.ID == id })
	return p, p.Check(limit)
}

func (p Plan) change(limit int, id string, f func(*Task)) (Plan, error) {
	p = p.clone()
	i := slices.IndexFunc(p.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return p, p.unknown(id)
	}
	f(&p.Tasks[i])
	return p, p.Check(limit)
}

func (p Plan) unknown(id string) error {
	if len(p.Tasks) == 0 {
		return fmt.Errorf("there is no plan yet; make one with plan_create")
	}
	return fmt.Errorf("there is no task %.80q; plan_list shows those there are", id)
}

// clone is a plan of its own. The lists inside tasks are never changed in place.
func (p Plan) clone() Plan { return Plan{Tasks: slices.Clone(p.Tasks)} }
