package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// steering is how a person has a run that goes on go another way.
func steering(e *env) []*cobra.Command {
	return []*cobra.Command{newRunsTell(e), newRunsWrapUp(e), newRunsPause(e), newRunsContinue(e), newRunsStop(e)}
}

func newRunsTell(e *env) *cobra.Command {
	var to []string
	c := &cobra.Command{
		Use:   "tell ID TEXT",
		Short: "Say something to the agents of a run",
		Long: `Tell gives the agents of a run a message while they work. An agent at work reads
it before the next call of its model; one that is done is set to work again, as
far as the limits of the run allow. Once a winner is chosen, only the agent that
writes the final answer reads messages.`,
		Example: `  conclave runs tell k3f9 "use metric units"
  conclave runs tell k3f9 --to agent2 "look at the tests first"`,
		Args:              args(2, 2, "one run and one text; put the text in quotes"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.steer(cmd.Context(), a[0], func(s view.Snapshot) (event.Body, string, error) {
				m := event.Messaged{Text: event.Inline(a[1]), By: "conclave runs tell"}
				who := "everybody"
				for _, name := range to {
					l, err := agentOf(s.Card, name)
					if err != nil {
						return nil, "", err
					}
					m.To = append(m.To, l.ID)
				}
				if len(to) > 0 {
					who = strings.Join(to, ", ")
				}
				return m, "Taken in, for " + who + "; see who has read it with: conclave log " + string(s.Card.ID), nil
			})
		},
	}
	c.Flags().StringSliceVar(&to, "to", nil, "only this `agent`, by its label or its name; may be given more than once")
	return c
}

func newRunsWrapUp(e *env) *cobra.Command {
	return e.plainSteering("wrap-up ID", "Have everybody come to an end now",
		`Wrap-up has the agents of a run finish, as they do when its time is nearly over:
whoever has an answer is only asked for a vote. It can be had once.`,
		event.WrapUpRequested{By: "conclave runs wrap-up"}, "Everybody is told to finish.")
}

func newRunsPause(e *env) *cobra.Command {
	return e.plainSteering("pause ID", "Have a run stand still",
		`Pause has a run stand still: nobody is set to work, and whoever works stops before
the next call of its model. No deadline comes nearer meanwhile. A paused run that
is resumed stays paused, until: conclave runs continue`,
		event.PauseRequested{By: "conclave runs pause"}, "Paused. It goes on with: conclave runs continue ID")
}

func newRunsContinue(e *env) *cobra.Command {
	return e.plainSteering("continue ID", "Have a paused run go on", "",
		event.ContinueRequested{By: "conclave runs continue"}, "It goes on.")
}

// plainSteering is a command that takes a run and nothing else.
func (e *env) plainSteering(use, short, long string, b event.Body, done string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Example:           "  conclave runs " + strings.Replace(use, "ID", "k3f9", 1),
		Args:              args(1, 1, "one run"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.steer(cmd.Context(), a[0], func(s view.Snapshot) (event.Body, string, error) {
				return b, strings.Replace(done, "ID", string(s.Card.ID), 1), nil
			})
		},
	}
}

func newRunsStop(e *env) *cobra.Command {
	var job string
	c := &cobra.Command{
		Use:   "stop ID AGENT",
		Short: "Stop one agent of a run, or a command it has going",
		Long: `Stop has one agent of a run not act again: its turn ends at once, its answers stay
and may win, and the others go on. With --job it ends only a command that the
agent has going in the background of its turn, and the agent is told. To end the
whole run: conclave runs cancel`,
		Example:           "  conclave runs stop k3f9 agent2\n  conclave runs stop k3f9 agent2 --job job1",
		Args:              args(2, 2, "one run and one of its agents; to end the whole run: conclave runs cancel ID"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.steer(cmd.Context(), a[0], func(s view.Snapshot) (event.Body, string, error) {
				l, err := agentOf(s.Card, a[1])
				done := fmt.Sprintf("%s is stopped.", view.OneLine(string(l.Label)))
				if job != "" {
					done = fmt.Sprintf("%s is being ended.", view.OneLine(job))
				}
				return event.StopRequested{Target: l.ID, Job: job, By: "conclave runs stop"}, done, err
			})
		},
	}
	c.Flags().StringVar(&job, "job", "", "end this `command` of the agent's, as it is called in the log (job1)")
	return c
}

// agentOf is the agent a person means: by its label, or by the name it has in the
// configuration.
func agentOf(c view.Card, typed string) (view.AgentLine, error) {
	var names []string
	for _, l := range c.Agents {
		if typed == string(l.Label) || typed == string(l.ID) {
			return l, nil
		}
		names = append(names, fmt.Sprintf("%s (%s)", l.Label, view.OneLine(string(l.ID))))
	}
	return view.AgentLine{}, control.Usagef("%s has no agent %q; it has: %s", c.ID, typed, strings.Join(names, ", "))
}

// steer says something to a run and waits for the verdict. What is said depends
// on the run; what it comes to is told when it is taken in.
func (e *env) steer(ctx context.Context, typed string, say func(view.Snapshot) (b event.Body, done string, err error)) error {
	return e.with(func(c control.Control) error {
		id, err := c.Find(ctx, typed)
		if err == nil {
			id, err = runOf(ctx, c, id)
		}
		if err != nil {
			return err
		}
		s, err := c.Open(ctx, id)
		if err != nil {
			return err
		}
		if s.Card.Status != "" {
			return control.Usagef("%s was already over: %s", id, s.Card.Status)
		}
		b, done, err := say(s)
		if err != nil {
			return err
		}
		f := event.Fact{ID: fmt.Sprintf("steer/%d/%d", os.Getpid(), time.Now().UnixNano()), Body: b}
		if err := c.Send(ctx, id, f); err != nil {
			return err
		}
		return e.heard(ctx, c, id, f.ID, done)
	})
}

// heard waits until the run has taken something in or turned it down.
func (e *env) heard(ctx context.Context, c control.Control, id event.FlowID, ref, done string) error {
	var verdict error
	var over bool
	look := func(ctx context.Context, events iter.Seq2[event.Event, error]) {
		for ev, err := range events {
			if err != nil && ctx.Err() == nil {
				verdict = err
			}
			if err != nil {
				return
			}
			if verdict, over = reception(ev, ref); over {
				return
			}
		}
	}
	d, driven, err := c.Driver(ctx, id)
	if err == nil && driven {
		e.while(ctx, c, id, d, func(ctx context.Context) { look(ctx, c.Follow(ctx, id, 1)) })
	}
	if err == nil && verdict == nil && !over { // whoever drove it may have said so before it went
		look(ctx, c.Read(ctx, id))
	}
	switch {
	case err != nil || verdict != nil:
		return cmp.Or(err, verdict)
	case over:
		fmt.Fprintln(e.Out, done)
	default:
		fmt.Fprintf(e.Out, "Noted. Nobody drives the %s now; it is told when it goes on: conclave resume %s\n", flowNoun(id), id)
	}
	return ctx.Err()
}

// reception is what an event says of what was said: nothing, that it is taken in, or
// why not.
func reception(ev event.Event, ref string) (verdict error, over bool) {
	switch b := ev.Body.(type) {
	case event.Admitted:
		return nil, b.Ref == ref
	case event.Closed:
		return nil, b.Reply == ref
	case event.Refused:
		if b.Ref == ref {
			return control.Usagef("not done: %s", b.Why), true
		}
	case event.Finished:
		return control.Usagef("the run was over before this reached it"), true
	case event.TeamEnded:
		return control.Usagef("the team was over before this reached it"), true
	}
	return nil, false
}

// while does something for as long as the run is driven, and tells the person
// whom they wait for if it takes long.
func (e *env) while(ctx context.Context, c control.Control, id event.FlowID, d control.Driver, do func(context.Context)) {
	ctx, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	wg.Go(func() {
		whileDriven(ctx, c, id, func(live.Delta) {})
		done()
	})
	wg.Go(func() {
		select {
		case <-time.After(patience):
			fmt.Fprintf(e.Err, "Waiting for process %d, which drives the run and has been told. If it hangs: conclave resume --take-over %s\n", d.PID, id)
		case <-ctx.Done():
		}
	})
	do(ctx)
}
