package projects

import (
	"context"
	_ "embed"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed note_decision.md
var aboutNote string

type noteIn struct {
	Decision string `json:"decision" jsonschema_description:"What was decided, and why."`
	Project  string `json:"project,omitempty" jsonschema_description:"The project; the open one if left out."`
}

func (d *desk) noter() tool.Tool {
	return typed.New(typed.Spec[noteIn]{
		Name: "note_decision", About: aboutNote, Tier: tool.Write,
		Action: func(i noteIn) policy.Action { return d.writes(i.Project, "CONTEXT.md") },
		Run: func(ctx context.Context, i noteIn) (tool.Result, error) {
			name, err := d.which(ctx, i.Project)
			if err == nil {
				err = d.Store.NoteDecision(ctx, name, i.Decision)
			}
			if err != nil {
				return failed(ctx, "The decision was not noted", err)
			}
			return tool.Result{Text: "Noted in CONTEXT.md of " + name + "."}, nil
		},
	})
}
