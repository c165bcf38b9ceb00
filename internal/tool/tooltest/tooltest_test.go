package tooltest_test

import (
	"context"
	"testing"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/tooltest"
	"conclave/internal/tool/typed"
)

type in struct {
	Line string   `json:"line" jsonschema_description:"A line."`
	More []string `json:"more,omitempty" jsonschema_description:"Further lines."`
	N    int      `json:"n,omitempty" jsonschema_description:"How often."`
	Loud bool     `json:"loud,omitempty" jsonschema_description:"In capitals."`
}

// A tool that does as it should passes.
func TestRun(t *testing.T) {
	tooltest.Run(t, func(*testing.T) []tool.Tool {
		return []tool.Tool{typed.New(typed.Spec[in]{
			Name: "echo", About: "Says it once more.",
			Action: func(i in) policy.Action { return policy.Action{Kind: policy.Other, Target: i.Line} },
			Run: func(_ context.Context, i in) (tool.Result, error) {
				return tool.Result{Text: "You said: " + i.Line}, nil
			},
		})}
	})
}
