package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newJobShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "show ID",
		Short:             "Show how a job stands and what it has made",
		Example:           "  conclave job show k3f9",
		Args:              args(1, 1, "one job"),
		ValidArgsFunction: e.jobIDs(),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				_, j, err := findJob(cmd.Context(), c, a[0])
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(e.Out, j)
				}
				return e.showJob(cmd.Context(), c, j)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print everything that is known of it as JSON")
	return c
}

func (e *env) showJob(ctx context.Context, c control.Control, j view.Job) error {
	w := e.Out
	fmt.Fprintf(w, "%s  %s\n", j.ID, view.OneLine(j.Started.Title))
	what, err := c.Text(ctx, j.Started.Description)
	if err != nil {
		return err
	}
	fmt.Fprint(w, indented(what))
	state := string(j.State)
	if j.Why != "" {
		state += ": " + view.OneLine(j.Why)
	}
	fmt.Fprintf(w, "Status     %s\n", state)
	if j.Doing != "" {
		fmt.Fprintf(w, "Doing      %s\n", view.OneLine(j.Doing))
	}
	fmt.Fprintf(w, "Began      %s, worked %s\n", j.Begun.Local().Format("Jan _2 15:04"), time.Duration(j.Worked).Round(time.Second/10))
	fmt.Fprintf(w, "Cost       %s\n", jobCost(j))
	for _, d := range j.Started.Documents {
		fmt.Fprintf(w, "Document   %s\n", view.OneLine(d.Path))
	}
	for _, s := range j.Started.Sources {
		right := "read only"
		if s.Write {
			right = "may be changed"
		}
		fmt.Fprintf(w, "Datasource %s (%s, %s)\n", s.Name, s.Kind, right)
	}
	for _, p := range j.Phases {
		showPhase(w, p)
	}
	if d := j.Ended; d != nil {
		showEnded(w, j, *d)
	}
	if j.State.Frozen() {
		fmt.Fprintf(w, "\nIt waits for you: conclave job review %s\n", j.ID)
	}
	return nil
}

// jobCost is what a job has spent so far and is expected to.
func jobCost(j view.Job) string {
	out := fmt.Sprintf("%s, %d tokens in %s", j.Usage.Cost, j.Usage.Tokens(), plural(j.Calls, "model call"))
	if j.Unpriced > 0 {
		out += fmt.Sprintf("; the price of %d is not known", j.Unpriced)
	}
	if x := j.Estimate; x != nil && !j.State.Over() {
		out += fmt.Sprintf("; about %s and %d tokens to go (%s)", x.Cost, x.Tokens, view.OneLine(x.Basis))
	}
	return out
}

func showPhase(w io.Writer, p view.JobPhase) {
	name := ""
	if p.Name != "" {
		name = " " + view.OneLine(p.Name)
	}
	how := ""
	if p.How != "" {
		how = ", " + p.How
	}
	if p.Run != "" {
		how += ", by " + string(p.Run)
	}
	fmt.Fprintf(w, "\nPhase %d, %s%s%s\n", p.Phase, p.Kind, name, how)
	for _, t := range p.Todos {
		fmt.Fprint(w, todoLine(t.Todo))
	}
}

// todoLine is a todo with a box.
func todoLine(t event.Todo) string {
	box := "[ ]"
	switch {
	case t.Done:
		box = "[x]"
	case t.Skip:
		box = "[-]"
	}
	out := fmt.Sprintf("  %s %s. %s\n", box, t.ID, view.OneLine(t.Text))
	if t.Note != "" {
		out += "        " + view.OneLine(t.Note) + "\n"
	}
	return out
}

func showEnded(w io.Writer, j view.Job, d event.JobEnded) {
	fmt.Fprintf(w, "\n%s\n%s", upperFirst(string(j.State)), indented(d.Summary))
	if d.Confidence > 0 {
		fmt.Fprintf(w, "  It is %.0f%% sure that this is what was wanted.\n", 100*d.Confidence)
	}
	if d.Notes != "" {
		fmt.Fprint(w, indented(d.Notes))
	}
	for _, f := range d.Deliverables {
		fmt.Fprintf(w, "  %s\n", view.OneLine(f))
	}
	if len(d.Deliverables) > 0 {
		fmt.Fprintf(w, "\nSee one with: conclave job files %s %s\n", j.ID, shellWord(view.OneLine(d.Deliverables[0])))
	}
	if j.State == view.JobCompleted {
		fmt.Fprintf(w, "Have something corrected: conclave job correct %s -m \"what is to be different\"\n", j.ID)
	}
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
