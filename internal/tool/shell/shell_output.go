package shell

import (
	"context"
	_ "embed"
	"time"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed shell_output.md
var aboutOutput string

// longestWait bounds how long one call waits for a job.
const longestWait = 10 * time.Minute

type outputIn struct {
	ID   string `json:"id" jsonschema_description:"The id shell_start gave."`
	Wait int    `json:"wait_seconds,omitempty" jsonschema:"minimum=0,maximum=600" jsonschema_description:"Wait this long at most for the job to end."`
}

func (j *Jobs) reader() tool.Tool {
	return typed.New(typed.Spec[outputIn]{
		Name: "shell_output", About: aboutOutput, Tier: tool.Read,
		Run: func(ctx context.Context, i outputIn) (tool.Result, error) {
			x, err := j.find(i.ID)
			if err != nil {
				return tool.Failed("Not read: " + err.Error() + "."), nil
			}
			wait := min(max(i.Wait, 0), int(longestWait/time.Second))
			if err := x.await(ctx, time.Duration(wait)*time.Second); err != nil {
				return tool.Result{}, err
			}
			// The state comes first: what is printed after it is read next time.
			state, known := x.state(), x.known()
			return tool.Result{Text: x.id + " is " + state + ".\n" + x.news(), Job: known}, nil
		},
	})
}

// await returns when the job has ended, the time is up or ctx ends.
func (x *job) await(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-x.done:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
