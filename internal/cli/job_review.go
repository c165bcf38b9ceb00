package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// The files that are looked at in a review.
var reviewed = []string{"plan.md", "workspace.md"}

func newJobReview(e *env) *cobra.Command {
	var asJSON, plain bool
	c := &cobra.Command{
		Use:   "review [ID]",
		Short: "Look at the plan of a job, and decide about it",
		Long: `Review opens a window on a job: its plan, its todos, what it remembers, the
questions it asks, what changed since you last looked, and how it goes on. There
you comment on lines, edit, answer, and decide. Deciding names the revision that
is shown, so that nobody approves what they have not seen. Without an ID it is the
newest job that waits for you. Where no person sits at a terminal, and with
--plain, it is printed instead.`,
		Example:           "  conclave job review\n  conclave job review k3f9 --plain | less",
		Args:              args(0, 1, "at most one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				j, err := e.jobToReview(cmd.Context(), c, a)
				switch {
				case err != nil:
					return err
				case e.window != nil && e.atTerminal() && !asJSON && !plain && !e.reads(cmd.Context(), c):
					return e.openWindow(cmd.Context(), c, WindowOptions{Job: j.ID, Config: j.Started.Config})
				}
				return e.reviewJob(cmd.Context(), c, j, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	c.Flags().BoolVar(&plain, "plain", false, "print it, as for screen readers")
	return c
}

// reads reports whether the person has lines of text read to them.
func (e *env) reads(ctx context.Context, c control.Control) bool {
	look, err := c.Look(ctx)
	return e.Simple || err == nil && look.Plain
}

// jobToReview is the job that is named, or else the newest that waits for a person.
func (e *env) jobToReview(ctx context.Context, c control.Control, a []string) (view.Job, error) {
	if len(a) == 1 {
		_, j, err := findJob(ctx, c, a[0])
		return j, err
	}
	flows, err := c.Flows(ctx)
	if err != nil {
		return view.Job{}, err
	}
	for _, f := range flows {
		if isJob(f) && f.Damaged == "" && f.Waiting && !f.Answered {
			_, j, err := findJob(ctx, c, string(f.ID))
			return j, err
		}
	}
	return view.Job{}, control.Usagef("no job waits for you; see what there is with: conclave job list")
}

// A review is what a person looks at.
type review struct {
	Job   view.Job           `json:"job"`
	Files map[string]string  `json:"files"`
	Diff  []control.FileDiff `json:"diff,omitempty"` // since the round before
}

func (e *env) reviewJob(ctx context.Context, c control.Control, j view.Job, asJSON bool) error {
	r := review{Job: j, Files: map[string]string{}}
	for _, name := range reviewed {
		_, text, err := c.JobFile(ctx, j.ID, name, j.Commit)
		if _, none := errors.AsType[*control.NotFound](err); none {
			continue
		}
		if err != nil {
			return err
		}
		r.Files[name] = string(text)
	}
	if n := len(j.Rounds); n > 0 && j.Rounds[n-1].Since != "" {
		var err error
		if r.Diff, err = c.JobDiff(ctx, j.ID, j.Rounds[n-1].Since, j.Commit, ""); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(e.Out, r)
	}
	return e.showReview(r)
}

func (e *env) showReview(r review) error {
	w, j := e.Out, r.Job
	fmt.Fprintf(w, "%s  %s\n%s\n", j.ID, view.OneLine(j.Started.Title), reviewState(j))
	fmt.Fprintf(w, "Cost so far: %s\n", jobCost(j))
	for _, name := range reviewed {
		if text, ok := r.Files[name]; ok && text != "" {
			fmt.Fprintf(w, "\n%s\n%s", e.heading(name), indented(text))
		}
	}
	if len(j.Staged) > 0 || j.Problem != "" {
		fmt.Fprintf(w, "\n%s\n", e.heading("todos of the next phase"+after(": ", view.OneLine(j.StagedName))))
		for _, t := range j.Staged {
			fmt.Fprint(w, todoLine(t))
		}
		if j.Problem != "" {
			fmt.Fprintf(w, "  %s\n", view.OneLine(j.Problem))
		}
	}
	showQuestions(w, e, j)
	showThreads(w, e, j)
	if len(r.Diff) > 0 {
		fmt.Fprintf(w, "\n%s\n", e.heading("what changed since the round before"))
		showDiff(w, r.Diff, paint(e.Color && e.OutTerminal))
	}
	fmt.Fprint(w, decisions(j))
	return nil
}

func (e *env) heading(text string) string {
	return paint(e.Color && e.OutTerminal).bold("— " + text + " —")
}

// reviewState says why a person is asked.
func reviewState(j view.Job) string {
	g := j.Review
	if g == nil {
		return fmt.Sprintf("It is %s, and nothing of it waits for you.", cmp.Or(string(j.State), "created"))
	}
	why := after(": ", view.OneLine(cmp.Or(j.Why, g.Title)))
	if g.Kind == event.GateTrouble {
		return "It cannot go on by itself" + why
	}
	round := 1
	if n := len(j.Rounds); n > 0 {
		round = j.Rounds[n-1].Round
	}
	return fmt.Sprintf("It waits for you to look at its plan, round %d, revision %d%s", round, g.Revision, why)
}

func showQuestions(w io.Writer, e *env, j view.Job) {
	if len(j.Questions) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", e.heading("what the plan asks"))
	for _, q := range j.Questions {
		fmt.Fprintf(w, "  %s  %s\n", q.ID, view.OneLine(q.Text))
		switch {
		case q.Answer != "":
			fmt.Fprintf(w, "      answered: %s\n", view.OneLine(q.Answer))
		case q.Default != "":
			fmt.Fprintf(w, "      unless you say otherwise: %s\n", view.OneLine(q.Default))
		}
	}
}

func showThreads(w io.Writer, e *env, j view.Job) {
	if len(j.Threads) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", e.heading("comments"))
	for _, t := range j.Threads {
		where := t.Path
		if t.Line > 0 {
			where += fmt.Sprintf(":%d", t.Line)
		}
		state := "open"
		if t.Resolved {
			state = "resolved"
		}
		fmt.Fprintf(w, "  %s (%s) %s\n", view.OneLine(where), state, view.OneLine(t.Text))
		for _, r := range t.Replies {
			fmt.Fprintf(w, "      %s\n", view.OneLine(r.Text))
		}
		if a := t.Answer; a != nil {
			did := "not changed"
			if a.Changed {
				did = "changed"
			}
			fmt.Fprintf(w, "      the agent: %s: %s\n", did, view.OneLine(a.Text))
		}
	}
}

// decisions is what a person can do now.
func decisions(j view.Job) string {
	g := j.Review
	switch {
	case g == nil && j.State.Over():
		return fmt.Sprintf("\nSee what it made: conclave job show %s\n", j.ID)
	case g == nil:
		return fmt.Sprintf("\nWait until it needs you: conclave job wait %s\n", j.ID)
	case g.Kind == event.GateTrouble:
		return fmt.Sprintf(`
Go on, with as much again: conclave job approve %[1]s --revision %[2]d
Plan anew:                 conclave job revise %[1]s -m "what to do differently"
End it:                    conclave job cancel %[1]s
`, j.ID, g.Revision)
	}
	return fmt.Sprintf(`
Carry out exactly this: conclave job approve %[1]s --revision %[2]d
Ask for changes:        conclave job revise %[1]s -m "what is to be different"
Never ask again:        conclave job approve %[1]s --revision %[2]d --skip
End it:                 conclave job cancel %[1]s
Comment on lines, edit the plan, untick todos: conclave job review %[1]s at a terminal, or conclave serve
`, j.ID, g.Revision)
}
