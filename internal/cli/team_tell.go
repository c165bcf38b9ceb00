package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

func newTeamMessage(e *env) *cobra.Command {
	var to []string
	var wait bool
	c := &cobra.Command{
		Use:   "message ID TEXT",
		Short: "Say something to the leader of a team, or to a member",
		Long: `Message puts something into the mailbox of the leader, or with --to into that
of members. Whoever works is told between two steps; whoever does not is set
to work with it. Messages are told in order, each once. With --wait the
command returns when it was, and says in which turn.`,
		Example: `  conclave team message k3f9 "Keep it to one page"
  conclave team message k3f9 --to front-end --wait "Use a warm background"`,
		Args:              args(2, 2, "one team and one text; put the text in quotes"),
		ValidArgsFunction: e.teamIDs(false),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				text, err := taskOf(e, a[1:])
				if err != nil {
					return err
				}
				return e.messageTeam(cmd.Context(), c, a[0], to, text, wait)
			})
		},
	}
	c.Flags().StringSliceVar(&to, "to", nil, "only this `member`, by its name; may be given more than once")
	c.Flags().BoolVar(&wait, "wait", false, "wait until it was told, and say when")
	return c
}

func (e *env) messageTeam(ctx context.Context, c control.Control, typed string, to []string, text string, wait bool) error {
	id, t, err := findTeam(ctx, c, typed)
	if err != nil {
		return err
	}
	if t.Ended != nil {
		return control.Usagef("%s was already over: %s", id, t.Ended.Status)
	}
	m := event.Messaged{Text: event.Inline(text), By: "conclave team message"}
	for _, name := range to {
		one, err := memberOf(t, name)
		if err != nil {
			return err
		}
		m.To = append(m.To, one.Agent)
	}
	f := event.Fact{ID: jobID("message"), Body: m}
	who := string(t.Started.Leader.Name)
	if len(m.To) > 0 {
		who = recipients(m.To)
	}
	if err := e.tellTeam(ctx, c, t, f, "In the mailbox of "+who+"."); err != nil || !wait {
		return err
	}
	return e.awaitFate(ctx, c, id, f.ID)
}

// tellTeam tells a team something. If nobody drove it, it is said that somebody does
// now: whoever only wanted to leave a word would not expect it to go on and spend.
func (e *env) tellTeam(ctx context.Context, c control.Control, t view.Team, f event.Fact, done string) error {
	_, driven, err := c.Driver(ctx, t.ID)
	if err != nil {
		return err
	}
	if err := e.tellJob(ctx, c, t.ID, f, done); err != nil || driven || t.Trouble() != nil {
		return err
	}
	fmt.Fprintf(e.Err, "Nobody drove it; a background process goes on with it. Stop it with: conclave team stop %s\n", t.ID)
	return nil
}

// awaitFate waits until a message has reached everybody it is for, or cannot.
func (e *env) awaitFate(ctx context.Context, c control.Control, id event.FlowID, mail string) error {
	t, err := e.untilTeam(ctx, c, id, func(t view.Team) bool {
		m, ok := t.Letter(mail)
		return t.Ended != nil || ok && !slices.ContainsFunc(m.Fates, func(f view.TeamFate) bool {
			return f.State == view.FateQueued || f.State == view.FateWaiting
		})
	})
	if err != nil {
		return err
	}
	m, _ := t.Letter(mail)
	missed := false
	for _, f := range m.Fates {
		fmt.Fprintln(e.Out, fateWords(f, true))
		missed = missed || f.State != view.FateDelivered
	}
	if missed {
		return outcome{exitRefused}
	}
	return nil
}

// mendTeam answers how a team goes on that cannot by itself.
func (e *env) mendTeam(ctx context.Context, c control.Control, id event.FlowID, g view.Gate, no bool, text string) error {
	choice, done := event.TroubleRetry, "It goes on."
	if no {
		choice, done = event.TroubleCancel, "It is ended."
	}
	f := event.Fact{ID: replyID(), Body: event.Replied{Gate: g.Gate, Choice: choice, Text: text, Revision: g.Revision, By: "conclave " + verb(choice)}}
	return e.tellJob(ctx, c, id, f, done)
}

func newTeamWrapUp(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "wrap-up ID",
		Short: "Have a team come to its end",
		Long: `Wrap-up tells the leader of a team to bring it to its end with what there is.
The leader decides how; to end the team at once: conclave team stop`,
		Example:           "  conclave team wrap-up k3f9",
		Args:              args(1, 1, "one team"),
		ValidArgsFunction: e.teamIDs(false),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, t, err := findTeam(cmd.Context(), c, a[0])
				if err != nil {
					return err
				}
				if t.Ended != nil {
					return control.Usagef("%s was already over: %s", id, t.Ended.Status)
				}
				f := event.Fact{ID: jobID("wrap-up"), Body: event.WrapUpRequested{By: "conclave team wrap-up"}}
				return e.tellTeam(cmd.Context(), c, t, f, "The leader is told to come to an end.")
			})
		},
	}
}

func newTeamStop(e *env) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:   "stop ID [MEMBER]",
		Short: "End a team now, or one of its members",
		Long: `Stop ends a team with what there is, and returns when everything it had
started is gone. With MEMBER only that one is ended: its turn stops at once,
what it has committed stays, and the leader is told.`,
		Example:           "  conclave team stop k3f9 --reason \"wrong customer\"\n  conclave team stop k3f9 front-end",
		Args:              args(1, 2, "one team and at most one of its members"),
		ValidArgsFunction: e.teamIDs(true),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, t, err := findTeam(cmd.Context(), c, a[0])
				switch {
				case err != nil:
					return err
				case len(a) == 2:
					return e.stopMember(cmd.Context(), c, id, t, a[1])
				}
				return e.stopTeam(cmd.Context(), c, id, t, why)
			})
		},
	}
	c.Flags().StringVar(&why, "reason", "", "why, for the record")
	return c
}

func (e *env) stopMember(ctx context.Context, c control.Control, id event.FlowID, t view.Team, name string) error {
	m, err := memberOf(t, name)
	switch {
	case err != nil:
		return err
	case t.Ended != nil:
		return control.Usagef("%s was already over: %s", id, t.Ended.Status)
	case m.Leader:
		return control.Usagef("the leader cannot be stopped alone; end the team with: conclave team stop %s", id)
	case m.State == view.MemberLost:
		return control.Usagef("%s does not act any more already: %s", m.Agent, m.Gone())
	}
	f := event.Fact{ID: jobID("stop"), Body: event.StopRequested{Target: m.Agent, By: "conclave team stop"}}
	return e.tellTeam(ctx, c, t, f, fmt.Sprintf("%s is stopped.", m.Agent))
}

// stopTeam ends a team, wherever it is driven, and waits until nobody drives it any
// more: then nothing of it runs.
func (e *env) stopTeam(ctx context.Context, c control.Control, id event.FlowID, t view.Team, why string) error {
	if t.Ended != nil {
		return control.Usagef("%s was already over: %s", id, t.Ended.Status)
	}
	ask := event.Fact{ID: cancelID(), Body: event.CancelRequested{By: "conclave team stop", Reason: why}}
	// A driver may come or go at any time; the request stays the same.
	for t.Ended == nil {
		d, driven, err := c.Driver(ctx, id)
		if err == nil && driven {
			if err = c.Send(ctx, id, ask); err == nil {
				e.while(ctx, c, id, d, func(ctx context.Context) { <-ctx.Done() })
			}
		} else if err == nil {
			err = c.Resume(ctx, id, false, ask)
		}
		if _, driven := errors.AsType[*control.Driven](err); driven {
			err = nil // somebody was faster
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		s, err := c.Open(ctx, id)
		if err != nil {
			return err
		}
		t = *s.Team
	}
	if d, driven, err := c.Driver(ctx, id); err == nil && driven {
		e.while(ctx, c, id, d, func(ctx context.Context) { <-ctx.Done() })
	}
	if t.Ended.Status != event.StatusCancelled {
		return control.Usagef("%s was already over: %s", id, t.Ended.Status)
	}
	fmt.Fprintf(e.Out, "%s is stopped; what there is: conclave team files %[1]s\n", id)
	return nil
}

func newTeamWait(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until a team needs you or is over",
		Long: `Wait returns when a team needs you or is over. Its exit code says which: 0 it
has finished, 2 it failed, 3 its time was over, 4 it was stopped, 5 it waits
for you.`,
		Example:           "  conclave team wait k3f9 && conclave team files k3f9",
		Args:              args(1, 1, "one team"),
		ValidArgsFunction: e.teamIDs(false),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, _, err := findTeam(cmd.Context(), c, a[0])
				if err != nil {
					return err
				}
				return e.waitTeam(cmd.Context(), c, id, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print how it stands then as JSON")
	return c
}

func (e *env) waitTeam(ctx context.Context, c control.Control, id event.FlowID, asJSON bool) error {
	t, err := e.untilTeam(ctx, c, id, func(t view.Team) bool {
		return t.Ended != nil || len(t.Heard) == 0 && len(t.Gates) > 0
	})
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(e.Out, t); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(e.Out, teamLine(t))
	}
	return teamOutcome(t)
}

// untilTeam follows a team until it stands as wanted. If its driver is gone another
// is called, as long as each brings it further.
func (e *env) untilTeam(ctx context.Context, c control.Control, id event.FlowID, wanted func(view.Team) bool) (view.Team, error) {
	var stuck uint64 // how far it had come when a driver was called last, if one was
	for {
		s, err := c.Open(ctx, id)
		if err != nil || wanted(*s.Team) {
			return *s.Team, err
		}
		if _, driven, err := c.Driver(ctx, id); err == nil && !driven {
			far, err := progress(ctx, c, id)
			if err != nil {
				return *s.Team, err
			}
			if stuck == far {
				return *s.Team, doesNotGoOn(c, id)
			}
			stuck = far
		}
		if err := c.Wake(ctx, id); err != nil {
			return *s.Team, err
		}
		e.followTeam(ctx, c, id, s, wanted)
		if ctx.Err() != nil {
			return *s.Team, ctx.Err()
		}
	}
}

// followTeam returns when the team stands as wanted or nobody drives it.
func (e *env) followTeam(ctx context.Context, c control.Control, id event.FlowID, s view.Snapshot, wanted func(view.Team) bool) {
	ctx, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	wg.Go(func() {
		defer done()
		whileDriven(ctx, c, id, func(live.Delta) {})
	})
	for ev, err := range c.Follow(ctx, id, s.Seq+1) {
		if err != nil {
			return
		}
		if s = s.Apply(ev); wanted(*s.Team) {
			return
		}
	}
}
