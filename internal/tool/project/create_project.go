package projects

import (
	"context"
	_ "embed"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed create_project.md
var aboutCreate string

type createIn struct {
	Name string `json:"name" jsonschema_description:"Letters, digits, dashes, underscores and dots, 64 at most."`
	Goal string `json:"goal" jsonschema_description:"What the project is for, in a few sentences of Markdown."`
}

func (d *desk) creator() tool.Tool {
	return typed.New(typed.Spec[createIn]{
		Name: "create_project", About: aboutCreate, Tier: tool.Write,
		Action: func(i createIn) policy.Action { return d.writes(i.Name, "CONTEXT.md") },
		Run: func(ctx context.Context, i createIn) (tool.Result, error) {
			p, err := d.Store.Create(ctx, i.Name, i.Goal)
			if err == nil {
				err = d.take(ctx, i.Name)
			}
			if err != nil {
				return failed(ctx, "The project was not created", err)
			}
			return tool.Result{Text: "Created and opened. " + describe(p)}, nil
		},
	})
}
