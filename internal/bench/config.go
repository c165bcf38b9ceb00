package main

import (
	"context"
	"fmt"
	"strings"

	"conclave/internal/config"

	"github.com/goccy/go-yaml"
)

// validation checks a configuration of 1,000 lines. The floor is reading the
// same text as YAML without looking at it.
func validation(context.Context, string) ([]row, error) {
	var b strings.Builder
	b.WriteString("agents:\n")
	for i := range 125 {
		fmt.Fprintf(&b, "  - id: agent-%d\n    system_message: \"You are number %d of many.\"\n    backend:\n      type: claude\n      model: claude-sonnet-4-5\n      temperature: 0.%d\n      max_tokens: %d\n      enable_web_search: true\n", i, i, i%10, 1000+i)
	}
	src := []byte(b.String())
	f, o, err := paired(21,
		func() error { var v any; return yaml.Unmarshal(src, &v) },
		func() error { _, err := config.Parse("team.yaml", src); return err })
	if err != nil {
		return nil, err
	}
	return []row{against("a configuration of 1,000 lines validated", "parsed as YAML", f, o, 3)}, nil
}
