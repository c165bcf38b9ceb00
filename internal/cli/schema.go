package cli

import (
	"github.com/spf13/cobra"

	"conclave/internal/config"
)

func newSchema(e *env) *cobra.Command {
	var team bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configurations, or of teams",
		Long: `Schema prints the JSON Schema (draft 2020-12) of configurations, made from the
table by which they are read. An editor that knows it completes and explains
keys. To have the YAML language server use it, begin a configuration with:

  # yaml-language-server: $schema=` + config.SchemaFile + `

With --team it is that of descriptions of teams.`,
		Example: "  conclave schema > " + config.SchemaFile + "\n  conclave schema --team > team.schema.json",
		Args:    args(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			schema := config.Schema
			if team {
				schema = config.TeamSchema
			}
			text, err := schema()
			if err != nil {
				return err
			}
			_, err = e.Out.Write(text)
			return err
		},
	}
	c.Flags().BoolVar(&team, "team", false, "of descriptions of teams")
	return c
}
