package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"conclave/internal/cli"
	"conclave/internal/control"
	"conclave/internal/tui"
)

// window opens the terminal UI on behalf of the command line.
func window(ctx context.Context, c control.Control, o cli.WindowOptions) (say string, err error) {
	p, ok := c.(tui.Program)
	if !ok {
		return "", fmt.Errorf("no window can be opened on %T", c)
	}
	look, err := p.Look(ctx)
	if err != nil {
		return "", err
	}
	look.Plain = look.Plain || o.Plain
	err = tui.Run(ctx, tui.Options{
		Program: p, Flow: o.Flow, Pick: o.Pick, Task: o.Task, Config: o.Config, Modes: o.Modes, Look: look, NoColor: o.NoColor,
		Interactive: o.Interactive, Fresh: o.New, Job: o.Job, Team: o.Team,
		In: o.In, Out: o.Out, Env: os.Environ(),
	})
	if left, ok := errors.AsType[*tui.ErrLeft](err); ok {
		return left.Say, nil
	}
	if ended, ok := errors.AsType[*tui.ErrEnded](err); ok {
		return ended.Say, context.Canceled
	}
	return "", err
}
