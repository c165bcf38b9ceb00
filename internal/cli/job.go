package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newJob(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:     "job",
		Aliases: []string{"jobs"},
		Short:   "Larger work by a plan that you look at first",
		Long: `A job reads the documents and datasources it is given, plans with all of that
at hand and, before anything is done, waits until you have looked at its plan.
You comment, change it or approve it; then it works phase after phase until it
is done. It goes on in a process of its own: closing everything changes nothing.`,
		Example: `  conclave job new -d "Compare the three offers and draft a recommendation" --doc offers/
  conclave job review k3f9
  conclave job approve k3f9
  conclave job wait k3f9`,
		Args: args(0, 0, "a command: new, list, show, review, approve, revise, correct, cancel, ask, wait, files or diff"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newJobNew(e), newJobList(e), newJobShow(e), newJobReview(e), newJobApprove(e), newJobRevise(e), newJobCorrect(e),
		newJobCancel(e), newJobAsk(e), newJobWait(e), newJobFiles(e), newJobDiff(e))
	return c
}

// isJob reports whether a flow is a job, by its name if it cannot be read.
func isJob(f control.Flow) bool { return f.Kind == view.KindJob || f.Kind == "" && namesJob(f.ID) }

func namesJob(id event.FlowID) bool { return strings.HasPrefix(string(id), view.KindJob+"-") }

// jobIDs completes ids of jobs.
func (e *env) jobIDs() cobra.CompletionFunc { return e.runIDs(isJob) }

// findJob finds what a person has typed where a job is meant: runs and sessions do
// not make it ambiguous.
func findJob(ctx context.Context, c control.Control, typed string) (event.FlowID, view.Job, error) {
	id, err := c.Find(ctx, typed)
	if none, ok := errors.AsType[*control.NotFound](err); ok {
		jobs := slices.DeleteFunc(slices.Clone(none.Several), func(id event.FlowID) bool { return !namesJob(id) })
		if len(jobs) == 1 {
			id, err = jobs[0], nil
		} else {
			near := slices.DeleteFunc(slices.Clone(none.Nearest), func(id event.FlowID) bool { return !namesJob(id) })
			err = &control.NotFound{What: "job", Typed: typed, Several: jobs, Nearest: near}
		}
	}
	if err != nil {
		return "", view.Job{}, err
	}
	s, err := c.Open(ctx, id)
	switch {
	case err != nil:
		return "", view.Job{}, err
	case s.Job == nil:
		return "", view.Job{}, control.Usagef("%s is not a job; see: conclave job list", id)
	}
	return id, *s.Job, nil
}

func newJobList(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List jobs",
		Example: "  conclave job list",
		Args:    args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.listJobs(cmd.Context(), c, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each job as a line of JSON")
	return c
}

func (e *env) listJobs(ctx context.Context, c control.Control, asJSON bool) error {
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	flows = slices.DeleteFunc(flows, func(f control.Flow) bool { return !isJob(f) })
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
		fmt.Fprintln(e.Err, "there are no jobs here yet; begin one with: conclave job new -d \"what is to be done\"")
		return nil
	}
	rows := [][]string{{"JOB", "STATUS", "STARTED", "LAST", "TITLE"}}
	for _, f := range flows {
		row := []string{string(f.ID), f.State(), "", "", view.OneLine(f.Damaged)}
		if f.Damaged == "" {
			row = []string{
				string(f.ID), f.State(), f.Started.Local().Format("Jan _2 15:04"), f.Last.Local().Format("Jan _2 15:04"),
				view.Shorten(f.Task.Text, longestTask),
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

// jobID makes an id of something that is said to a job.
func jobID(what string) string { return fmt.Sprintf("%s/%d", what, time.Now().UnixNano()) }

// tellJob says something to a job, has somebody act on it, and tells what became
// of it.
func (e *env) tellJob(ctx context.Context, c control.Control, id event.FlowID, f event.Fact, done string) error {
	if err := c.Send(ctx, id, f); err != nil {
		return err
	}
	if err := c.Wake(ctx, id); err != nil {
		return fmt.Errorf("it is noted, and nobody could be set to work on it: %w\nGo on with: conclave resume %s", err, id)
	}
	return e.heard(ctx, c, id, f.ID, done)
}

// by is who says something on the command line.
func by(command string) string { return "conclave job " + command }
