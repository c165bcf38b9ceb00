package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/plan"
	"conclave/internal/tool/tooltest"
)

// file is a plan's file in memory.
type file struct {
	data []byte
	fail error
}

func (f *file) options() plan.Options {
	return plan.Options{
		MaxTasks: 5,
		Read: func() ([]byte, error) {
			if f.data == nil {
				return nil, fs.ErrNotExist
			}
			return f.data, nil
		},
		Write: func(p []byte) error {
			if f.fail == nil {
				f.data = p
			}
			return f.fail
		},
	}
}

func byName(tools []tool.Tool) map[string]tool.Tool {
	out := map[string]tool.Tool{}
	for _, x := range tools {
		out[x.Name()] = x
	}
	return out
}

func call(t *testing.T, x tool.Tool, input string) tool.Result {
	t.Helper()
	res, err := x.Run(t.Context(), json.RawMessage(input))
	if err != nil {
		t.Fatalf("%s %s: %v", x.Name(), input, err)
	}
	return res
}

func TestTools(t *testing.T) {
	var f file
	x := byName(plan.Tools(f.options()))
	for _, c := range []struct {
		tool, in, want string
		error          bool
	}{
		{"plan_list", `{}`, "There is no plan yet.", false},
		{"plan_update", `{"id":"a","status":"completed"}`, "make one with plan_create", true},
		{"plan_create", `{"tasks":[]}`, "at least one task", true},
		{"plan_create", `{"tasks":[{"id":"a","description":"one","depends_on":["b"]},{"id":"b","description":"two","depends_on":["a"]}]}`, "a → b → a", true},
		{"plan_list", `{}`, "There is no plan yet.", false},
		{"plan_create", `{"tasks":[{"id":"a","description":"one"},{"id":"b","description":"two","depends_on":["a"]}]}`, "Ready to begin: a.", false},
		{"plan_create", `{"tasks":[{"description":"x"}]}`, "set replace", true},
		{"plan_add", `{"tasks":[]}`, "no task to add", true},
		{"plan_add", `{"tasks":[{"description":"three","priority":"high"}]}`, "Ready to begin: t4, a.", false},
		{"plan_add", `{"tasks":[{"description":"4"},{"description":"5"},{"description":"6"}]}`, "5 is the most", true},
		{"plan_add", `{"tasks":[{"description":"4","priority":"urgent"}]}`, "no priority", true},
		{"plan_update", `{"id":"b","status":"completed"}`, `"b" cannot be completed`, true},
		{"plan_update", `{"id":"a","status":"completed","notes":"fine"}`, "notes: fine", false},
		{"plan_update", `{"id":"a","status":"verified"}`, "notes: fine", false},
		{"plan_edit", `{"id":"b","priority":"high","description":"zwei","depends_on":["t4"]}`, "- b [blocked, high] zwei\n  waits for: t4", false},
		{"plan_edit", `{"id":"t4","remove":true}`, `depends on "t4"`, true},
		{"plan_edit", `{"id":"b","remove":true}`, "1 of 2 tasks done", false},
		{"plan_create", `{"tasks":[{"description":"new"}],"replace":true}`, "0 of 1 tasks done", false},
		{"plan_update", `{"id":"t2","status":"completed"}`, "1 of 1 tasks done", false},
		{"plan_create", `{"tasks":[{"description":"next"}]}`, "0 of 1 tasks done", false},
	} {
		before := string(f.data)
		res := call(t, x[c.tool], c.in)
		if res.Error != c.error || !strings.Contains(res.Text, c.want) {
			t.Errorf("%s %s: %+v, want %q", c.tool, c.in, res, c.want)
		}
		if c.error && string(f.data) != before {
			t.Errorf("%s %s: refused, and the file has changed", c.tool, c.in)
		}
	}
	var kept plan.Plan
	if err := json.Unmarshal(f.data, &kept); err != nil {
		t.Fatal(err)
	}
	want := plan.Plan{Tasks: []plan.Task{{ID: "t2", Description: "next", Status: plan.Pending, Priority: plan.Medium}}}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Error(diff)
	}
}

// What others wrote into the file is checked, told and left alone.
func TestFileOfOthers(t *testing.T) {
	for content, want := range map[string]string{
		`nonsense`: "is not a plan",
		`{"tasks":[{"id":"a","description":"x","status":"ready","priority":"low"}]}`:                                                    `"ready" is no status`,
		`{"tasks":[{"id":"a","description":"x","status":"pending","priority":"low","ready":true}]}`:                                     "unknown field",
		`{"tasks":[{"id":"a","description":"x","status":"pending","priority":"low","depends_on":["a"]}]}`:                               "a → a",
		`{"tasks":[` + strings.Repeat(`{},`, 100000) + `{}]}`:                                                                           "5 is the most",
		`{"tasks":[{"id":"a","description":"` + strings.Repeat("x", 9<<20) + `","status":"pending","priority":"low","depends_on":[]}]}`: "no plan of ours",
	} {
		f := file{data: []byte(content)}
		x := byName(plan.Tools(f.options()))
		for tool, in := range map[string]string{"plan_list": `{}`, "plan_update": `{"id":"a","status":"pending"}`, "plan_create": `{"tasks":[{"description":"x"}]}`} {
			if res := call(t, x[tool], in); !res.Error || !strings.Contains(res.Text, want) {
				t.Errorf("%s over %.60s: %.300s, want %q", tool, content, res.Text, want)
			}
		}
		if string(f.data) != content {
			t.Errorf("%.60s was changed", content)
		}
		if res := call(t, x["plan_create"], `{"tasks":[{"description":"x"}],"replace":true}`); res.Error {
			t.Errorf("not replaced: %+v", res)
		}
	}
}

func TestFileThatCannotBeWritten(t *testing.T) {
	f := file{fail: errors.New("disk full")}
	if res := call(t, byName(plan.Tools(f.options()))["plan_create"], `{"tasks":[{"description":"x"}]}`); !res.Error || !strings.Contains(res.Text, "tasks/plan.json cannot be written: disk full") {
		t.Errorf("%+v", res)
	}
}

// Calls of one reply may run at once: none is lost.
func TestConcurrentCalls(t *testing.T) {
	var f file
	o := f.options()
	o.MaxTasks = 100
	x := byName(plan.Tools(o))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			_, _ = x["plan_add"].Run(t.Context(), json.RawMessage(fmt.Sprintf(`{"tasks":[{"id":"x%d","description":"x"}]}`, i)))
		})
	}
	wg.Wait()
	if res := call(t, x["plan_list"], `{}`); !strings.HasPrefix(res.Text, "0 of 50 tasks done.") {
		t.Errorf("%.200s", res.Text)
	}
}

func TestActions(t *testing.T) {
	var f file
	for _, x := range plan.Tools(f.options()) {
		actor, ok := x.(tool.Actor)
		if x.Tier() == tool.Read {
			continue
		}
		if !ok {
			t.Errorf("%s does not say what it does", x.Name())
			continue
		}
		in := map[string]string{"plan_update": `{"id":"a","status":"completed"}`, "plan_edit": `{"id":"a"}`}[x.Name()]
		if in == "" {
			in = `{"tasks":[]}`
		}
		if a := actor.Action(json.RawMessage(in)); a.Kind != policy.Write || a.Target != plan.Path || a.Tool != x.Name() {
			t.Errorf("%s: %+v", x.Name(), a)
		}
	}
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		var f file
		return plan.Tools(f.options())
	})
}
