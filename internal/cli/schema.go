package cli

import (
	"github.com/spf13/cobra"

	"conclave/internal/config"
)

func newSchema(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configurations",
		Long: `Schema prints the JSON Schema (draft 2020-12) of configurations, made from the
table by which they are read. An editor that knows it completes and explains
keys. To have the YAML language server use it, begin a configuration with:

  # yaml-language-server: $schema=` + config.SchemaFile,
		Example: "  conclave schema > " + config.SchemaFile,
		Args:    args(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = e.Out.Write(text)
			return err
		},
	}
}
