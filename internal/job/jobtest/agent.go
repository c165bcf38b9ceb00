package jobtest

import (
	"fmt"

	"conclave/internal/event"
	"conclave/internal/job"
)

// act is one thing the agent does in its turn.
func (w *World) act() {
	if w.waits != "" { // for a commit
		if w.keep == nil {
			w.fail("%s was kept, and its agent was not told", w.waits)
		}
		return
	}
	if w.ending && !w.one(6) {
		w.conclude()
		return
	}
	t := w.work.Turn
	switch n := w.rng.IntN(24); {
	case n < 3:
		w.call()
	case n < 11:
		w.put("done", event.TodosDone{Turn: t, Todos: w.names(), Note: "so it is"})
	case n < 15:
		w.plan()
	case n < 18:
		w.address()
	case n == 18:
		w.put("rewound", event.TodosRewound{Turn: t, Issue: w.id("issue")})
	case n == 19:
		w.put("completing", event.Completing{Turn: t, JobOutcome: event.JobOutcome{Summary: "done", Notes: w.some("nothing to do")}})
	case n == 20:
		b := event.Wished{Turn: t, Call: "x", Tool: "shell", Hash: event.Hash(fmt.Sprint(w.rng.IntN(3)))}
		w.submit(w.fact("wished", b))
	case n == 21:
		b := event.Failed{Turn: t, Code: "overloaded", Final: w.one(4), RetryAfter: event.Duration(w.rng.IntN(2) * 30e9)}
		w.work = nil
		w.submit(event.Fact{ID: w.id(t.Key("planner") + "/failed"), Agent: "planner", Body: b})
	case n == 22:
		if h := w.Job.History().History; len(h) > 0 {
			w.submit(w.fact("compacted", event.Compacted{Turn: t, Through: h[w.rng.IntN(len(h))].ID, Outline: w.one(2)}))
		}
	case n == 23 && w.one(2):
		w.conclude()
	}
}

func (w *World) fact(what string, b event.Body) event.Fact {
	return event.Fact{ID: w.id(w.work.Key() + "/" + what), Agent: w.work.Agent, Body: b}
}

func (w *World) conclude() {
	f := w.fact("concluded", event.Concluded{Turn: w.work.Turn})
	w.work = nil
	w.submit(f)
}

// stopped is the end of a take that was told to stop.
func (w *World) stopped() {
	f := w.fact("stopped", event.Failed{Turn: w.work.Turn, Code: job.CodeStopped})
	w.work = nil
	w.submit(f)
}

// put puts something forward, and waits for the commit that follows.
func (w *World) put(what string, b event.Body) {
	f := w.fact(what, b)
	w.submit(f)
	if w.work == nil || w.refused[f.ID] {
		return
	}
	switch b.(type) {
	case event.TodosDone, event.TodosStaged:
		if !w.one(5) { // or another call of the same reply
			w.waits = f.ID
		}
	}
}

func (w *World) some(s string) string {
	if w.one(3) {
		return ""
	}
	return s
}

// names are todos, mostly such as there are.
func (w *World) names() []string {
	p, _ := w.Job.Phase()
	switch {
	case w.one(2):
		return nil
	case w.one(8):
		return []string{"unknown"}
	}
	var out []string
	for _, t := range p.Todos {
		if w.one(2) {
			out = append(out, t.ID)
		}
	}
	return out
}

// plan writes the files and stages todos.
func (w *World) plan() {
	d := &w.files
	if w.one(2) {
		d.plan++
	}
	d.phases = 1 + w.rng.IntN(3)
	if d.questions = nil; w.one(3) {
		d.questions = []event.Question{{ID: "q1", Text: "Which currency?", Default: "EUR"}}
	}
	var todos []event.Todo
	for range w.rng.IntN(5) {
		todos = append(todos, event.Todo{Text: w.id("something to be done")})
	}
	if len(todos) > 0 && w.one(8) {
		todos[0].Text = "short"
	}
	w.put("staged", event.TodosStaged{Turn: w.work.Turn, Name: "next", Todos: todos})
}

// address deals with a comment.
func (w *World) address() {
	id := "unknown"
	if ids := w.Job.Unanswered(); len(ids) > 0 && !w.one(8) {
		id = ids[w.rng.IntN(len(ids))]
	}
	w.put("addressed", event.Addressed{Turn: w.work.Turn, Comment: id, Changed: w.one(2), Text: w.some("changed")})
}

// call is a call of the model, paid for where there is a budget.
func (w *World) call() {
	t := w.work.Turn
	c := event.Called{Turn: t, Text: event.Inline("hm"), Tools: []event.ToolCall{{ID: w.id("c"), Name: "read_file"}}}
	if w.work.Metered {
		q := w.fact("request", event.Requested{Turn: t, Amount: event.Amount{Tokens: w.rng.Int64N(100)}})
		w.submit(q)
		if !w.grants[q.ID] || w.work == nil || w.work.Turn != t {
			return
		}
		c.Request = q.ID
		c.Usage.Input = w.rng.Int64N(q.Body.(event.Requested).Amount.Tokens + 1)
		if w.one(6) {
			return // it never comes back
		}
	}
	w.submit(w.fact("call", c))
	if w.work != nil && w.work.Turn == t {
		w.submit(w.fact("returned", event.ToolReturned{Turn: t, Call: c.Tools[0].ID, Name: "read_file"}))
	}
}

// runs brings the run that goes on to its end.
func (w *World) runs() {
	l := *w.launch
	r := event.Returned{Status: event.StatusSuccess, Usage: event.Usage{Input: w.rng.Int64N(50)}}
	switch n := w.rng.IntN(6); {
	case l.Cancel != nil:
		r.Status = event.StatusCancelled
	case n == 0:
		r = event.Returned{Error: "no agent could begin"}
	case n == 1:
		r.Status = event.StatusTimeout
	}
	if g := l.Grant.Tokens; g != nil {
		r.Usage.Input = w.rng.Int64N(*g + 1)
	}
	w.launch = nil
	w.submit(l.Fact(r))
}
