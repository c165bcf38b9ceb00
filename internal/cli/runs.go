package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/view"
)

func newRuns(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "runs",
		Short: "List runs; show, steer or cancel one",
		Example: `  conclave runs
  conclave runs show k3f9
  conclave runs tell k3f9 "use metric units"
  conclave runs cancel k3f9`,
		Args: args(0, 0, "no arguments; to see one run: conclave runs show ID"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.listRuns(cmd.Context(), c, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each run as a line of JSON")
	c.AddCommand(newRunsShow(e), newRunsCancel(e))
	c.AddCommand(steering(e)...)
	return c
}

func (e *env) listRuns(ctx context.Context, c control.Control, asJSON bool) error {
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	flows = slices.DeleteFunc(flows, func(f control.Flow) bool { return rests(f) })
	if asJSON {
		for _, f := range flows {
			if err := printJSON(e.Out, struct {
				control.Flow
				Task  view.Text `json:"task"` // in place of the row's
				State string    `json:"state"`
			}{f, view.Text(f.Task), f.State()}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(flows) == 0 {
		fmt.Fprintln(e.Err, (&control.NotFound{}).Error())
		return nil
	}
	rows := [][]string{{"RUN", "STATUS", "AGENTS", "STARTED", "TIME", "TASK"}}
	for _, f := range flows {
		row := []string{string(f.ID), f.State(), "", "", "", view.OneLine(f.Damaged)}
		if f.Damaged == "" {
			row = []string{
				string(f.ID), f.State(), fmt.Sprint(len(f.Agents)), f.Started.Local().Format("Jan _2 15:04"),
				elapsed(f), view.Shorten(f.Task.Text, longestTask),
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

// longestTask is how much of a task the list shows where a line has no end.
const longestTask = 200

func elapsed(f control.Flow) string {
	d := time.Duration(f.Duration)
	if f.Driver != nil {
		d = time.Since(f.Started)
	}
	return d.Round(time.Second / 10).String()
}

// table prints rows in columns; the last one takes what room is left, or all it
// wants if width is zero.
func table(w io.Writer, rows [][]string, width int) {
	wide := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			wide[i] = max(wide[i], ansi.StringWidth(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r[:len(r)-1] {
			b.WriteString(cell + strings.Repeat(" ", wide[i]-ansi.StringWidth(cell)+2))
		}
		last := r[len(r)-1]
		if width > 0 {
			last = fit(last, width-ansi.StringWidth(b.String())-1)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String()+last, " "))
	}
}
