package plan

import (
	"context"
	_ "embed"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed plan_update.md
var aboutUpdate string

type updateIn struct {
	ID     string `json:"id" jsonschema_description:"The task."`
	Status Status `json:"status" jsonschema:"enum=pending,enum=in_progress,enum=completed,enum=verified" jsonschema_description:"How far it is now."`
	Notes  string `json:"notes,omitempty" jsonschema_description:"What came of it, in place of earlier notes."`
}

func (k *keeper) update() tool.Tool {
	return typed.New(typed.Spec[updateIn]{
		Name: "plan_update", About: aboutUpdate, Tier: tool.Write,
		Action: func(updateIn) policy.Action { return k.writes() },
		Run: func(_ context.Context, i updateIn) (tool.Result, error) {
			return k.change(func(p Plan) (Plan, error) { return p.Update(k.MaxTasks, i.ID, i.Status, i.Notes) })
		},
	})
}
