package todo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"conclave/internal/tool"
	"conclave/internal/tool/todo"
	"conclave/internal/tool/tooltest"

	"github.com/google/go-cmp/cmp"
)

// desk writes down what it is asked to do.
type desk struct{}

func did(format string, args ...any) (tool.Result, error) {
	return tool.Result{Text: fmt.Sprintf(format, args...)}, nil
}

func (desk) Stage(_ context.Context, name string, todos []string) (tool.Result, error) {
	return did("stage %q %q", name, todos)
}
func (desk) Complete(_ context.Context, ids []string, note string) (tool.Result, error) {
	return did("complete %q %q", ids, note)
}
func (desk) List(context.Context) (tool.Result, error) { return did("list") }
func (desk) Rewind(_ context.Context, issue string) (tool.Result, error) {
	return did("rewind %q", issue)
}
func (desk) Finish(_ context.Context, o todo.Outcome) (tool.Result, error) {
	return did("finish %q %q %v %q", o.Summary, o.Deliverables, o.Confidence, o.Notes)
}
func (desk) Address(_ context.Context, comment string, changed bool, text string) (tool.Result, error) {
	return did("address %q %t %q", comment, changed, text)
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(*testing.T) []tool.Tool { return all() })
}

func all() []tool.Tool {
	out := todo.Strategic(desk{}, true)
	return append(out, todo.Tactical(desk{})[2])
}

func names(tools []tool.Tool) []string {
	var out []string
	for _, x := range tools {
		out = append(out, x.Name())
	}
	return out
}

// Each phase has the tools that mean something in it.
func TestPhases(t *testing.T) {
	if diff := cmp.Diff([]string{"next_phase_todos", "todo_complete", "todo_list", "job_complete"}, names(todo.Strategic(desk{}, false))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"next_phase_todos", "todo_complete", "todo_list", "job_complete", "address_comment"}, names(todo.Strategic(desk{}, true))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"todo_complete", "todo_list", "todo_rewind"}, names(todo.Tactical(desk{}))); diff != "" {
		t.Error(diff)
	}
}

// What models write is read as they mean it, and nonsense is answered with what
// to do.
func TestCalls(t *testing.T) {
	for _, tt := range []struct {
		tool, input, want string
		failed            bool
	}{
		{tool: "todo_complete", input: `{}`, want: `complete [] ""`},
		{tool: "todo_complete", input: `{"todo_id":""}`, want: `complete [] ""`},
		{tool: "todo_complete", input: `{"todo_id":"2","note":" It is there. "}`, want: `complete ["2"] "It is there."`},
		{tool: "todo_complete", input: `{"todo_id":"1, 2;todo_3 #4"}`, want: `complete ["1" "2" "todo_3" "#4"] ""`},
		{tool: "todo_complete", input: `{"id":"1"}`, want: `There is no field "id" here. The fields are: todo_id (optional), note (optional).`, failed: true},
		{tool: "todo_list", input: `{}`, want: `list`},
		{tool: "next_phase_todos", input: `{"todos":[" Read the\n offers. ","Compare them."],"phase_name":"Compare"}`, want: `stage "Compare" ["Read the offers." "Compare them."]`},
		{tool: "next_phase_todos", input: `{"todos":"Read."}`, want: `The field "phase_name" is missing. The fields are: todos, phase_name.`, failed: true},
		{tool: "todo_rewind", input: `{"issue":"There are no prices."}`, want: `rewind "There are no prices."`},
		{tool: "todo_rewind", input: `{"issue":" "}`, want: `Say in issue what is wrong with the plan: that is what the next one is made from.`, failed: true},
		{tool: "job_complete", input: `{"summary":"Done.","deliverables":["output/a.md"],"confidence":0.8,"notes":"Check b."}`, want: `finish "Done." ["output/a.md"] 0.8 "Check b."`},
		{tool: "job_complete", input: `{"summary":""}`, want: `Say in summary what was done and what came of it.`, failed: true},
		{tool: "job_complete", input: `{"summary":"Done.","confidence":80}`, want: `The confidence is a number from 0 to 1.`, failed: true},
		{tool: "address_comment", input: `{"comment":"c7","changed":true,"text":"Risks: added it."}`, want: `address "c7" true "Risks: added it."`},
		{tool: "address_comment", input: `{"comment":"c7","changed":false,"text":""}`, want: `Say in text what you changed and where, or why you changed nothing.`, failed: true},
	} {
		tools := all()
		x := tools[slices.Index(names(tools), tt.tool)]
		got, err := x.Run(t.Context(), json.RawMessage(tt.input))
		if err != nil || got.Text != tt.want || got.Error != tt.failed {
			t.Errorf("%s %s: %q, failed %t, %v; want %q", tt.tool, tt.input, got.Text, got.Error, err, tt.want)
		}
	}
}

// A todo is known by what people have called it, and by what models make of that.
func TestMeant(t *testing.T) {
	for _, tt := range []struct {
		name string
		ids  []string
		want string
	}{
		{"2", []string{"1", "2"}, "2"},
		{"todo_2", []string{"1", "2"}, "2"},
		{"#2", []string{"1", "2"}, "2"},
		{"Todo-2", []string{"1", "2"}, "2"},
		{"todo_2", []string{"2", "todo_2"}, "todo_2"},
		{"todo_1", []string{"todo_1", "todo_2"}, "todo_1"},
		{"TODO_1", []string{"todo_1"}, "todo_1"},
		{"B", []string{"a", "b", "B"}, "B"},
		{"b", []string{"A", "B"}, "B"},
		{"todo_7", []string{"1"}, "7"},
	} {
		if got := todo.Meant(tt.name, tt.ids); got != tt.want {
			t.Errorf("%q among %q is %q, want %q", tt.name, tt.ids, got, tt.want)
		}
	}
}
