package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

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
	s, err := c.Open(ctx, id)
	if err != nil {
		return err
	}
	if s.Session != nil {
		return e.showSession(ctx, c, *s.Session, asJSON)
	}
	if s.Team != nil && asJSON {
		return printJSON(e.Out, *s.Team)
	}
	if s.Team != nil {
		return e.showTeam(ctx, c, *s.Team, false, false)
	}
	r, err := resolve(ctx, c, s.Result.RunResult())
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.Out, r)
	}
	task, err := c.Text(ctx, s.Card.Task)
	if err != nil {
		return err
	}
	driver, driven, err := c.Driver(ctx, id)
	if err != nil {
		return err
	}
	e.printRun(s.Card, r, task, driver, driven)
	return e.printQuestions(ctx, c, s.Card)
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
	took := time.Duration(r.Duration - r.Down)
	if driven {
		took = card.Elapsed(time.Now())
	}
	cost := ""
	if r.Usage.Total.CostUSD > 0 || r.Usage.Total.Unpriced > 0 {
		cost = " · " + r.Usage.Total.Cost()
	}
	fmt.Fprintf(o, "%s · started %s · %s%s\n\n", card.Mode, card.Started.Local().Format("Jan _2 15:04:05"), took.Round(100*time.Millisecond), cost)
	rows := [][]string{{"AGENT", "ID", "STATE", "ANSWERS", "CALLS", "TOKENS", "VOTE"}}
	for _, l := range card.Agents {
		vote := string(l.VoteFor)
		if vote != "" && !l.VoteFresh {
			vote += " (out of date)"
		}
		state := string(l.State)
		if l.Lost != "" {
			state = view.Shorten(l.Gone(), 46)
		}
		rows = append(rows, []string{string(l.Label), string(l.ID), state, fmt.Sprint(l.Answers), fmt.Sprint(l.Calls), tokensOf(r, l.ID), vote})
	}
	table(o, rows, 0)
	for i, v := range r.Coordination.Votes {
		if i == 0 {
			fmt.Fprintln(o)
		}
		note := ""
		if !v.Counted {
			note = " (not counted)"
		}
		fmt.Fprintf(o, "%s for %s%s: %s\n", v.Voter, v.For, note, view.OneLine(v.Reason))
	}
	if t := strings.TrimSpace(r.FinalAnswer.Text); t != "" {
		fmt.Fprintf(o, "\n%s\n", view.Clean(t))
	}
	footer(o, r)
}

func tokensOf(r view.RunResult, a event.AgentID) string {
	for _, u := range r.Usage.Agents {
		if u.Agent == a {
			return fmt.Sprint(u.Input + u.Output)
		}
	}
	return "0"
}

// printQuestions shows what a run waits for, all of it: this is where a person
// looks before they answer.
func (e *env) printQuestions(ctx context.Context, c control.Control, card view.Card) error {
	for _, g := range card.Gates {
		what, err := c.Text(ctx, g.Text)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "\nWaiting for you: %s\n%s  allow it:   conclave approve %[3]s %[4]s\n  refuse it:  conclave deny %[3]s %[4]s\n",
			view.OneLine(g.Title), indented(what), card.ID, sign(g.Gate))
	}
	return nil
}
