package planfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/planfile"
)

// read is everything in a directory, by name.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		p, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every revision is kept, and the newest is the plan. Keeping one again, as after
// a crash, changes nothing.
func TestKeep(t *testing.T) {
	state := t.TempDir()
	dir := planfile.Dir(state, "plan-1")
	for _, r := range []int{1, 2, 2} {
		text := []string{"", "first\n", "second\n"}[r]
		if err := planfile.Keep(state, "plan-1", r, text, []event.Task{{ID: "1", Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, dir)
	var tasks []event.Task
	if err := json.Unmarshal([]byte(got["tasks.json"]), &tasks); err != nil || len(tasks) != 1 || tasks[0].Text != "second\n" {
		t.Errorf("tasks %v, %v", tasks, err)
	}
	delete(got, "tasks.json")
	want := map[string]string{"plan.md": "second\n", "revisions/1.md": "first\n", "revisions/2.md": "second\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What cannot be written is said with where.
func TestKeepFails(t *testing.T) {
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "plans"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := planfile.Keep(state, "plan-1", 1, "text", nil); err == nil || !strings.Contains(err.Error(), planfile.Dir(state, "plan-1")) {
		t.Errorf("a plan below a file: %v", err)
	}
}

// A link in the state that leads out of it, as one that came with a project, is
// not followed.
func TestKeepFollowsNoLink(t *testing.T) {
	for _, link := range []string{"plans", "plans/plan-1", "plans/plan-1/plan.md.new"} {
		state, elsewhere := t.TempDir(), t.TempDir()
		target := elsewhere
		if strings.HasSuffix(link, ".new") {
			target = filepath.Join(elsewhere, "file")
		}
		if err := os.MkdirAll(filepath.Join(state, filepath.Dir(link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(state, link)); err != nil {
			t.Fatal(err)
		}
		if err := planfile.Keep(state, "plan-1", 1, "text", nil); err == nil {
			t.Errorf("%s: a link was followed", link)
		}
		if got := read(t, elsewhere); len(got) > 0 {
			t.Errorf("%s: written elsewhere: %v", link, got)
		}
	}
}

func TestTasks(t *testing.T) {
	for name, c := range map[string]struct {
		plan string
		want []string
	}{
		"nothing":  {"", nil},
		"prose":    {"Do it well.\n\nThen rest.", nil},
		"numbered": {"# Plan\n\n1. Read **all** of `a.go`\n   - carefully\n2. Write\n   it\n\n- a remark\n\n## Later\n\n3. Test", []string{"Read all of a.go", "Write it", "Test"}},
		"bullets":  {"* one\n* two\n    * below", []string{"one", "two"}},
		"boxes":    {"1. Phase\n   - [ ] first\n   - [x] second\n2. Phase", []string{"first", "second"}},
		"in code":  {"```\n1. not a task\n```\n", nil},
		"empty":    {"1.\n2. two", []string{"two"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, task := range planfile.Tasks(c.plan) {
				got = append(got, task.Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A plan that is too long to be taken apart has no tasks, and neither has one with
// more of them than anybody would tick: a list that is cut short would be carried
// out as if it were all. Reading text of any shape takes time that grows faster
// than its length, and what is recorded of it goes into one event.
func TestTasksAreBounded(t *testing.T) {
	for _, plan := range []string{
		"- [ ] dig\n\n" + strings.Repeat("[a](", 250_000),
		strings.Repeat("- x\n", 1000),
	} {
		if got := planfile.Tasks(plan); len(got) > 0 {
			t.Errorf("%d tasks in %.20q", len(got), plan)
		}
	}
	if got := planfile.Tasks(strings.Repeat("1. x\n", 200)); len(got) != 200 {
		t.Errorf("%d tasks", len(got))
	}
}
