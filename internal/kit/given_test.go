package kit_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/kit"
	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/workspace"
)

// doer is a tool that does what it is told to say it does.
type doer struct{ does policy.Action }

func (doer) Name() string            { return "shell" }
func (doer) Description() string     { return "" }
func (doer) Schema() json.RawMessage { return nil }
func (doer) Tier() tool.Tier         { return tool.World }
func (doer) Run(context.Context, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, nil
}
func (d doer) Action(json.RawMessage) policy.Action { return d.does }

// What was permitted for good in a workspace is permitted in the workspace of the
// next run, which is another folder, and nowhere else.
func TestGivenInTheWorkspace(t *testing.T) {
	b := newBench(t)
	g := gear.Gear{Files: true, Permissions: policy.Permissions{Otherwise: policy.Ask}}
	first := open(t, b.kit(t, "agent1", g), work)
	in := func(dir, command string) doer {
		return doer{policy.Action{Tool: "shell", Kind: policy.Command, Target: command, Dir: dir, Also: []policy.Action{{Kind: policy.Write, Target: filepath.Join(dir, "out")}}}}
	}
	if err := first.Remember(in(filepath.Join(b.last.Dir, "sub"), "make").does); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.State, "runs", "run-2")
	run, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b.Flow, b.Run, b.Spec = "run-2", run, event.RunSpec{Dir: dir}
	old := b.last.Dir
	second := open(t, b.kit(t, "agent2", g), work)
	if old == b.last.Dir {
		t.Fatal("both runs have the same workspace")
	}
	for _, c := range []struct {
		what doer
		want policy.Decision
	}{
		{in(filepath.Join(b.last.Dir, "sub"), "make"), policy.Allow},
		{in(filepath.Join(b.last.Dir, "sub"), "make install"), policy.Ask},
		{in(b.last.Dir, "make"), policy.Ask},
		{in(filepath.Join(old, "sub"), "make"), policy.Ask},
		{in("the workspace/sub", "make"), policy.Ask},
		{in(filepath.Join(b.project, "sub"), "make"), policy.Ask},
	} {
		if _, v := second.Judge(c.what, event.ToolCall{Name: "shell"}); v.Decision != c.want {
			t.Errorf("%s in %s: %+v", c.what.does.Target, c.what.does.Dir, v)
		}
	}
}

// Two runs at once keep what either was permitted.
func TestGivenByTwoRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "permissions.json")
	one, err := kit.OpenGiven(file)
	if err != nil {
		t.Fatal(err)
	}
	two, err := kit.OpenGiven(file)
	if err != nil {
		t.Fatal(err)
	}
	for g, command := range map[*kit.Given]string{one: "make", two: "make test"} {
		if err := g.Add(policy.Action{Tool: "shell", Kind: policy.Command, Target: command}); err != nil {
			t.Fatal(err)
		}
	}
	last, err := kit.OpenGiven(file)
	if err != nil || len(last.All()) != 2 {
		t.Errorf("%d are kept: %v", len(last.All()), err)
	}
}
