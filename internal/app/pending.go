package app

import (
	"context"
	"errors"

	"conclave/internal/control"
	"conclave/internal/event"
)

var errPending = errors.New("teams are not there yet")

func (a *App) NewTeam(context.Context, control.TeamRequest) (event.FlowID, error) {
	return "", errPending
}
func (a *App) TeamKinds(context.Context) ([]control.TeamKind, error) { return nil, errPending }
func (a *App) TeamFiles(context.Context, event.FlowID, event.AgentID) ([]control.JobFile, error) {
	return nil, errPending
}
func (a *App) TeamFile(context.Context, event.FlowID, event.AgentID, string) (control.JobFile, []byte, error) {
	return control.JobFile{}, nil, errPending
}
func (a *App) TeamDiff(context.Context, event.FlowID, event.AgentID) ([]control.FileDiff, error) {
	return nil, errPending
}
