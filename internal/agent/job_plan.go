package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/policy"
	"conclave/internal/tool"
)

// drafts are the files that may be written while a job plans.
var drafts = []string{"plan.md", "workspace.md"}

// planning are the tools of those for somebody who plans: all that look, and those
// that write the files of the plan, held to them. Nothing else is there to be
// called, whatever the model is talked into.
func (t *turn) planning(all []tool.Tool) []tool.Tool {
	var out []tool.Tool
	for _, x := range all {
		a, acts := x.(tool.Actor)
		switch {
		case x.Tier() == tool.Read:
			out = append(out, x)
		case acts && slices.Contains(draftTools, x.Name()):
			out = append(out, drafter{x, a, t.hand.Scene().Workspace})
		}
	}
	return out
}

// draftTools are the tools that write a file and do nothing else.
var draftTools = []string{"write", "edit"}

// drafter is a tool that writes, held to the files of the plan. The place the agent
// works in has nothing else to write either; this says so in words.
type drafter struct {
	tool.Tool
	acts tool.Actor
	dir  string // the workspace
}

func (d drafter) Description() string {
	return d.Tool.Description() + "\n\nIn this phase the only files that can be written are " + strings.Join(drafts, " and ") + "."
}

// Action implements [tool.Actor].
func (d drafter) Action(input json.RawMessage) policy.Action { return d.acts.Action(input) }

func (d drafter) Run(ctx context.Context, input json.RawMessage) (tool.Result, error) {
	a := d.acts.Action(input)
	for _, x := range append([]policy.Action{a}, a.Also...) {
		if x.Kind != policy.Other && !d.drafts(x.Target) {
			return tool.Failed(fmt.Sprintf("%s is not written in this phase, which plans: only %s are. Plan it as a todo of the next phase.", x.Target, strings.Join(drafts, " and "))), nil
		}
	}
	return d.Tool.Run(ctx, input)
}

// drafts reports whether a path is that of a file of the plan.
func (d drafter) drafts(path string) bool {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(d.dir, path)
		if err != nil {
			return false
		}
		path = rel
	}
	return slices.Contains(drafts, filepath.ToSlash(filepath.Clean(path)))
}
