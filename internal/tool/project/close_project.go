package projects

import (
	"context"
	_ "embed"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed close_project.md
var aboutClose string

type closeIn struct{}

func (d *desk) closer() tool.Tool {
	return typed.New(typed.Spec[closeIn]{
		Name: "close_project", About: aboutClose, Tier: tool.Write, // as open_project
		Action: func(closeIn) policy.Action { return policy.Action{Kind: policy.Read, Target: d.Store.Dir} },
		Run: func(ctx context.Context, _ closeIn) (tool.Result, error) {
			name, err := d.which(ctx, "")
			if err != nil {
				return tool.Result{Text: "No project was open."}, nil
			}
			if err := d.take(ctx, ""); err != nil {
				return failed(ctx, "The project was not closed", err)
			}
			return tool.Result{Text: "Closed " + name + "."}, nil
		},
	})
}
