package plan

import (
	"context"
	_ "embed"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed plan_list.md
var aboutList string

func (k *keeper) list() tool.Tool {
	return typed.New(typed.Spec[struct{}]{
		Name: "plan_list", About: aboutList, Tier: tool.Read,
		Run: func(context.Context, struct{}) (tool.Result, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			p, err := k.load()
			if err != nil {
				return tool.Failed(err.Error() + "."), nil
			}
			return tool.Result{Text: p.Text()}, nil
		},
	})
}
