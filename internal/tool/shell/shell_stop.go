package shell

import (
	"context"
	_ "embed"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed shell_stop.md
var aboutStop string

type stopIn struct {
	ID string `json:"id" jsonschema_description:"The id shell_start gave."`
}

func (j *Jobs) stopper() tool.Tool {
	return typed.New(typed.Spec[stopIn]{
		Name: "shell_stop", About: aboutStop, Tier: tool.World,
		Run: func(ctx context.Context, i stopIn) (tool.Result, error) {
			x, err := j.find(i.ID)
			if err != nil {
				return tool.Failed("Not stopped: " + err.Error() + "."), nil
			}
			if err := x.halt(ctx, "stopped"); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Text: x.id + " is " + x.state() + ".\n" + x.news(), Job: x.known()}, nil
		},
	})
}
