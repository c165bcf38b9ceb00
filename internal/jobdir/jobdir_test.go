package jobdir_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/jobdir"
)

// fresh is a workspace with a document, made ready.
func fresh(t *testing.T) (jobdir.Dir, event.Prepared) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	d := jobdir.Dir{Path: filepath.Join(t.TempDir(), "job"), Agent: "ada"}
	put(t, d, "documents/offer.md", "The offer of A is 12 EUR.\n")
	p, err := d.Prepare(t.Context(), map[string][]byte{"workspace.md": []byte("# Job\n"), "tools/read.md": []byte("# read\n")})
	if err != nil {
		t.Fatal(err)
	}
	return d, p
}

func put(t *testing.T, d jobdir.Dir, name, text string) {
	t.Helper()
	file := filepath.Join(d.Path, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func inline(c event.Content) (string, error) { return c.Text, nil }

// IP-15: each completed todo and each phase boundary is a commit that can be read,
// listed and compared afterwards.
func TestCommits(t *testing.T) {
	d, p := fresh(t)
	if diff := cmp.Diff([]string{"read"}, p.Tools); diff != "" {
		t.Error(diff)
	}
	todos := []event.Todo{{ID: "1", Text: "Read the offers"}, {ID: "2", Text: "Write it down"}}
	put(t, d, "plan.md", "# Plan\n\n## Phases\n\n| n | what |\n|---|---|\n| 1 | read |\n| 2 | write |\n\n## Open questions\n\n- Q: Which currency? (default: EUR)\n")
	staged, err := d.Carry(t.Context(), job.Keep{Ref: "todos/1", Message: "Stage the todos", Tag: "phase-1", Write: true, Name: "First", Todos: todos}, inline)
	if err != nil {
		t.Fatal(err)
	}
	want := event.PlanRead{Name: "First", Todos: todos, Phases: 2, Questions: []event.Question{{ID: staged.Plan.Questions[0].ID, Text: "Which currency?", Default: "EUR"}}}
	if diff := cmp.Diff(want, staged.Plan); diff != "" {
		t.Error(diff)
	}
	put(t, d, "output/table.md", "| A | 12 |\n")
	todos[0].Done = true
	done, err := d.Carry(t.Context(), job.Keep{Ref: "done/1", Message: "Todo 1: Read the offers", Write: true, Name: "First", Todos: todos}, inline)
	if err != nil {
		t.Fatal(err)
	}
	log, err := d.Log(t.Context(), 10)
	if err != nil || len(log) != 3 {
		t.Fatalf("the history is %+v, %v", log, err)
	}
	if log[0].Subject != "Todo 1: Read the offers" || log[0].Author != "ada" || log[0].Hash != done.Commit || len(log[1].Tags) != 1 || log[1].Tags[0] != "phase-1" {
		t.Errorf("the history is %+v", log)
	}
	diff, err := d.Diff(t.Context(), "phase-1", "", "")
	if err != nil || len(diff) != 2 || diff[0].Path != "output/table.md" || diff[0].Kind != "added" || diff[0].Hunks[0].Lines[0].Text != "| A | 12 |" {
		t.Errorf("since the phase changed %+v, %v", diff, err)
	}
	patch, err := d.Patch(t.Context(), "phase-1", "", "output")
	if want := "--- /dev/null\n+++ b/output/table.md\n@@ -0,0 +1 @@\n+| A | 12 |\n"; err != nil || !strings.HasSuffix(string(patch), want) {
		t.Errorf("for git apply: %s, %v", patch, err)
	}
	if _, _, err := d.File(t.Context(), "output/table.md", "phase-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file from before it was there: %v", err)
	}
	f, text, err := d.File(t.Context(), "documents/offer.md", "")
	if err != nil || string(text) != "The offer of A is 12 EUR.\n" || f.Edit || f.Hash != event.HashOf(text) {
		t.Errorf("the document is %+v %q, %v", f, text, err)
	}
	found, err := d.Find(t.Context(), "offer OF a", "", 10)
	if err != nil || len(found) != 1 || found[0].Path != "documents/offer.md" || found[0].Line != 1 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A commit that was made before a crash is found again: nothing is written twice.
func TestKeptOnce(t *testing.T) {
	d, _ := fresh(t)
	k := job.Keep{Ref: "done/1", Message: "One", Write: true, Todos: []event.Todo{{ID: "1", Text: "Something"}}, Tag: "phase-1"}
	first, err := d.Carry(t.Context(), k, inline)
	if err != nil {
		t.Fatal(err)
	}
	put(t, d, "output/later.md", "later\n")
	put(t, d, ".git/index.lock", "") // left behind by who was killed
	again, err := d.Carry(t.Context(), k, inline)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	k.Ref = "done/10"
	other, err := d.Carry(t.Context(), k, inline)
	if err != nil || other.Commit == first.Commit {
		t.Errorf("another fact has the commit %s, %v", other.Commit, err)
	}
	k.Ref, k.Tag = "done/11", ""
	same, err := d.Carry(t.Context(), k, inline)
	if err != nil || !same.Same || other.Same {
		t.Errorf("nothing changed, and it is said %v, %v", same.Same, err)
	}
}

// IP-10: an edit is a commit in the person's name, and what stands in the file is
// known by its hash. IP-06: feedback is kept in a section of the memory that does
// not grow from round to round.
func TestEditsAndFeedback(t *testing.T) {
	d, _ := fresh(t)
	k, err := d.Carry(t.Context(), job.Keep{Ref: "edit/1", Message: "Edit plan.md", By: "Eve <x>\n", Edit: &event.Edited{Path: "plan.md", Text: event.Inline("# Mine\n")}}, inline)
	if err != nil {
		t.Fatal(err)
	}
	log, err := d.Log(t.Context(), 1)
	if err != nil || log[0].Author != "Eve x" || k.Files[0].Path != "plan.md" || k.Files[0].Hash != event.HashOf([]byte("# Mine\n")) {
		t.Errorf("the edit is %+v %+v, %v", log, k.Files, err)
	}
	for round, said := range []string{"Split it.\n## Not a section\nof mine", "Still too long"} {
		f := &job.Feedback{Round: round + 1, Text: said, By: "Eve", Comments: []job.Comment{{ID: "c1", Commented: event.Commented{Path: "plan.md", Line: 1, Text: "Why?"}}}}
		if _, err := d.Carry(t.Context(), job.Keep{Ref: said, Message: "Feedback", By: "Eve", Feedback: f}, inline); err != nil {
			t.Fatal(err)
		}
	}
	now, err := d.Now("workspace.md", "review/round-1.md", "missing.md")
	if err != nil {
		t.Fatal(err)
	}
	memory := now["workspace.md"]
	if strings.Count(memory, "## Review Feedback") != 1 || strings.Contains(memory, "Split it") || !strings.Contains(memory, "Still too long") || !strings.Contains(memory, "plan.md:1 (c1): Why?") {
		t.Errorf("the memory is\n%s", memory)
	}
	if !strings.Contains(now["review/round-1.md"], "Split it.") || len(now) != 2 {
		t.Errorf("kept is %v", now)
	}
	if rest := jobdir.WithoutFeedback(memory); strings.TrimSpace(rest) != "# Job" {
		t.Errorf("the rest is %q", rest)
	}
	if _, err := d.Carry(t.Context(), job.Keep{Ref: "edit/2", Edit: &event.Edited{Path: "documents/offer.md", Text: event.Inline("")}}, inline); err == nil {
		t.Error("a document was edited")
	}
}

// Whatever an agent puts into its files, git runs nothing of it, keeps contents
// as they are, and shows nothing from outside.
func TestHostileWorkspace(t *testing.T) {
	d, _ := fresh(t)
	out := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(out, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, d, ".gitattributes", "* text=auto eol=crlf filter=evil ident\n")
	put(t, d, ".gitignore", "*\n")
	put(t, d, "plan.md", "a\r\nb $Id$\n")
	for name, to := range map[string]string{"output/link": out, "todos.yaml": out} {
		if err := os.MkdirAll(filepath.Join(d.Path, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(d.Path, name)); err != nil {
			t.Fatal(err)
		}
	}
	k, err := d.Carry(t.Context(), job.Keep{Ref: "x", Message: "x"}, inline)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Files) != 2 || k.Files[0].Hash != event.HashOf([]byte("a\r\nb $Id$\n")) {
		t.Errorf("kept is %+v", k.Files)
	}
	for _, name := range []string{"output/link", "todos.yaml", "../secret", "/etc/passwd", ".git/config", "", "output/../../secret", "documents"} {
		if _, _, err := d.File(t.Context(), name, ""); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, at := range []string{"--output=x", "HEAD~1", "main", "phase-9", "HEAD:plan.md", "ffff"} {
		if _, err := d.Resolve(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("commit %q: %v", at, err)
		}
	}
	if now, err := d.Now("todos.yaml", "output/link"); err != nil || len(now) != 0 {
		t.Errorf("read through links: %v, %v", now, err)
	}
	if _, err := d.Carry(t.Context(), job.Keep{Ref: "y", Message: "y", Write: true, Todos: []event.Todo{{ID: "1", Text: "A thing"}}}, inline); err != nil {
		t.Fatal(err)
	}
	if p, err := os.ReadFile(out); err != nil || string(p) != "outside" {
		t.Errorf("written through a link: %q, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Log(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTodos(t *testing.T) {
	all := []event.Todo{{ID: "1", Text: "Read: all\nof it", Done: true}, {ID: "b2", Text: "- write", Skip: true, Note: "n"}, {ID: "3", Text: "# end"}}
	p, err := jobdir.FormatTodos("A: phase", all)
	if err != nil {
		t.Fatal(err)
	}
	name, back, err := jobdir.ParseTodos(p)
	if err != nil || name != "A: phase" {
		t.Fatalf("%q %v\n%s", name, err, p)
	}
	if diff := cmp.Diff(all, back); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"todos: {":                "cannot be read",
		"todo:\n  - content: x\n": "unknown field",
		"todos:\n  - id: 1\n    content: ''\n  - id: 1\n    content: b\n    status: maybe\n": `todo 1 has no content; todo 2: its status is "maybe"; it can be pending, completed or skipped; todo 2 has the id of todo 1, 1`,
	} {
		if _, _, err := jobdir.ParseTodos([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, todos, err := jobdir.ParseTodos([]byte("todos:\n  - content: One\n  - content: Two\n")); err != nil || todos[1].ID != "2" {
		t.Errorf("without ids: %+v, %v", todos, err)
	}
}

func TestReadPlan(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		phases     int
		questions  []string
	}{
		{"nothing", "", 0, nil},
		{"a list", "## Phases\n1. One\n   - inside\n2. Two\n3. Three\n## Risks\n- a\n", 3, nil},
		{"headings", "# Plan\n## Phases\n### Phase 1: read\n- x\n### Phase 2: write\n- y\n", 2, nil},
		{"questions", "## Open questions\n\n- Q: Which? (default: this one)\n- **Q2:** Why?\n  - Default: because\n- How\n\n## Out of scope\n- no\n", 0, []string{"Which?=this one", "Why?=because", "How="}},
		{"none", "## Open Questions\n\n- None.\n", 0, nil},
		{"fenced", "```\n## Phases\n- a\n```\n", 0, nil},
	} {
		phases, qs := jobdir.ReadPlan(tt.text)
		var got []string
		for _, q := range qs {
			got = append(got, q.Text+"="+q.Default)
		}
		if diff := cmp.Diff(tt.questions, got); phases != tt.phases || diff != "" {
			t.Errorf("%s: %d phases; %s", tt.name, phases, diff)
		}
	}
}

func FuzzPlanAndTodos(f *testing.F) {
	f.Add("## Open questions\n- Q: a (default: b)\n", "todos:\n  - content: x\n")
	f.Fuzz(func(t *testing.T, plan, todos string) {
		_, qs := jobdir.ReadPlan(plan)
		for _, q := range qs {
			if q.ID == "" || strings.TrimSpace(q.Text) == "" {
				t.Errorf("a question without words: %+v", q)
			}
		}
		name, list, err := jobdir.ParseTodos([]byte(todos))
		if err != nil {
			return
		}
		p, err := jobdir.FormatTodos(name, list)
		if err != nil {
			t.Fatal(err)
		}
		if _, back, err := jobdir.ParseTodos(p); err != nil || len(back) != len(list) {
			t.Errorf("%q comes back as %d of %d, %v", p, len(back), len(list), err)
		}
	})
}
