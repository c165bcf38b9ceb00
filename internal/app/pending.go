package app

import (
	"context"
	"errors"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/launch"
)

var errUnwritten = errors.New("not written")

func (a *App) Newest(context.Context) (event.FlowID, bool, error) { return "", false, nil }
func (a *App) Fork(context.Context, event.FlowID) (event.FlowID, error) {
	return "", errUnwritten
}
func (a *App) Want(context.Context, event.FlowID, string, launch.Params, string) error {
	return errUnwritten
}
func (a *App) Amend(context.Context, event.FlowID, string, int, launch.Params, string) error {
	return errUnwritten
}
func (a *App) Params(context.Context, event.Launch) (launch.Params, error) {
	return launch.Params{}, errUnwritten
}
func (a *App) Offer(context.Context, string) (control.Offer, error) {
	return control.Offer{}, errUnwritten
}
