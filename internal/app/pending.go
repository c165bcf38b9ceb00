package app

import (
	"context"
	"errors"

	"conclave/internal/control"
	"conclave/internal/event"
)

var errPending = errors.New("not there yet")

// NewJob implements [control.Jobs].
func (a *App) NewJob(_ context.Context, _ control.JobRequest) (event.FlowID, error) {
	return "", errPending
}

// WouldReview implements [control.Jobs].
func (a *App) WouldReview(_ context.Context, _ control.JobRequest) (bool, string, error) {
	return false, "", errPending
}

// Wake implements [control.Jobs].
func (a *App) Wake(_ context.Context, _ event.FlowID) error {
	return errPending
}

// Adopt implements [control.Jobs].
func (a *App) Adopt(_ context.Context) error {
	return errPending
}

// Outline implements [control.Jobs].
func (a *App) Outline(_ context.Context, _ string) (event.FlowID, error) {
	return "", errPending
}

// JobFiles implements [control.Jobs].
func (a *App) JobFiles(_ context.Context, _ event.FlowID, _ string) ([]control.JobFile, error) {
	return nil, errPending
}

// JobFile implements [control.Jobs].
func (a *App) JobFile(_ context.Context, _ event.FlowID, _, _ string) (control.JobFile, []byte, error) {
	return control.JobFile{}, nil, errPending
}

// JobDiff implements [control.Jobs].
func (a *App) JobDiff(_ context.Context, _ event.FlowID, _, _, _ string) ([]control.FileDiff, error) {
	return nil, errPending
}

// JobLog implements [control.Jobs].
func (a *App) JobLog(_ context.Context, _ event.FlowID, _ int) ([]control.Commit, error) {
	return nil, errPending
}

// Search implements [control.Jobs].
func (a *App) Search(_ context.Context, _ event.FlowID, _ control.SearchQuery) (control.SearchResult, error) {
	return control.SearchResult{}, errPending
}

// Abilities implements [control.Jobs].
func (a *App) Abilities(_ context.Context, _ event.FlowID) ([]control.Tier, error) {
	return nil, errPending
}

// Audit implements [control.Jobs].
func (a *App) Audit(_ context.Context, _ event.FlowID, _ control.AuditQuery) (control.AuditPage, error) {
	return control.AuditPage{}, errPending
}

// AuditRow implements [control.Jobs].
func (a *App) AuditRow(_ context.Context, _ event.FlowID, _ uint64, _ int) (control.AuditDetail, error) {
	return control.AuditDetail{}, errPending
}

// LLMRequest implements [control.Jobs].
func (a *App) LLMRequest(_ context.Context, _ event.FlowID, _ uint64) (control.LLMRequest, error) {
	return control.LLMRequest{}, errPending
}
