package shell

import (
	"context"
	_ "embed"
	"fmt"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed shell_start.md
var aboutStart string

type startIn struct {
	Command string `json:"command" jsonschema_description:"The command line."`
	Dir     string `json:"dir,omitempty" jsonschema_description:"Directory to run it in; relative ones begin at your workspace, which is also the default."`
}

func (j *Jobs) starter() tool.Tool {
	return typed.New(typed.Spec[startIn]{
		Name: "shell_start", About: aboutStart, Tier: tool.World,
		Action: func(i startIn) policy.Action { return j.o.action(i.Command, i.Dir) },
		Run: func(_ context.Context, i startIn) (tool.Result, error) {
			if why := faulty(i.Command, i.Dir); why != "" {
				return tool.Failed(why), nil
			}
			x, err := j.start(i.Command, i.Dir)
			if err != nil {
				return tool.Failed("Not started: " + err.Error() + "."), nil
			}
			return tool.Result{Text: fmt.Sprintf("Started as %s. Read what it prints with shell_output, end it with shell_stop.", x.id), Job: &tool.Job{ID: x.id}}, nil
		},
	})
}
