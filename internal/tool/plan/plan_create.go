package plan

import (
	"context"
	_ "embed"
	"errors"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed plan_create.md
var aboutCreate string

type createIn struct {
	Tasks   []New `json:"tasks" jsonschema_description:"The tasks, in the order you mean to do them."`
	Replace bool  `json:"replace,omitempty" jsonschema_description:"Put it in the place of a plan that is not finished."`
}

func (k *keeper) create() tool.Tool {
	return typed.New(typed.Spec[createIn]{
		Name: "plan_create", About: aboutCreate, Tier: tool.Write,
		Action: func(createIn) policy.Action { return k.writes() },
		Run: func(_ context.Context, i createIn) (tool.Result, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			p, err := Plan{}.Add(k.MaxTasks, i.Tasks...)
			if len(i.Tasks) == 0 {
				err = errors.New("a plan needs at least one task")
			}
			if err == nil && !i.Replace {
				err = k.vacant()
			}
			if err == nil {
				err = k.save(p)
			}
			if err != nil {
				return refused(err), nil
			}
			return tool.Result{Text: p.Text()}, nil
		},
	})
}

// vacant is why there is no place for a new plan, if so.
func (k *keeper) vacant() error {
	old, err := k.load()
	if err != nil {
		return err
	}
	for _, t := range old.Tasks {
		if !t.Status.done() {
			return errors.New("there is one that is not finished; change it with plan_add, plan_edit and plan_update, or set replace")
		}
	}
	return nil
}
