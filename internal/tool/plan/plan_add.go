package plan

import (
	"context"
	_ "embed"
	"errors"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed plan_add.md
var aboutAdd string

type addIn struct {
	Tasks []New `json:"tasks" jsonschema_description:"The tasks to add at the end."`
}

func (k *keeper) add() tool.Tool {
	return typed.New(typed.Spec[addIn]{
		Name: "plan_add", About: aboutAdd, Tier: tool.Write,
		Action: func(addIn) policy.Action { return k.writes() },
		Run: func(_ context.Context, i addIn) (tool.Result, error) {
			return k.change(func(p Plan) (Plan, error) {
				if len(i.Tasks) == 0 {
					return p, errors.New("there is no task to add")
				}
				return p.Add(k.MaxTasks, i.Tasks...)
			})
		},
	})
}
