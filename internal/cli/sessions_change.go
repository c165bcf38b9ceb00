package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newSessionsRename(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "rename ID TITLE",
		Short:             "Give a conversation a title",
		Example:           "  conclave sessions rename k3f9 \"Caching\"",
		Args:              args(2, 2, "one session and one title; put the title in quotes"),
		ValidArgsFunction: e.runIDs(isSession),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.changeSession(cmd.Context(), a[0], event.Renamed{Title: a[1], By: "conclave sessions rename"}, "It is called "+view.OneLine(a[1])+" now.")
		},
	}
}

func newSessionsArchive(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "archive ID",
		Short: "Put a conversation away, out of lists",
		Long: `Archive puts a conversation away: it is not listed any more and is not the one that
conclave goes on with. Nothing of it is lost: conclave sessions --all lists it,
and conclave sessions unarchive takes it out again.`,
		Example:           "  conclave sessions archive k3f9",
		Args:              args(1, 1, "one session"),
		ValidArgsFunction: e.runIDs(isSession),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.changeSession(cmd.Context(), a[0], event.Archived{On: true, By: "conclave sessions archive"}, "It is put away; to take it out again: conclave sessions unarchive "+a[0])
		},
	}
}

func newSessionsUnarchive(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "unarchive ID",
		Short:             "Take out a conversation that was put away",
		Example:           "  conclave sessions unarchive k3f9",
		Args:              args(1, 1, "one session"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return isSession(f) && f.Archived }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.changeSession(cmd.Context(), a[0], event.Archived{By: "conclave sessions unarchive"}, "It is listed again.")
		},
	}
}

func newSessionsFork(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "fork [ID]",
		Short: "Begin a conversation with everything another one holds",
		Long: `Fork begins a new conversation that knows everything of another one up to where
its last turn was over, and prints its id. The two go their own ways from there.`,
		Example:           "  conclave sessions fork k3f9",
		Args:              args(0, 1, "one session; without any it forks the newest"),
		ValidArgsFunction: e.runIDs(isSession),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, _, err := openSession(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				fork, err := c.Fork(cmd.Context(), id)
				if err == nil {
					fmt.Fprintln(e.Out, fork)
				}
				return err
			})
		},
	}
}

func newSessionsCancel(e *env) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "cancel ID",
		Short: "End what goes on in a conversation",
		Long: `Cancel ends the run that goes on in a conversation, with what it has; or, where a
run waits for approval, turns it down; or else stops the agent in the middle of
its turn. The conversation itself stays and can be gone on with.`,
		Example:           "  conclave sessions cancel k3f9 --reason \"wrong question\"",
		Args:              args(1, 1, "one session"),
		ValidArgsFunction: e.runIDs(isSession),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				id, s, err := openSession(ctx, c, a)
				if err != nil {
					return err
				}
				if s.Talk == nil {
					return e.cancelRun(ctx, c, a[0], reason)
				}
				body := event.CancelRequested{By: "conclave sessions cancel", Reason: reason}
				return e.tellAndSettle(ctx, c, id, body, true, "It is being ended.")
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the record and for the agent")
	return c
}

// openSession finds a session and what it has come to.
func openSession(ctx context.Context, c control.Control, a []string) (event.FlowID, view.Session, error) {
	id, err := findSession(ctx, c, a)
	if err != nil {
		return "", view.Session{}, err
	}
	s, err := c.Open(ctx, id)
	switch {
	case err != nil:
		return "", view.Session{}, err
	case s.Session == nil:
		return "", view.Session{}, control.Usagef("%s is a run and no session; see them with: conclave sessions", id)
	}
	return id, *s.Session, nil
}

// changeSession says something about a session to it.
func (e *env) changeSession(ctx context.Context, typed string, b event.Body, done string) error {
	return e.with(func(c control.Control) error {
		id, s, err := openSession(ctx, c, []string{typed})
		if err != nil {
			return err
		}
		return e.tellAndSettle(ctx, c, id, b, resting(s), done)
	})
}

// resting reports whether nothing goes on in a session that taking it up would go
// on with.
func resting(s view.Session) bool {
	switch s.State() {
	case view.SessionIdle, view.SessionReviewing, view.SessionAwaiting:
		return len(s.Heard) == 0 && (s.Talk == nil || len(s.Talk.Held) == 0)
	}
	return false
}

// tellAndSettle says something to a session. One that nobody drives is taken up
// to hear it if settle, and left as soon as it waits for a person.
func (e *env) tellAndSettle(ctx context.Context, c control.Control, id event.FlowID, b event.Body, settle bool, done string) error {
	f := event.Fact{ID: fmt.Sprintf("session/%d/%d", os.Getpid(), time.Now().UnixNano()), Body: b}
	if err := c.Send(ctx, id, f); err != nil {
		return err
	}
	_, driven, err := c.Driver(ctx, id)
	if err == nil && !driven && settle {
		err = c.Settle(ctx, id, false)
		if _, other := errors.AsType[*control.Driven](err); other {
			err = nil // somebody was faster
		}
	}
	if err != nil {
		return err
	}
	return e.heard(ctx, c, id, f.ID, done)
}
