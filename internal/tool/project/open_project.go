package projects

import (
	"context"
	_ "embed"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed open_project.md
var aboutOpen string

type openIn struct {
	Name string `json:"name" jsonschema_description:"The project, as list_projects names it."`
}

func (d *desk) opener() tool.Tool {
	return typed.New(typed.Spec[openIn]{
		// It looks, but two of them in one reply are done in their order.
		Name: "open_project", About: aboutOpen, Tier: tool.Write,
		Action: func(i openIn) policy.Action {
			return policy.Action{Kind: policy.Read, Target: d.Store.Root(i.Name) + "/CONTEXT.md"}
		},
		Run: func(ctx context.Context, i openIn) (tool.Result, error) {
			p, err := d.Store.Get(ctx, i.Name)
			if err != nil {
				return failed(ctx, "The project was not opened", err)
			}
			if err := d.take(ctx, i.Name); err != nil {
				return failed(ctx, "The project was not opened", err)
			}
			return tool.Result{Text: "Opened. " + describe(p)}, nil
		},
	})
}
