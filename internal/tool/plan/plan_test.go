package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/tool/plan"
)

// abc is a, then b, then c; d stands alone and matters most.
func abc(t *testing.T) plan.Plan {
	t.Helper()
	p, err := plan.Plan{}.Add(10,
		plan.New{ID: "c", Description: "third", DependsOn: []string{"b"}},
		plan.New{ID: "a", Description: "first"},
		plan.New{ID: "b", Description: "second", DependsOn: []string{"a"}, Priority: plan.Low},
		plan.New{Description: "alone", Priority: plan.High},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func update(id string, s plan.Status) func(plan.Plan) (plan.Plan, error) {
	return func(p plan.Plan) (plan.Plan, error) { return p.Update(10, id, s, "") }
}

func edit(id string, e plan.Edit) func(plan.Plan) (plan.Plan, error) {
	return func(p plan.Plan) (plan.Plan, error) { return p.Edit(10, id, e) }
}

func add(n ...plan.New) func(plan.Plan) (plan.Plan, error) {
	return func(p plan.Plan) (plan.Plan, error) { return p.Add(10, n...) }
}

func remove(id string) func(plan.Plan) (plan.Plan, error) {
	return func(p plan.Plan) (plan.Plan, error) { return p.Remove(10, id) }
}

func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		do   []func(plan.Plan) (plan.Plan, error)
		want string // the last error, or "" and the states
	}{
		"fresh":                   {nil, "c blocked, a ready, b blocked, t5 ready"},
		"begun":                   {do(update("a", plan.InProgress)), "c blocked, a in_progress, b blocked, t5 ready"},
		"done":                    {do(update("a", plan.Completed)), "c blocked, a completed, b ready, t5 ready"},
		"verified counts as done": {do(update("a", plan.Verified)), "c blocked, a verified, b ready, t5 ready"},
		"begun too early":         {do(update("c", plan.InProgress)), "c in_progress, a ready, b blocked, t5 ready"},
		"done too early":          {do(update("b", plan.Completed)), `task "b" cannot be completed while it depends on "a", which is pending`},
		"verified too early":      {do(update("b", plan.Verified)), `task "b" cannot be verified`},
		"reopened under another":  {do(update("a", plan.Completed), update("b", plan.Completed), update("a", plan.Pending)), `task "b" cannot be completed while it depends on "a", which is pending`},
		"reopened":                {do(update("a", plan.Completed), update("a", plan.Pending)), "c blocked, a ready, b blocked, t5 ready"},
		"blocked is not set":      {do(update("a", "blocked")), "blocked cannot be set"},
		"no status":               {do(update("a", "done")), `"done" is no status`},
		"unknown":                 {do(update("x", plan.Completed)), `no task "x"`},
		"cycle":                   {do(edit("a", plan.Edit{DependsOn: &[]string{"c"}})), "wait for one another: c → b → a → c"},
		"on itself":               {do(edit("a", plan.Edit{DependsOn: &[]string{"a"}})), "a → a"},
		"on nothing known":        {do(edit("a", plan.Edit{DependsOn: &[]string{"x"}})), `depends on "x", which is not in the plan`},
		"freed":                   {do(edit("b", plan.Edit{DependsOn: &[]string{}})), "c blocked, a ready, b ready, t5 ready"},
		"emptied":                 {do(edit("a", plan.Edit{Description: new(string)})), `task "a" has no description`},
		"no priority":             {do(edit("a", plan.Edit{Priority: new(plan.Priority)})), `is no priority`},
		"added":                   {do(add(plan.New{Description: "x", DependsOn: []string{"t5"}})), "c blocked, a ready, b blocked, t5 ready, t6 blocked"},
		"added twice":             {do(add(plan.New{ID: "a", Description: "x"})), `two tasks "a"`},
		"no id":                   {do(add(plan.New{ID: "../a", Description: "x"})), `"../a" is no id`},
		"too long":                {do(add(plan.New{Description: strings.Repeat("x", 5000)})), "5000 bytes"},
		"too many":                {do(add(make([]plan.New, 7)...)), "11 tasks is too long; 10 is the most"},
		"on too many":             {do(add(plan.New{Description: "x", DependsOn: make([]string, 6)})), "more tasks than there are"},
		"removed":                 {do(remove("c")), "a ready, b blocked, t5 ready"},
		"removed under another":   {do(remove("a")), `task "b" depends on "a", which is not in the plan`},
		"removed unknown":         {do(remove("x")), `no task "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := abc(t), error(nil)
			for i, f := range c.do {
				before := fmt.Sprint(p)
				old := p
				p, err = f(p)
				if err != nil && i < len(c.do)-1 {
					t.Fatal(err)
				}
				if fmt.Sprint(old) != before {
					t.Error("the plan it was made of has changed")
				}
			}
			got := states(p)
			if err != nil {
				got = err.Error()
			}
			if (err == nil && got != c.want) || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func do(f ...func(plan.Plan) (plan.Plan, error)) []func(plan.Plan) (plan.Plan, error) { return f }

// states are the tasks and how far they are, from the text the model gets.
func states(p plan.Plan) string {
	var out []string
	for line := range strings.Lines(p.Text()) {
		if rest, ok := strings.CutPrefix(line, "- "); ok {
			id, rest, _ := strings.Cut(rest, " [")
			state, _, _ := strings.Cut(rest, ",")
			out = append(out, id+" "+state)
		}
	}
	return strings.Join(out, ", ")
}

func TestText(t *testing.T) {
	p, err := abc(t).Update(10, "a", plan.Completed, "went\nwell")
	if err != nil {
		t.Fatal(err)
	}
	want := `1 of 4 tasks done.
- c [blocked, medium] third
  waits for: b
- a [completed, medium] first
  notes: went well
- b [ready, low] second
- t5 [ready, high] alone
Ready to begin: t5, b.`
	if diff := cmp.Diff(want, p.Text()); diff != "" {
		t.Error(diff)
	}
	if got := (plan.Plan{}).Text(); got != "There is no plan yet." {
		t.Error(got)
	}
}
