package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

func newTeam(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:     "team",
		Aliases: []string{"teams"},
		Short:   "A leader and members who pass work on",
		Long: `A team is a leader and members of different roles. The leader brings members
in, sets them tasks, waits for them, reads and merges what they bring and
finishes. Each member works in a tree of its own. What there is to choose
from: conclave team list --kinds`,
		Example: `  conclave team run product "A landing page for a bakery"
  conclave team message k3f9 --to front-end "Use a warm background"
  conclave team show k3f9
  conclave team stop k3f9`,
		Args: args(0, 0, "a command: run, watch, list, show, wait, message, wrap-up, stop, files or diff"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newTeamRun(e), newTeamWatch(e), newTeamList(e), newTeamShow(e), newTeamWait(e), newTeamMessage(e), newTeamWrapUp(e), newTeamStop(e),
		newTeamFiles(e), newTeamDiff(e))
	return c
}

// isTeam reports whether a flow is a team, by its name if it cannot be read.
func isTeam(f control.Flow) bool {
	return f.Kind == view.KindTeam || f.Kind == "" && namesTeam(f.ID)
}

func namesTeam(id event.FlowID) bool { return strings.HasPrefix(string(id), view.KindTeam+"-") }

// teamIDs completes ids of teams, and after one the names of its members.
func (e *env) teamIDs(members bool) cobra.CompletionFunc {
	ids := e.runIDs(isTeam)
	return func(cmd *cobra.Command, a []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(a) != 1 || !members {
			return ids(cmd, a, typed)
		}
		var out []cobra.Completion
		_ = e.with(func(c control.Control) error {
			_, t, err := findTeam(cmd.Context(), c, a[0])
			for _, m := range t.Members {
				out = append(out, cobra.CompletionWithDesc(string(m.Agent), m.Role))
			}
			return err
		})
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// findTeam finds what a person has typed where a team is meant: other flows do not
// make it ambiguous.
func findTeam(ctx context.Context, c control.Control, typed string) (event.FlowID, view.Team, error) {
	id, err := c.Find(ctx, typed)
	if none, ok := errors.AsType[*control.NotFound](err); ok {
		other := func(id event.FlowID) bool { return !namesTeam(id) }
		teams := slices.DeleteFunc(slices.Clone(none.Several), other)
		if len(teams) == 1 {
			id, err = teams[0], nil
		} else {
			err = &control.NotFound{What: "team", Typed: typed, Several: teams, Nearest: slices.DeleteFunc(slices.Clone(none.Nearest), other)}
		}
	}
	if err != nil {
		return "", view.Team{}, err
	}
	s, err := c.Open(ctx, id)
	switch {
	case err != nil:
		return "", view.Team{}, err
	case s.Team == nil:
		return "", view.Team{}, control.Usagef("%s is not a team; see: conclave team list", id)
	}
	return id, *s.Team, nil
}

// memberOf is the member a person means.
func memberOf(t view.Team, typed string) (view.TeamMember, error) {
	var names []string
	for _, m := range t.Members {
		if string(m.Agent) == typed {
			return m, nil
		}
		names = append(names, string(m.Agent))
	}
	for _, r := range t.Started.Roles {
		if r.Name == typed && t.Ended == nil {
			return view.TeamMember{}, control.Usagef("%s is a role that has not been brought in yet; write to the leader: conclave team message %s \"text\"", typed, t.ID)
		}
	}
	return view.TeamMember{}, control.Usagef("%s has no member %q; it has: %s", t.ID, typed, strings.Join(names, ", "))
}

func newTeamList(e *env) *cobra.Command {
	var kinds, asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List teams, or the descriptions there are",
		Long: `List lists the teams of this project. With --kinds it lists the descriptions
that a team can be begun with: those in .conclave/teams, those in the teams
folder of your own configuration, and the ones that come with the program.`,
		Example: "  conclave team list\n  conclave team list --kinds",
		Args:    args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.with(func(c control.Control) error {
				if kinds {
					return e.listKinds(cmd.Context(), c, asJSON)
				}
				return e.listTeams(cmd.Context(), c, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&kinds, "kinds", false, "list the descriptions there are")
	c.Flags().BoolVar(&asJSON, "json", false, "print each as a line of JSON")
	return c
}

func (e *env) listKinds(ctx context.Context, c control.Control, asJSON bool) error {
	kinds, err := c.TeamKinds(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"TEAM", "ROLES", "ABOUT"}}
	var problems []control.TeamKind
	for _, k := range kinds {
		if asJSON {
			if err := printJSON(e.Out, k); err != nil {
				return err
			}
			continue
		}
		about := k.About
		if k.Problem != "" {
			about = "cannot be used; why is said below"
			problems = append(problems, k)
		}
		rows = append(rows, []string{k.Name, strings.Join(k.Roles, ", "), view.OneLine(about)})
	}
	if !asJSON {
		e.table(rows)
	}
	for _, k := range problems {
		fmt.Fprintf(e.Out, "\n%s cannot be used:\n%s", view.OneLine(k.Name), indented(k.Problem))
	}
	return nil
}

func (e *env) listTeams(ctx context.Context, c control.Control, asJSON bool) error {
	flows, err := c.Flows(ctx)
	if err != nil {
		return err
	}
	flows = slices.DeleteFunc(flows, func(f control.Flow) bool { return !isTeam(f) })
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
		fmt.Fprintln(e.Err, "there are no teams here yet; begin one with: conclave team run product \"what it is to bring about\"")
		return nil
	}
	rows := [][]string{{"TEAM", "STATUS", "MEMBERS", "TASKS", "STARTED", "TITLE"}}
	for _, f := range flows {
		row := []string{string(f.ID), f.State(), "", "", "", view.OneLine(f.Damaged)}
		if f.Damaged == "" {
			row = []string{
				string(f.ID), f.State(), fmt.Sprint(len(f.Agents)), fmt.Sprintf("%d of %d", f.Done, f.Todos),
				f.Started.Local().Format("Jan _2 15:04"), view.Shorten(f.Task.Text, longestTask),
			}
		}
		rows = append(rows, row)
	}
	e.table(rows)
	return nil
}

// table prints rows as wide as the terminal is.
func (e *env) table(rows [][]string) {
	width := 0
	if e.OutTerminal {
		width, _ = e.Size()
	}
	table(e.Out, rows, width)
}
