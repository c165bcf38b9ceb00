package team_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"conclave/internal/tool"
	"conclave/internal/tool/team"
	"conclave/internal/tool/tooltest"

	"github.com/google/go-cmp/cmp"
)

// desk writes down what it is asked to do.
type desk struct{}

func did(format string, args ...any) (tool.Result, error) {
	return tool.Result{Text: fmt.Sprintf(format, args...)}, nil
}

func (desk) Spawn(_ context.Context, s team.Spawn) (tool.Result, error) { return did("spawn %+v", s) }
func (desk) Assign(_ context.Context, s team.Assign) (tool.Result, error) {
	return did("assign %+v", s)
}
func (desk) Send(_ context.Context, to []string, text string) (tool.Result, error) {
	return did("send %q %q", to, text)
}
func (desk) Wait(_ context.Context, w team.Wait) (tool.Result, error) { return did("wait %+v", w) }
func (desk) List(context.Context) (tool.Result, error)                { return did("list") }
func (desk) Merge(_ context.Context, member, prefer string) (tool.Result, error) {
	return did("merge %q %q", member, prefer)
}
func (desk) Finish(_ context.Context, o team.Outcome) (tool.Result, error) {
	return did("finish %+v", o)
}
func (desk) Report(_ context.Context, r team.Report) (tool.Result, error) {
	return did("report %+v", r)
}
func (desk) Ask(_ context.Context, question string) (tool.Result, error) {
	return did("ask %q", question)
}

func all() []tool.Tool {
	return append(team.Leader(desk{}), team.Member(desk{})[:2]...)
}

func names(tools []tool.Tool) []string {
	var out []string
	for _, x := range tools {
		out = append(out, x.Name())
	}
	return out
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(*testing.T) []tool.Tool { return all() })
}

// The leader has the tools with which it leads, and members those with which they
// report.
func TestTools(t *testing.T) {
	if diff := cmp.Diff([]string{"spawn_member", "assign", "send_message", "wait_for", "list_members", "merge", "finish"}, names(team.Leader(desk{}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"report", "ask_leader", "send_message", "list_members"}, names(team.Member(desk{}))); diff != "" {
		t.Error(diff)
	}
	var end []string
	for _, n := range names(all()) {
		if team.Ends(n) {
			end = append(end, n)
		}
	}
	if diff := cmp.Diff([]string{"wait_for", "finish", "ask_leader"}, end); diff != "" {
		t.Error(diff)
	}
}

// What models write is read as they mean it, and nonsense is answered with what to
// do.
func TestCalls(t *testing.T) {
	for _, tt := range []struct {
		tool, input, want string
		failed            bool
	}{
		{tool: "spawn_member", input: `{"role":" PM ","task":"prd","title":" Write\n it ","detail":"All of it.\n"}`, want: `spawn {Role:pm Name: Assign:{Member: Task:prd Title:Write it Detail:All of it.}}`},
		{tool: "spawn_member", input: `{"role":"pm","name":"@PM-2","task":"#prd","title":"x","detail":""}`, want: `spawn {Role:pm Name:pm-2 Assign:{Member:pm-2 Task:prd Title:x Detail:}}`},
		{tool: "spawn_member", input: `{"role":"pm","task":" ","title":"x","detail":""}`, want: `Give the task a short name in task, such as api-design.`, failed: true},
		{tool: "spawn_member", input: `{"role":"","task":"x","title":"x","detail":""}`, want: `Say in role which of the team's roles the member has.`, failed: true},
		{tool: "assign", input: `{"member":"pm","task":"prd","title":"","detail":""}`, want: `Say in title in one line what is to be done.`, failed: true},
		{tool: "assign", input: `{"member":"pm","task":"prd","title":"Again","detail":"Shorter."}`, want: `assign {Member:pm Task:prd Title:Again Detail:Shorter.}`},
		{tool: "send_message", input: `{"to":["PM","all",""],"text":" Hello. "}`, want: `send ["pm" "all"] "Hello."`},
		{tool: "send_message", input: `{"to":[],"text":"x"}`, want: `Say in to whom the message is for.`, failed: true},
		{tool: "send_message", input: `{"to":["pm"],"text":" "}`, want: `Say in text what you want to tell them.`, failed: true},
		{tool: "wait_for", input: `{}`, want: `wait {Members:[] All:false For:0s}`},
		{tool: "wait_for", input: `{"members":["a","b"],"all":true,"minutes":2.5}`, want: `wait {Members:[a b] All:true For:2m30s}`},
		{tool: "wait_for", input: `{"minutes":-1}`, want: `The minutes are a number above 0; leave them out to wait as long as it takes.`, failed: true},
		{tool: "wait_for", input: `{"minutes":1e300}`, want: `wait {Members:[] All:false For:168h0m0s}`},
		{tool: "list_members", input: `{}`, want: `list`},
		{tool: "merge", input: `{"member":"pm"}`, want: `merge "pm" ""`},
		{tool: "merge", input: `{"member":"pm","prefer":"theirs"}`, want: `merge "pm" "member"`},
		{tool: "merge", input: `{"member":"pm","prefer":"mine"}`, want: `merge "pm" "shared"`},
		{tool: "merge", input: `{"member":"pm","prefer":"best"}`, want: `Prefer is "member" or "shared"; leave it out to be shown the conflicts.`, failed: true},
		{tool: "finish", input: `{"summary":"Done.","deliverables":["./index.html"," "]}`, want: `finish {Summary:Done. Deliverables:[index.html] Failed:false Abandon:}`},
		{tool: "finish", input: `{"summary":" "}`, want: `Say in summary what was made and what came of it.`, failed: true},
		{tool: "report", input: `{"task":"prd","state":"Done","summary":"It is there.","files":["docs/prd.md"]}`, want: `report {Task:prd State:done Summary:It is there. Files:[docs/prd.md]}`},
		{tool: "report", input: `{"state":"completed","summary":"x"}`, want: `report {Task: State:done Summary:x Files:[]}`},
		{tool: "report", input: `{"task":"prd","state":"open","summary":"x"}`, want: `The state is done, blocked or failed.`, failed: true},
		{tool: "report", input: `{"task":"prd","state":"done","summary":""}`, want: `Say in summary what you made, or what stands in the way.`, failed: true},
		{tool: "ask_leader", input: `{"question":"Which?"}`, want: `ask "Which?"`},
		{tool: "ask_leader", input: `{"question":""}`, want: `Say in question what you want to know.`, failed: true},
	} {
		tools := all()
		x := tools[slices.Index(names(tools), tt.tool)]
		got, err := x.Run(t.Context(), json.RawMessage(tt.input))
		if err != nil || got.Text != tt.want || got.Error != tt.failed {
			t.Errorf("%s %s: %q, failed %t, %v; want %q", tt.tool, tt.input, got.Text, got.Error, err, tt.want)
		}
	}
}
