package plan

import (
	"context"
	_ "embed"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed plan_edit.md
var aboutEdit string

type editIn struct {
	ID          string    `json:"id" jsonschema_description:"The task."`
	Description *string   `json:"description,omitempty" jsonschema_description:"What is to be done instead."`
	Priority    *Priority `json:"priority,omitempty" jsonschema:"enum=high,enum=medium,enum=low" jsonschema_description:"What to take first."`
	DependsOn   *[]string `json:"depends_on,omitempty" jsonschema_description:"All tasks that must be done first, in place of those it depended on."`
	Remove      bool      `json:"remove,omitempty" jsonschema_description:"Take the task out of the plan."`
}

func (k *keeper) edit() tool.Tool {
	return typed.New(typed.Spec[editIn]{
		Name: "plan_edit", About: aboutEdit, Tier: tool.Write,
		Action: func(editIn) policy.Action { return k.writes() },
		Run: func(_ context.Context, i editIn) (tool.Result, error) {
			return k.change(func(p Plan) (Plan, error) {
				if i.Remove {
					return p.Remove(k.MaxTasks, i.ID)
				}
				return p.Edit(k.MaxTasks, i.ID, Edit{Description: i.Description, Priority: i.Priority, DependsOn: i.DependsOn})
			})
		},
	})
}
