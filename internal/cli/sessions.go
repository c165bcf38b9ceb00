package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newSessions(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List conversations; show one",
		Example: `  conclave sessions
  conclave sessions show k3f9`,
		Args: args(0, 0, "no arguments; to see one session: conclave sessions show ID"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.listSessions(cmd.Context(), c, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each session as a line of JSON")
	c.AddCommand(newSessionsShow(e))
	return c
}

func isSession(f control.Flow) bool {
	return f.Kind == view.KindSession || f.Kind == "" && namesSession(f.ID)
}

// namesSession tells by its name whether a flow that cannot be read is a session.
func namesSession(id event.FlowID) bool { return strings.HasPrefix(string(id), view.KindSession+"-") }

func (e *env) listSessions(ctx context.Context, c control.Control, asJSON bool) error {
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	flows = slices.DeleteFunc(flows, func(f control.Flow) bool { return !isSession(f) })
	if asJSON {
		for _, f := range flows {
			if err := printJSON(e.Out, struct {
				control.Flow
				Task  view.Text `json:"title"` // in place of the row's
				State string    `json:"state"`
			}{f, view.Text(f.Task), f.State()}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(flows) == 0 {
		fmt.Fprintln(e.Err, "there are no sessions here yet")
		return nil
	}
	rows := [][]string{{"SESSION", "STATUS", "TURNS", "STARTED", "LAST", "TITLE"}}
	for _, f := range flows {
		row := []string{string(f.ID), f.State(), "", "", "", view.OneLine(f.Damaged)}
		if f.Damaged == "" {
			row = []string{
				string(f.ID), f.State(), fmt.Sprint(f.Turns), f.Started.Local().Format("Jan _2 15:04"),
				f.Last.Local().Format("Jan _2 15:04"), view.Shorten(f.Task.Text, longestTask),
			}
		}
		rows = append(rows, row)
	}
	width := 0
	if e.OutTerminal {
		width, _ = e.Size()
	}
	table(e.Out, rows, width)
	return nil
}

func newSessionsShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "show [ID]",
		Short:             "Show a conversation: what was said and what came of it",
		Example:           "  conclave sessions show k3f9",
		Args:              args(0, 1, "one session; without any it shows the newest"),
		ValidArgsFunction: e.runIDs(isSession),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, err := findSession(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				s, err := c.Open(cmd.Context(), id)
				switch {
				case err != nil:
					return err
				case s.Session == nil:
					return control.Usagef("%s is a run; see it with: conclave runs show %[1]s", id)
				}
				return e.showSession(cmd.Context(), c, *s.Session, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON, with all its texts")
	return c
}

// findSession finds the one that is named, else the newest.
func findSession(ctx context.Context, c control.Control, a []string) (event.FlowID, error) {
	if len(a) == 1 {
		return c.Find(ctx, a[0])
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(flows, isSession); i >= 0 {
		return flows[i].ID, nil
	}
	return "", control.Usagef("there are no sessions here yet")
}

func (e *env) showSession(ctx context.Context, c control.Control, s view.Session, asJSON bool) error {
	if asJSON {
		if err := fillSession(ctx, c, &s); err != nil {
			return err
		}
		return printJSON(e.Out, s)
	}
	p := paint(e.Color && e.OutTerminal)
	title, err := c.Text(ctx, s.Title())
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s\n%s\n", p.bold(string(s.ID)), view.Shorten(title, 200))
	for _, t := range s.Turns.All(0) {
		said, err := c.Text(ctx, t.Text)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "\n%s %s\n%s\n", p.bold("You,"), t.At.Local().Format("Jan _2 15:04"), view.Clean(strings.TrimSpace(said)))
		for _, r := range t.Runs {
			if err := e.showLaunched(ctx, c, r); err != nil {
				return err
			}
		}
		if t.Plan != nil {
			fmt.Fprintf(e.Out, "\nThe plan is in %s (revision %d)\n", view.OneLine(t.Plan.Dir), t.Plan.Newest().Revision)
		}
	}
	for _, g := range s.Gates {
		fmt.Fprintf(e.Out, "\nWaiting for you: %s\n  approve it:  conclave approve %[2]s\n  drop it:     conclave deny %[2]s\n", view.OneLine(g.Title), s.ID)
	}
	return nil
}

// purposes are what runs of a session are for, in words.
var purposes = map[string]string{event.PurposeAnswer: "Answer", event.PurposePlan: "Plan", event.PurposeExecute: "Carrying out the plan"}

func (e *env) showLaunched(ctx context.Context, c control.Control, r view.SessionRun) error {
	how := string(r.Status)
	switch {
	case !r.Over:
		how = "going on"
	case r.Status == "":
		how = "could not begin"
	}
	if r.Error != "" {
		how += ": " + view.OneLine(r.Error)
	}
	fmt.Fprintf(e.Out, "\n%s, %s, %s\n", purposes[r.Purpose], r.ID, how)
	text, err := c.Text(ctx, r.Answer)
	if err != nil {
		return err
	}
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintln(e.Out, view.Clean(text))
	}
	return nil
}

// fillSession puts in the texts that a session only names.
func fillSession(ctx context.Context, c control.Control, s *view.Session) error {
	var errs []error
	fill := func(v *event.Content) {
		t, err := c.Text(ctx, *v)
		errs = append(errs, err)
		v.Text = t
	}
	var turns []view.SessionTurn
	for _, t := range s.Turns.All(0) {
		fill(&t.Text)
		for j := range t.Runs {
			fill(&t.Runs[j].Answer)
		}
		if t.Plan != nil {
			for j := range t.Plan.Revisions {
				fill(&t.Plan.Revisions[j].Text)
			}
		}
		turns = append(turns, t)
	}
	s.Turns = view.ListOf(turns...)
	return errors.Join(errs...)
}

// resumeSession goes on with what is not finished in a session, and shows what
// came of it.
func (e *env) resumeSession(ctx context.Context, c control.Control, id event.FlowID, s show, takeOver bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	before, err := c.Open(ctx, id)
	if err != nil {
		return err
	}
	e.say(s, "Going on with %s until it waits for you\n", id)
	var wg sync.WaitGroup
	following, done := context.WithCancel(ctx)
	wg.Go(func() { e.tellSession(following, c, id, before.Seq+1, s) })
	err = c.Settle(ctx, id, takeOver)
	done()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(e.Err, "The session is left as it is and nothing of it is lost.\n  resume:  conclave resume %s\n", id)
		return outcome{exitCancelled}
	case err != nil:
		return err
	}
	after, err := c.Open(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	return e.showSession(ctx, c, *after.Session, s.json)
}

// tellSession prints what happens in a session, a line for each thing.
func (e *env) tellSession(ctx context.Context, c control.Control, id event.FlowID, from uint64, s show) {
	lines := &plain{out: e.Err, feed: newFeed(ctx, c, true), said: speeches{}}
	for ev, err := range c.Follow(ctx, id, from) {
		if err != nil {
			return
		}
		if !s.quiet && !s.json {
			lines.event(ev)
		}
	}
}
