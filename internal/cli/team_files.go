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

func newTeamFiles(e *env) *cobra.Command {
	var cat string
	var asJSON bool
	c := &cobra.Command{
		Use:   "files ID [MEMBER]",
		Short: "List what a team, or a member, has made, or print a file",
		Long: `Files lists the shared tree of a team as it is committed, or with MEMBER the
tree of that one. With --cat it prints a file of it.`,
		Example: `  conclave team files k3f9
  conclave team files k3f9 front-end
  conclave team files k3f9 --cat requirements.md`,
		Args:              args(1, 2, "one team and at most one of its members"),
		ValidArgsFunction: e.teamIDs(true),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				t, member, err := treeOf(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				if cat != "" {
					return e.catTeamFile(cmd.Context(), c, t.ID, member, cat)
				}
				return e.listTeamFiles(cmd.Context(), c, t, member, asJSON)
			})
		},
	}
	c.Flags().StringVar(&cat, "cat", "", "print this `file`")
	c.Flags().BoolVar(&asJSON, "json", false, "print each file as a line of JSON")
	return c
}

// treeOf is the team and the member that are meant; the member is empty for the
// shared tree.
func treeOf(ctx context.Context, c control.Control, a []string) (view.Team, event.AgentID, error) {
	id, t, err := findTeam(ctx, c, a[0])
	t.ID = id
	if err != nil || len(a) == 1 {
		return t, "", err
	}
	m, err := memberOf(t, a[1])
	switch {
	case err != nil && strings.ContainsAny(a[1], "./"): // as no name of a member has them
		err = fmt.Errorf("%w\nIf %q is a file, print it with: conclave team files %s --cat %[2]q", err, a[1], id)
	case err == nil && m.Dir == "":
		err = control.Usagef("%s has no files of its own yet", m.Agent)
	}
	return t, m.Agent, err
}

// sayEmpty says that there is nothing to show of a tree, and of the shared one where
// the work is that was not merged into it.
func (e *env) sayEmpty(t view.Team, member event.AgentID, command string) {
	what := "there is nothing in the shared tree of " + string(t.ID)
	if member != "" {
		what = fmt.Sprintf("there is nothing in the tree of %s", member)
	}
	if command == "diff" {
		what = strings.Replace(what, "there is nothing", "nothing has changed", 1)
	}
	var apart []string
	for _, m := range t.Members {
		if m.Unmerged && member == "" {
			apart = append(apart, fmt.Sprintf("  conclave team %s %s %s\n", command, t.ID, m.Agent))
		}
	}
	if len(apart) > 0 {
		what += "; there is work that was not merged into it, see it with:"
	}
	fmt.Fprintf(e.Err, "%s\n%s", what, strings.Join(apart, ""))
}

func (e *env) listTeamFiles(ctx context.Context, c control.Control, t view.Team, member event.AgentID, asJSON bool) error {
	files, err := c.TeamFiles(ctx, t.ID, member)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		e.sayEmpty(t, member, "files")
	}
	for _, f := range files {
		if asJSON {
			if err := printJSON(e.Out, f); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(e.Out, "%10d  %s\n", f.Size, view.OneLine(f.Path))
	}
	return nil
}

// catTeamFile prints a file: as it is for a program, and without what a terminal
// would act on for a person.
func (e *env) catTeamFile(ctx context.Context, c control.Control, id event.FlowID, member event.AgentID, path string) error {
	_, text, err := c.TeamFile(ctx, id, member, path)
	if err != nil {
		return err
	}
	if e.OutTerminal {
		text = []byte(view.Clean(string(text)))
	}
	_, err = e.Out.Write(text)
	return err
}

func newTeamDiff(e *env) *cobra.Command {
	var form diffForm
	c := &cobra.Command{
		Use:   "diff ID [MEMBER]",
		Short: "Show what a team, or a member, has changed",
		Long: `Diff shows what the shared tree has become since the team began, or with
MEMBER what that one has changed since it did. Where it does not go to a
terminal, or with --patch, it is one that git apply takes.`,
		Example:           "  conclave team diff k3f9\n  conclave team diff k3f9 back-end\n  conclave team diff k3f9 | git apply",
		Args:              args(1, 2, "one team and at most one of its members"),
		ValidArgsFunction: e.teamIDs(true),
		RunE: func(cmd *cobra.Command, a []string) error {
			return e.with(func(c control.Control) error {
				t, member, err := treeOf(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				empty := false
				err = form.show(e,
					func() ([]control.FileDiff, error) {
						diff, err := c.TeamDiff(cmd.Context(), t.ID, member)
						empty = len(diff) == 0
						return diff, err
					},
					func() ([]byte, error) {
						patch, err := c.TeamPatch(cmd.Context(), t.ID, member)
						empty = len(patch) == 0
						return patch, err
					})
				if err == nil && empty {
					e.sayEmpty(t, member, "diff")
				}
				return err
			})
		},
	}
	form.flags(c.Flags())
	return c
}
