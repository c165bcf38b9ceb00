package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newRuns(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "runs",
		Short: "List runs; show or cancel one",
		Example: `  conclave runs
  conclave runs show k3f9
  conclave runs cancel k3f9`,
		Args: args(0, 0, "no arguments; to see one run: conclave runs show ID"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error { return e.listRuns(cmd.Context(), c, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each run as a line of JSON")
	c.AddCommand(newRunsShow(e), newRunsCancel(e))
	return c
}

func (e *env) listRuns(ctx context.Context, c control.Control, asJSON bool) error {
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		for _, f := range flows {
			if err := printJSON(e.Out, struct {
				control.Flow
				State string `json:"state"`
			}{f, f.State()}); err != nil {
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
		rows = append(rows, []string{
			string(f.ID), f.State(), fmt.Sprint(len(f.Agents)), f.Started.Local().Format("Jan _2 15:04"),
			elapsed(f), view.OneLine(f.Task.Text),
		})
	}
	width := 0
	if e.OutTerminal {
		width, _ = e.Size()
	}
	table(e.Out, rows, width)
	return nil
}

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
			wide[i] = max(wide[i], runewidth.StringWidth(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r[:len(r)-1] {
			b.WriteString(cell + strings.Repeat(" ", wide[i]-runewidth.StringWidth(cell)+2))
		}
		last := r[len(r)-1]
		if width > 0 {
			last = fit(last, width-runewidth.StringWidth(b.String())-1)
		}
		fmt.Fprintln(w, b.String()+last)
	}
}

func newRunsShow(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "show ID",
		Short:             "Show how a run stands: agents, answers, votes, cost, result",
		Example:           "  conclave runs show k3f9\n  conclave runs show --json k3f9",
		Args:              args(0, 1, "one run; without any it shows the newest"),
		ValidArgsFunction: e.runIDs(nil),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				id, err := c.Find(cmd.Context(), strings.Join(a, ""))
				if err != nil {
					return err
				}
				return e.showRun(cmd.Context(), c, id, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func (e *env) showRun(ctx context.Context, c control.Control, id event.FlowID, asJSON bool) error {
	var card view.Card
	var result view.Result
	for ev, err := range c.Read(ctx, id) {
		if err != nil {
			return err
		}
		card, result = card.Apply(ev), result.Apply(ev)
	}
	r, err := resolve(ctx, c, result.RunResult())
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.Out, r)
	}
	task, err := c.Text(ctx, card.Task)
	if err != nil {
		return err
	}
	driver, driven, err := c.Driver(ctx, id)
	if err != nil {
		return err
	}
	e.printRun(card, r, task, driver, driven)
	return nil
}

func (e *env) printRun(card view.Card, r view.RunResult, task string, driver control.Driver, driven bool) {
	p := paint(e.Color && e.OutTerminal)
	o := e.Out
	fmt.Fprintf(o, "%s\n%s\n\n", p.bold(string(card.ID)), view.Clean(strings.TrimSpace(task)))
	switch {
	case r.Status != "":
		fmt.Fprintln(o, verdictLine(r))
	case driven:
		fmt.Fprintf(o, "Running, driven by process %d. %s\n", driver.PID, card.Ballot.Sentence())
	default:
		fmt.Fprintf(o, "Not finished and driven by nobody; go on with: conclave resume %s\n", card.ID)
	}
	fmt.Fprintf(o, "%s · started %s · %s\n\n", card.Mode, card.Started.Local().Format("Jan _2 15:04:05"), time.Duration(r.Duration-r.Down).Round(100*time.Millisecond))
	rows := [][]string{{"AGENT", "ID", "STATE", "ANSWERS", "CALLS", "TOKENS", "VOTE"}}
	for _, l := range card.Agents {
		vote := string(l.VoteFor)
		if vote != "" && !l.VoteFresh {
			vote += " (out of date)"
		}
		state := string(l.State)
		if l.Lost != "" {
			state += ": " + view.Shorten(l.Lost, 40)
		}
		rows = append(rows, []string{string(l.Label), string(l.ID), state, fmt.Sprint(l.Answers), fmt.Sprint(l.Calls), tokensOf(r, l.ID), vote})
	}
	table(o, rows, 0)
	for _, v := range r.Coordination.Votes {
		fmt.Fprintf(o, "\n%s for %s: %s", v.Voter, v.For, view.OneLine(v.Reason))
	}
	if t := strings.TrimSpace(r.FinalAnswer.Text); t != "" {
		fmt.Fprintf(o, "\n\n%s\n", view.Clean(t))
	} else {
		fmt.Fprintln(o)
	}
}

func tokensOf(r view.RunResult, a event.AgentID) string {
	for _, u := range r.Usage.Agents {
		if u.Agent == a {
			return fmt.Sprint(u.Input + u.Output)
		}
	}
	return "0"
}

func newRunsCancel(e *env) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:               "cancel ID",
		Short:             "End a run now with what it has, wherever it is driven",
		Example:           "  conclave runs cancel k3f9 --reason \"wrong question\"",
		Args:              args(1, 1, "one run"),
		ValidArgsFunction: e.runIDs(func(f control.Flow) bool { return !f.Finished }),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error { return e.cancelRun(cmd.Context(), c, a[0], reason) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return c
}

// cancelRun asks the run's driver, and waits for the end. A run that nobody
// drives is taken up just to be ended.
func (e *env) cancelRun(ctx context.Context, c control.Control, typed, reason string) error {
	id, err := c.Find(ctx, typed)
	if err != nil {
		return err
	}
	ask := event.Fact{
		ID:   fmt.Sprintf("cancel/%d/%d", os.Getpid(), time.Now().UnixNano()),
		Body: event.CancelRequested{By: "conclave runs cancel", Reason: reason},
	}
	_, driven, err := c.Driver(ctx, id)
	if err != nil {
		return err
	}
	if !driven {
		if err := c.Resume(ctx, id, false, ask); err != nil {
			return err
		}
	} else if err := c.Send(ctx, id, ask); err != nil {
		return err
	}
	return e.awaitEnd(ctx, c, id)
}

func (e *env) awaitEnd(ctx context.Context, c control.Control, id event.FlowID) error {
	for ev, err := range c.Follow(ctx, id) {
		if err != nil {
			return err
		}
		if f, ok := ev.Body.(event.Finished); ok {
			if f.Status != event.StatusCancelled {
				return control.Usagef("%s was already over: %s", id, f.Status)
			}
			fmt.Fprintf(e.Out, "%s is cancelled", id)
			if !f.Answer.Empty() {
				fmt.Fprintf(e.Out, "; what there was: conclave runs show %s", id)
			}
			fmt.Fprintln(e.Out)
			return nil
		}
	}
	return ctx.Err()
}
