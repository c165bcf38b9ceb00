package app

import (
	"context"
	"errors"

	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/flow"
)

// squad does what a team decides, once its members are there.
type squad struct{ now roster }

func newSquad(*App, eventlog.Log, event.FlowID, event.TeamStarted) *squad { return &squad{} }

func (h *squad) Do(_ context.Context, _ flow.Command, p engine.Port) []event.Fact {
	p.Leave(errors.New("teams are not there yet"))
	return nil
}

func (h *squad) Close() error { return nil }
