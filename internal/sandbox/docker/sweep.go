package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"conclave/internal/event"
	"conclave/internal/proc"
	"conclave/internal/sandbox/internal/scratch"
)

// Left lists the containers of dead processes, and the files of boxes, whose
// flow nobody drives.
func (e *Engine) Left(ctx context.Context, alive func(event.FlowID) bool) ([]string, error) {
	_, found, err := e.abandoned(ctx, alive)
	var out []string
	for _, c := range found {
		out = append(out, describe(c))
	}
	files, filesErr := scratch.Left(e.options.Boxes, alive)
	return append(out, files...), errors.Join(err, filesErr)
}

// Sweep removes what Left lists. Files stay while their container does.
func (e *Engine) Sweep(ctx context.Context, alive func(event.FlowID) bool) ([]string, error) {
	api, found, err := e.abandoned(ctx, alive)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range found {
		if err := remove(ctx, api, c.ID); err != nil {
			return out, err
		}
		out = append(out, describe(c))
	}
	files, err := scratch.Sweep(e.options.Boxes, alive)
	return append(out, files...), err
}

func describe(c container.Summary) string {
	return fmt.Sprintf("container %.12s of %s of %s", c.ID, c.Labels[labelOwner], c.Labels[labelFlow])
}

// abandoned are the containers that nobody will close.
func (e *Engine) abandoned(ctx context.Context, alive func(event.FlowID) bool) (*client.Client, []container.Summary, error) {
	api, err := e.reach(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", labelFlow)})
	if err != nil {
		return nil, nil, fmt.Errorf("list the containers of boxes: %w", err)
	}
	var out []container.Summary
	for _, c := range all.Items {
		if !alive(event.FlowID(c.Labels[labelFlow])) && dead(c.Labels[labelProcess]) {
			out = append(out, c)
		}
	}
	return api, out, nil
}

// dead reports whether the process of a label has ended. About one that counts
// pids in another namespace nothing can be said; where processes have no
// identity, nobody driving the flow has to do.
func dead(label string) bool {
	var id proc.Identity
	if label == "" {
		return true
	}
	if json.Unmarshal([]byte(label), &id) != nil {
		return false
	}
	self, err := proc.Self()
	if err != nil {
		return false
	}
	return id.Boot != self.Boot || id.Space == self.Space && !id.Alive()
}
