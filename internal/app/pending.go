package app

import (
	"context"
	"errors"

	"conclave/internal/control"
	"conclave/internal/event"
)

var errPending = errors.New("not there yet")

// Outline implements [control.Jobs].
func (a *App) Outline(_ context.Context, _ string) (event.FlowID, error) {
	return "", errPending
}

// Search implements [control.Jobs].
func (a *App) Search(_ context.Context, _ event.FlowID, _ control.SearchQuery) (control.SearchResult, error) {
	return control.SearchResult{}, errPending
}

// Abilities implements [control.Jobs].
func (a *App) Abilities(_ context.Context, _ event.FlowID) ([]control.Tier, error) {
	return nil, errPending
}
