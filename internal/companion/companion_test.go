package companion_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/companion"
	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/tool/tooltest"
	"conclave/internal/view"
)

const mine event.FlowID = "job-1"

// eyes see one job, and fail a test that looks at any other.
type eyes struct {
	t     testing.TB
	job   view.Job
	files map[string]string
	log   []event.Event
}

func (e *eyes) own(id event.FlowID) {
	if id != mine {
		e.t.Errorf("looked at %q", id)
	}
}

func (e *eyes) Open(_ context.Context, id event.FlowID) (view.Snapshot, error) {
	e.own(id)
	return view.Snapshot{Job: &e.job}, nil
}

func (e *eyes) Read(_ context.Context, id event.FlowID) iter.Seq2[event.Event, error] {
	e.own(id)
	return func(yield func(event.Event, error) bool) {
		for _, x := range e.log {
			if !yield(x, nil) {
				return
			}
		}
	}
}

func (e *eyes) Text(_ context.Context, c event.Content) (string, error) { return c.Text, nil }

func (e *eyes) JobFiles(_ context.Context, id event.FlowID, _ string) ([]control.JobFile, error) {
	e.own(id)
	var out []control.JobFile
	for name, text := range e.files {
		out = append(out, control.JobFile{Path: name, Size: int64(len(text))})
	}
	slices.SortFunc(out, func(a, b control.JobFile) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func (e *eyes) JobFile(_ context.Context, id event.FlowID, path, _ string) (control.JobFile, []byte, error) {
	e.own(id)
	text, ok := e.files[path]
	if !ok {
		return control.JobFile{}, nil, &fs.PathError{Op: "read", Path: "/home/somebody/" + path, Err: fs.ErrNotExist}
	}
	return control.JobFile{Path: path, Size: int64(len(text)), Commit: "0123456789abcdef", Edit: path != "documents/offer.md"}, []byte(text), nil
}

func (e *eyes) JobDiff(_ context.Context, id event.FlowID, from, to, _ string) ([]control.FileDiff, error) {
	e.own(id)
	return []control.FileDiff{{Path: "plan.md", Kind: "changed", Hunks: []control.Hunk{{Old: 1, New: 1, Lines: []control.DiffLine{{Op: "-", Text: from}, {Op: "+", Text: to}}}}}}, nil
}

func (e *eyes) JobLog(_ context.Context, id event.FlowID, _ int) ([]control.Commit, error) {
	e.own(id)
	return []control.Commit{{Hash: "0123456789abcdef", Author: "ada", Subject: "Todo 1", Tags: []string{"phase-1"}}}, nil
}

func (e *eyes) Search(_ context.Context, id event.FlowID, q control.SearchQuery) (control.SearchResult, error) {
	e.own(id)
	return control.SearchResult{Hits: []control.SearchHit{{Path: "plan.md", First: 2, Last: 3, Text: "Buy A.", Why: strings.Join(q.Queries, "+") + " " + q.Mode}}}, nil
}

func (e *eyes) Audit(_ context.Context, id event.FlowID, _ control.AuditQuery) (control.AuditPage, error) {
	e.own(id)
	return control.AuditPage{Rows: []view.AuditRow{{Seq: 7, Title: "ada called read", Preview: "plan.md", Tokens: 12}}, Next: 7}, nil
}

func (e *eyes) LLMRequest(_ context.Context, id event.FlowID, seq uint64) (control.LLMRequest, error) {
	e.own(id)
	if seq != 7 {
		return control.LLMRequest{}, &control.NotFound{What: "model call", Typed: "that"}
	}
	return control.LLMRequest{Seq: 7, System: "Plan.", Messages: []control.LLMMessage{{From: "user", Text: "Begin"}}, Reply: control.LLMMessage{From: "assistant", Text: strings.Repeat("long ", 20_000)}}, nil
}

func (e *eyes) Spend(_ context.Context, id event.FlowID) (view.Spend, error) {
	e.own(id)
	return view.Spend{
		Models: []view.SpendLine{{Name: "big-1", Calls: 3, Usage: event.Usage{Input: 1000, Output: 200}}},
		Tools:  []view.SpendLine{{Name: "read", Uses: 4, Failures: 1, Returned: 70}},
	}, nil
}

func looking(t testing.TB) *eyes {
	return &eyes{
		t: t, files: map[string]string{"plan.md": "# Plan\nBuy A.\nBuy A.\n", "documents/offer.md": "A: 12\n"},
		job: view.Job{
			ID: mine, State: view.JobCompleted, Commit: "0123", Calls: 3,
			Started: event.JobStarted{Title: "Offers", Description: event.Inline("Compare them."), Documents: []event.Document{{Path: "offer.md"}}},
			Usage:   event.Usage{Input: 1000, Output: 200},
			Phases:  []view.JobPhase{{Phase: 1, Kind: "strategic", Calls: 3, Usage: event.Usage{Input: 1000, Output: 200}, Todos: []view.JobTodo{{Todo: event.Todo{ID: "1", Text: "Read", Done: true}}}}},
		},
		log: []event.Event{
			{Seq: 1, Fact: event.Fact{Body: event.Briefed{Text: event.Inline("Phase 1.")}}},
			{Seq: 2, Fact: event.Fact{Body: event.Called{Text: event.Inline("I read."), Tools: []event.ToolCall{{Name: "read", Input: json.RawMessage(`{"path":"plan.md"}`)}}}}},
			{Seq: 3, Fact: event.Fact{Body: event.ToolReturned{Name: "read", Result: event.Inline("# Plan")}}},
		},
	}
}

// all are the tools with every tier on.
func all(t testing.TB, e *eyes) []tool.Tool {
	on := map[string]string{}
	for _, n := range []string{"basic", "research", "history", "debug", "propose"} {
		on[n] = "on"
	}
	tiers := append(companion.Tiers(&e.job, on, false), companion.Tiers(nil, nil, false)...)
	return companion.Tools(companion.Options{Eyes: e, Job: mine, Tiers: tiers, Outlined: func(context.Context, event.Outlined) error { return nil }})
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool { return all(t, looking(t)) })
}

// IP-13, IP-14, IP-15, IP-16, IP-18: the tools there are.
func TestNames(t *testing.T) {
	var names []string
	for _, x := range all(t, looking(t)) {
		names = append(names, x.Name())
	}
	slices.Sort(names)
	want := []string{
		"draft_feedback", "get_audit_trail", "get_chat_history", "get_graph_changes", "get_job", "get_llm_request", "get_todos",
		"git_diff", "git_log", "git_show", "list_workspace_files", "propose_edit", "read_workspace_file", "search_audit", "search_workspace",
		"update_instructions", "vector_search",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
}

// IP-19, acceptance: no tool can be told which job it looks into, whatever its
// schema is called; and every look goes to its own (see eyes.own).
func TestNoToolTakesAJob(t *testing.T) {
	for _, x := range all(t, looking(t)) {
		var s struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(x.Schema(), &s); err != nil {
			t.Fatal(err)
		}
		for name := range s.Properties {
			if strings.Contains(name, "job") || strings.Contains(name, "flow") || strings.Contains(name, "session") || name == "id" {
				t.Errorf("%s takes %s", x.Name(), name)
			}
		}
		if x.Tier() != tool.Read {
			t.Errorf("%s can change something", x.Name())
		}
	}
}

func call(t *testing.T, e *eyes, name, input string) tool.Result {
	t.Helper()
	for _, x := range all(t, e) {
		if x.Name() == name {
			r, err := x.Run(t.Context(), json.RawMessage(input))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	t.Fatalf("there is no %s", name)
	return tool.Result{}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"read_workspace_file", `{"path":"plan.md","line":2,"lines":1}`, "plan.md at commit 0123456789, 3 lines\n2\tBuy A.\n[1 more lines]\n"},
		{"list_workspace_files", `{"under":"documents/"}`, "documents/offer.md (6 bytes)\n"},
		{"search_workspace", `{"query":"buy"}`, "plan.md:2-3 (buy words)\nBuy A.\n\n"},
		{"vector_search", `{"queries":["purchase","acquire"]}`, "plan.md:2-3 (purchase+acquire )\nBuy A.\n\n"},
		{"git_log", `{}`, "0123456789 0001-01-01 00:00 ada: Todo 1 [phase-1]\n"},
		{"git_diff", `{"from":"phase-1","to":"phase-2"}`, "changed plan.md\n@@ line 1, was 1 @@\n-phase-1\n+phase-2\n"},
		{"get_todos", `{}`, "Phase 1.0, strategic,  \"\"\n- [x] 1. Read\n"},
		{"get_chat_history", `{"limit":2}`, "row 2 00:00:00 the agent said: I read.\n  it called read {\"path\":\"plan.md\"}\nrow 3 00:00:00 read returned: # Plan"},
		{"search_audit", `{"query":"read"}`, "row 7 00:00:00 ada called read (12 tokens, $0.00)\n  plan.md\n[older rows: before 7]\n"},
		{"get_graph_changes", `{}`, "The job has changed no graph."},
	} {
		if r := call(t, looking(t), tt.name, tt.input); r.Error || r.Text != tt.want {
			t.Errorf("%s: %v\n%s", tt.name, r.Error, cmp.Diff(tt.want, r.Text))
		}
	}
}

// IP-20: what the job took is told from its log, in all and by phase.
func TestCost(t *testing.T) {
	text := call(t, looking(t), "get_job", `{}`).Text
	for _, want := range []string{"Model calls: 3", "Tokens: 1000 in, 200 out", "Cost: $0.00", "Phase 1, strategic \"\": 1 of 1 todos done, 3 model calls, 1200 tokens", "Compare them.",
		"- model big-1: 3 model calls, 1200 tokens, $0.00", "- tool read: 4 times, 1 failed, gave back 70 bytes"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// IP-16: a request is read in full, in parts if it is long, and one of another job
// is not found.
func TestRequest(t *testing.T) {
	e := looking(t)
	var whole string
	for from := 0; ; {
		r := call(t, e, "get_llm_request", `{"row":7,"from":`+itoa(from)+`}`)
		if r.Error {
			t.Fatal(r.Text)
		}
		part, _, more := strings.Cut(r.Text, "\n[")
		whole += part
		from = len(whole)
		if !more {
			break
		}
	}
	if strings.Count(whole, "long") != 20_000 || !strings.Contains(whole, "== system ==\nPlan.") {
		t.Errorf("%d characters", len(whole))
	}
	if r := call(t, e, "get_llm_request", `{"row":8}`); !r.Error || !strings.Contains(r.Text, "not found") {
		t.Errorf("another job's: %+v", r)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// IP-18: edits are proposed against the file as it stands, and nothing changes.
func TestProposals(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{"path":"plan.md","old":"# Plan","new":"# The plan"}`, "as a card"},
		{`{"path":"plan.md","old":"Buy A.","new":"Buy B."}`, "2 times"},
		{`{"path":"plan.md","old":"Buy C.","new":"Buy B."}`, "not in plan.md"},
		{`{"path":"documents/offer.md","old":"12","new":"1"}`, "not for people to edit"},
		{`{"path":"../x","old":"12","new":"1"}`, "not found"},
		{`{"path":"plan.md","old":"","new":"More.\n"}`, "as a card"},
	} {
		if r := call(t, looking(t), "propose_edit", tt.input); !strings.Contains(r.Text, tt.want) || strings.Contains(r.Text, "/home/") {
			t.Errorf("%s: %q", tt.input, r.Text)
		}
	}
}

// IP-12, IP-17: stage and tiers follow the state of the job, and what somebody has
// set holds.
func TestTiersByState(t *testing.T) {
	for _, tt := range []struct {
		state view.JobState
		stage string
		on    string
	}{
		{"", companion.StageOutline, "outline"},
		{view.JobPlanning, companion.StageRunning, "basic research history debug"},
		{view.JobReview, companion.StageReview, "basic research history propose"},
		{view.JobRunning, companion.StageRunning, "basic research history debug"},
		{view.JobTrouble, companion.StageFailure, "basic research history debug propose"},
		{view.JobCompleted, companion.StageResult, "basic research history debug propose"},
		{view.JobFailed, companion.StageFailure, "basic research history debug propose"},
	} {
		var j *view.Job
		if tt.state != "" {
			j = &view.Job{ID: mine, State: tt.state, Commit: "0123"}
		}
		if s := companion.StageOf(j); s != tt.stage {
			t.Errorf("%s: the stage is %s", tt.state, s)
		}
		var on []string
		for _, tier := range companion.Tiers(j, nil, false) {
			if tier.Why == "" {
				t.Errorf("%s: no reason for %s", tt.state, tier.Name)
			}
			if tier.On {
				on = append(on, tier.Name)
			}
		}
		if got := strings.Join(on, " "); got != tt.on {
			t.Errorf("%s: on are %s", tt.state, got)
		}
	}
	for _, tier := range companion.Tiers(&view.Job{ID: mine, State: view.JobReview}, map[string]string{"debug": "on", "history": "off", "basic": "auto"}, true) {
		if want := tier.Name == "debug" || tier.Name == "history"; tier.Forced != want {
			t.Errorf("%s is forced: %v", tier.Name, tier.Forced)
		}
		if tier.Name == "debug" && !tier.On || tier.Name == "history" && tier.On {
			t.Errorf("%s is on: %v", tier.Name, tier.On)
		}
	}
}
