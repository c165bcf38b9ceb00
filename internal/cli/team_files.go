package cli

import (
	"context"
	"fmt"

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
				id, member, err := treeOf(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				if cat != "" {
					return e.catTeamFile(cmd.Context(), c, id, member, cat)
				}
				return e.listTeamFiles(cmd.Context(), c, id, member, asJSON)
			})
		},
	}
	c.Flags().StringVar(&cat, "cat", "", "print this `file`")
	c.Flags().BoolVar(&asJSON, "json", false, "print each file as a line of JSON")
	return c
}

// treeOf is the team and the member that are meant; the member is empty for the
// shared tree.
func treeOf(ctx context.Context, c control.Control, a []string) (event.FlowID, event.AgentID, error) {
	id, t, err := findTeam(ctx, c, a[0])
	if err != nil || len(a) == 1 {
		return id, "", err
	}
	m, err := memberOf(t, a[1])
	if err == nil && m.Dir == "" {
		err = control.Usagef("%s has no files of its own yet", m.Agent)
	}
	return id, m.Agent, err
}

func (e *env) listTeamFiles(ctx context.Context, c control.Control, id event.FlowID, member event.AgentID, asJSON bool) error {
	files, err := c.TeamFiles(ctx, id, member)
	if err != nil {
		return err
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
				id, member, err := treeOf(cmd.Context(), c, a)
				if err != nil {
					return err
				}
				return form.show(e,
					func() ([]control.FileDiff, error) { return c.TeamDiff(cmd.Context(), id, member) },
					func() ([]byte, error) { return c.TeamPatch(cmd.Context(), id, member) })
			})
		},
	}
	form.flags(c.Flags())
	return c
}
