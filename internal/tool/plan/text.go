package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Text is the plan for the model: every task, then what can be begun.
func (p Plan) Text() string {
	if len(p.Tasks) == 0 {
		return "There is no plan yet."
	}
	var out strings.Builder
	count := map[string]int{}
	for _, t := range p.Tasks {
		state := p.state(t)
		count[state]++
		fmt.Fprintf(&out, "- %s [%s, %s] %s\n", t.ID, state, t.Priority, oneLine(t.Description))
		if waits := p.Waits(t); len(waits) > 0 {
			fmt.Fprintf(&out, "  waits for: %s\n", strings.Join(waits, ", "))
		}
		if t.Notes != "" {
			fmt.Fprintf(&out, "  notes: %s\n", oneLine(t.Notes))
		}
	}
	done := count[string(Completed)] + count[string(Verified)]
	return fmt.Sprintf("%d of %d tasks done.\n%s%s", done, len(p.Tasks), out.String(), p.next())
}

// state is a task's status in a word, the derived ones included.
func (p Plan) state(t Task) string {
	switch {
	case p.Ready(t):
		return "ready"
	case t.Status == Pending:
		return "blocked"
	}
	return string(t.Status)
}

// next names what can be begun, the most important first.
func (p Plan) next() string {
	var ready []Task
	for _, t := range p.Tasks {
		if p.Ready(t) {
			ready = append(ready, t)
		}
	}
	if len(ready) == 0 {
		return "Nothing is ready to begin."
	}
	slices.SortStableFunc(ready, func(a, b Task) int {
		return slices.Index(priorities, a.Priority) - slices.Index(priorities, b.Priority)
	})
	var ids []string
	for _, t := range ready {
		ids = append(ids, t.ID)
	}
	return "Ready to begin: " + strings.Join(ids, ", ") + "."
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
