package app

import (
	"context"
	"fmt"

	"conclave/internal/chat"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/planfile"
)

// planDir is where a plan is kept.
func (a *App) planDir(id string) string { return planfile.Dir(a.state(), id) }

// keep puts a revision of a plan where a person can find it.
func (h *chair) keep(ctx context.Context, k chat.Keep, p engine.Port) []event.Fact {
	text, err := h.a.Text(ctx, k.Text)
	tasks := planfile.Tasks(text)
	if err == nil {
		err = planfile.Keep(h.a.state(), k.Plan, k.Revision, text, tasks)
	}
	switch {
	case ctx.Err() != nil:
		return nil // whoever takes the session up keeps it
	case err != nil:
		p.Leave(fmt.Errorf("%w\nNothing is lost; when that is mended go on with: conclave resume %s", err, h.id))
		return nil
	}
	return []event.Fact{k.Fact(h.a.planDir(k.Plan), tasks)}
}
