package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newJobApprove(e *env) *cobra.Command {
	var revision int
	var skip bool
	c := &cobra.Command{
		Use:   "approve ID",
		Short: "Have the plan of a job carried out",
		Long: `Approve has the plan of a job carried out as it stands. With --revision it counts
only if that is still what would be carried out. Of a job that cannot go on by
itself it gives it as much again of what had run out.`,
		Example:           "  conclave job approve k3f9 --revision 2",
		Args:              args(1, 1, "one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			if err := lookedAt(cmd, revision); err != nil {
				return err
			}
			return e.with(func(c control.Control) error {
				return e.decide(cmd.Context(), c, a[0], decision{verb: "approve", revision: revision, skip: skip})
			})
		},
	}
	c.Flags().IntVar(&revision, "revision", 0, "the revision that you have looked at")
	c.Flags().BoolVar(&skip, "skip", false, "and ask about no plan of this job again")
	return c
}

func newJobRevise(e *env) *cobra.Command {
	var text string
	var revision int
	c := &cobra.Command{
		Use:   "revise ID -m TEXT",
		Short: "Have the plan of a job changed",
		Long: `Revise has the agent of a job change its plan, and you are asked again: nothing is
carried out before you approve. What was commented goes along.`,
		Example:           "  conclave job revise k3f9 -m \"split the analysis into two phases\"",
		Args:              args(1, 1, "one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			if err := lookedAt(cmd, revision); err != nil {
				return err
			}
			return e.with(func(c control.Control) error {
				return e.decide(cmd.Context(), c, a[0], decision{verb: "revise", revision: revision, text: text})
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "what is to be different")
	c.Flags().IntVar(&revision, "revision", 0, "the revision that you have looked at")
	return c
}

// lookedAt refuses a revision that none can be: left out it would mean whichever
// there is, which who names one does not want.
func lookedAt(cmd *cobra.Command, revision int) error {
	if cmd.Flags().Changed("revision") && revision < 1 {
		return control.Usagef("--revision is %d; revisions are counted from 1, and conclave job review says which one there is", revision)
	}
	return nil
}

// A decision is what a person has decided about a job that waits for them.
type decision struct {
	verb     string // approve or revise
	revision int    // zero is the one there is
	skip     bool
	text     string
}

// choice is the decision as the question has it.
func (d decision) choice(g view.Gate) (string, error) {
	switch trouble := g.Kind == event.GateTrouble; {
	case d.verb == "revise" && trouble:
		return event.TroubleChange, nil
	case d.verb == "revise":
		return event.ReviewChange, nil
	case trouble && d.skip:
		return "", control.Usagef("--skip is about plans, and this job does not wait for one to be looked at")
	case trouble:
		return event.TroubleRetry, nil
	case d.skip:
		return event.ReviewSkip, nil
	}
	return event.ReviewApprove, nil
}

func (e *env) decide(ctx context.Context, c control.Control, typed string, d decision) error {
	id, j, err := findJob(ctx, c, typed)
	if err != nil {
		return err
	}
	g := j.Review
	if g == nil {
		return control.Usagef("%s is %s and waits for no decision; see: conclave job show %[1]s", id, j.State)
	}
	if d.verb == "revise" && strings.TrimSpace(d.text) == "" && !openThreads(j) {
		return control.Usagef("say what is to be different: conclave job revise %s -m \"…\"", id)
	}
	if d.revision == 0 {
		d.revision = g.Revision
	}
	choice, err := d.choice(*g)
	if err != nil {
		return err
	}
	f := event.Fact{ID: replyID(), Body: event.Replied{Gate: g.Gate, Choice: choice, Text: d.text, Revision: d.revision, By: by(d.verb)}}
	return e.tellJob(ctx, c, id, f, decided(id, choice, d.revision))
}

// openThreads reports whether there are comments that would go along.
func openThreads(j view.Job) bool {
	for _, t := range j.Threads {
		if !t.Resolved {
			return true
		}
	}
	return false
}

func decided(id event.FlowID, choice string, revision int) string {
	switch choice {
	case event.ReviewApprove:
		return fmt.Sprintf("Approved, revision %d. It is carried out now; wait for it with: conclave job wait %s", revision, id)
	case event.ReviewSkip:
		return fmt.Sprintf("Approved, revision %d, and no plan is asked about again. Wait for it with: conclave job wait %s", revision, id)
	case event.ReviewChange:
		return fmt.Sprintf("The plan is being changed, and you are asked again. Wait for it with: conclave job wait %s", id)
	case event.TroubleRetry:
		return fmt.Sprintf("It goes on. Wait for it with: conclave job wait %s", id)
	}
	return "Done: " + choice
}

func newJobCancel(e *env) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:               "cancel ID",
		Short:             "End a job, whatever it does",
		Example:           "  conclave job cancel k3f9 --reason \"no longer needed\"",
		Args:              args(1, 1, "one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error { return e.cancelJob(cmd.Context(), c, a[0], reason) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return c
}

// cancelJob ends a job and waits until that is done.
func (e *env) cancelJob(ctx context.Context, c control.Control, typed, reason string) error {
	id, j, err := findJob(ctx, c, typed)
	if err != nil {
		return err
	}
	if j.State.Over() {
		return control.Usagef("%s was already over: %s", id, j.State)
	}
	f := event.Fact{ID: cancelID(), Body: event.CancelRequested{By: by("cancel"), Reason: reason}}
	if err := c.Send(ctx, id, f); err != nil {
		return err
	}
	if j, err = e.untilJob(ctx, c, id, func(j view.Job) bool { return j.State.Over() }); err != nil {
		return err
	}
	if j.State != view.JobCancelled {
		return control.Usagef("%s was already over: %s", id, j.State)
	}
	fmt.Fprintf(e.Out, "%s is cancelled; what there was: conclave job show %[1]s\n", id)
	return nil
}

func newJobCorrect(e *env) *cobra.Command {
	var text string
	c := &cobra.Command{
		Use:   "correct ID -m TEXT",
		Short: "Have a job that is over do something else",
		Long: `Correct takes up a job that is over: it plans what you want to be different and
carries that out, with everything it has made at hand.`,
		Example:           "  conclave job correct k3f9 -m \"the third offer is missing from the table\"",
		Args:              args(1, 1, "one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				ctx := cmd.Context()
				id, j, err := findJob(ctx, c, a[0])
				switch {
				case err != nil:
					return err
				case strings.TrimSpace(text) == "":
					return control.Usagef("say what is to be different: conclave job correct %s -m \"…\"", id)
				case !j.State.Over():
					return control.Usagef("%s is not over but %s; to change its plan: conclave job revise %[1]s -m \"…\"", id, j.State)
				}
				f := event.Fact{ID: jobID("corrected"), Body: event.Corrected{Text: event.Inline(text), By: by("correct")}}
				return e.tellJob(ctx, c, id, f, fmt.Sprintf("It goes on. Wait for it with: conclave job wait %s", id))
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "what is to be different")
	return c
}
