package cli

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
)

func newJobAsk(e *env) *cobra.Command {
	var o sayOptions
	c := &cobra.Command{
		Use:   "ask ID QUESTION",
		Short: "Ask the companion of a job something",
		Long: `Ask talks to the companion of a job: an agent that can look into its files,
history and audit, and changes nothing. It answers whatever the job does: while it
plans or works, while it waits for you, and when it is over. The answer goes to
standard output, what it looked at to standard error. With "-" as QUESTION it is
read from standard input.`,
		Example: `  conclave job ask k3f9 "What does the plan say about the terms?"
  conclave job ask k3f9 "How much has it cost so far?"
  conclave job ask k3f9 "Draft feedback: the analysis should be two phases"`,
		Args:              args(2, 2, "a job and a question; put the question in quotes"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			text, err := taskOf(e, a[1:])
			if err != nil {
				return err
			}
			return e.with(func(c control.Control) error { return e.askJob(cmd.Context(), c, a[0], text, o) })
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print every event as a line of JSON, the answer last")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "nothing but the answer")
	return c
}

// askJob says something in the session of a job's companion. Whoever drives the job
// is not asked: that goes on as it is.
func (e *env) askJob(ctx context.Context, c control.Control, typed, text string, o sayOptions) error {
	id, j, err := findJob(ctx, c, typed)
	if err != nil {
		return err
	}
	if j.Started.Companion == "" {
		return control.Usagef("%s has no companion; see how it stands: conclave job show %[1]s", id)
	}
	now, err := c.Open(ctx, j.Started.Companion)
	switch {
	case err != nil:
		return err
	case now.Session == nil:
		return control.Usagef("%s, the companion of %s, is not a session", j.Started.Companion, id)
	}
	t := newTalk(e, c, j.Started.Companion, *now.Session, o)
	return t.run(ctx, event.Said{Text: event.Inline(text), By: by("ask")})
}
