package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/launch"
	"conclave/internal/prompt"
)

// Want implements [control.Launches].
func (a *App) Want(ctx context.Context, id event.FlowID, want string, p launch.Params, by string) error {
	l, est, err := a.launchIn(ctx, id, p)
	if err != nil {
		return err
	}
	err = a.Send(ctx, id, event.Fact{ID: want, Body: event.Wanted{Launch: l, Estimate: est, By: by}})
	if errors.Is(err, eventlog.ErrConflict) {
		return nil // it was wanted before, when another estimate was made
	}
	return err
}

// Amend implements [control.Launches].
func (a *App) Amend(ctx context.Context, id event.FlowID, want string, revision int, p launch.Params, by string) error {
	l, est, err := a.launchIn(ctx, id, p)
	if err != nil {
		return err
	}
	var b [4]byte
	_, _ = rand.Read(b[:])
	return a.Send(ctx, id, event.Fact{
		ID:   fmt.Sprintf("in/amend/%s/%d/%s", want, revision, hex.EncodeToString(b[:])),
		Body: event.Amended{Want: want, Revision: revision, Launch: l, Estimate: est, By: by},
	})
}

// launchIn is a call made by somebody outside, for the team of a session. What is
// wrong with it is a [launch.Problem].
func (a *App) launchIn(ctx context.Context, id event.FlowID, p launch.Params) (event.Launch, *event.Estimate, error) {
	team, config, err := a.teamIn(ctx, id)
	if err != nil {
		return event.Launch{}, nil, err
	}
	l, err := p.Launch(team)
	if err != nil {
		return l, nil, err
	}
	for _, path := range l.Paths {
		if _, err := a.there(path); err != nil {
			return l, nil, &launch.Problem{Why: err.Error() + "."}
		}
	}
	if l.Task, err = a.shelve(ctx, l.Task); err != nil {
		return l, nil, err
	}
	if l.Context, err = a.shelve(ctx, l.Context); err != nil {
		return l, nil, err
	}
	return l, a.estimate(ctx, config, l, team), nil
}

// teamIn are the agents of a session, and its configuration: those that its log
// names, or before anybody has taken it up, those of its configuration.
func (a *App) teamIn(ctx context.Context, id event.FlowID) ([]event.Teammate, string, error) {
	now, err := a.Open(ctx, id)
	if err != nil {
		return nil, "", err
	}
	if now.Session == nil || !talks(now.Session.Kind) {
		return nil, "", control.Usagef("%s is no session in which runs are wanted", id)
	}
	if t := now.Session.Talk; t != nil && len(t.Staffed.Team) > 0 {
		return t.Staffed.Team, now.Session.Config, nil
	}
	t, err := a.team(ctx, now.Session.Config)
	return a.mates(t.seats), now.Session.Config, err
}

// Params implements [control.Launches].
func (a *App) Params(ctx context.Context, l event.Launch) (launch.Params, error) {
	task, err := a.Text(ctx, l.Task)
	if err != nil {
		return launch.Params{}, err
	}
	background, err := a.Text(ctx, l.Context)
	return launch.Of(l, task, background), err
}

// Offer implements [control.Launches].
func (a *App) Offer(ctx context.Context, config string) (control.Offer, error) {
	t, err := a.team(ctx, config)
	if err != nil {
		return control.Offer{}, err
	}
	team, approve := a.mates(t.seats), t.talks == nil || t.talks.Approve
	return control.Offer{
		Team: team, Guidance: guidance(team, approve), Description: launch.Description(), Schema: launch.Schema(team), Approve: approve,
	}, nil
}

// guidance is what a program outside is told of when and how to launch runs.
func guidance(team []event.Teammate, approve bool) string {
	var all []prompt.Teammate
	for _, t := range team {
		all = append(all, prompt.Teammate{Name: string(t.Agent), Backend: t.Backend, Model: t.Model, About: t.About})
	}
	return prompt.Outside(all, approve)
}
