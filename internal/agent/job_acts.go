package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/prompt"
	"conclave/internal/tool"
	"conclave/internal/tool/todo"
)

// A phase is what the agent of a job knows of the one it is in, and what its tools
// put forward. What they put forward is a fact under an id made of the call that
// was recorded, and not of the take: a turn that was cut finds it again.
type phase struct {
	t         *turn
	strategic bool
	comments  bool   // there may be some to deal with
	standing  string // how things stood as the turn began, for who is told that with the brief
	brief     job.Brief
	todos     []event.Todo
	staged    []event.Todo
	acted     bool           // something was put forward in this turn
	verdicts  []job.Verdict  // of this turn, from before it was cut
	put       map[string]int // how often in this take, by id
	find      func(path string) (string, bool)
}

var _ todo.Acts = (*phase)(nil)

func newPhase(t *turn, w job.Work) *phase {
	// What the turn had to bring may be in the log already, if it was cut then.
	t.closed = slices.ContainsFunc(w.Verdicts, func(v job.Verdict) bool { return v.Over })
	return &phase{
		t: t, strategic: w.Phase.Kind == event.PhaseStrategic, brief: w.Brief,
		// Who keeps its conversation itself has the same tools in all of it.
		comments: w.Phase.Purpose != event.PurposeInitial || w.Phase.Iteration > 1 || t.agent.Backend.Traits().NativeHistory,
		todos:    slices.Clone(w.Phase.Todos), staged: slices.Clone(w.Staged), verdicts: w.Verdicts, put: map[string]int{},
	}
}

// Stage implements [todo.Acts].
func (p *phase) Stage(ctx context.Context, name string, texts []string) (tool.Result, error) {
	var todos []event.Todo
	for i, text := range texts {
		todos = append(todos, event.Todo{ID: strconv.Itoa(i + 1), Text: text})
	}
	v, err := p.forward(ctx, true, func(call string) event.Body {
		return event.TodosStaged{Turn: p.t.turn, Call: call, Name: name, Todos: todos}
	})
	if err != nil || v.Why != "" {
		return tool.Failed(v.Why), err
	}
	p.staged = todos
	return p.told("Staged for the next phase and written to todos.yaml:\n\n"+prompt.Todos(todosOf(todos)), v), nil
}

// Complete implements [todo.Acts].
func (p *phase) Complete(ctx context.Context, ids []string, note string) (tool.Result, error) {
	if len(ids) == 0 {
		if next, ok := p.next(); ok {
			ids = []string{next.ID}
		}
	}
	ids = p.meant(ids)
	v, err := p.forward(ctx, true, func(call string) event.Body {
		return event.TodosDone{Turn: p.t.turn, Call: call, Todos: ids, Note: note}
	})
	if err != nil || v.Why != "" {
		return tool.Failed(v.Why), err
	}
	if !v.before { // else they are done in what the turn was given
		for i := range p.todos {
			if slices.Contains(ids, p.todos[i].ID) {
				p.todos[i].Done, p.todos[i].Note = true, note
			}
		}
	}
	done := "Done."
	if v.Kept != "" {
		done += " The workspace is kept as commit " + v.Kept[:min(len(v.Kept), 7)] + "."
	}
	return p.told(done, v), nil
}

// meant are the ids of the todos that the model names.
func (p *phase) meant(names []string) []string {
	var known, out []string
	for _, t := range p.todos {
		known = append(known, t.ID)
	}
	for _, n := range names {
		if n = todo.Meant(n, known); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// List implements [todo.Acts].
func (p *phase) List(context.Context) (tool.Result, error) {
	return tool.Result{Text: p.stand()}, nil
}

// stand is how the todos stand.
func (p *phase) stand() string {
	text := "The todos of this phase:\n\n" + prompt.Todos(todosOf(p.todos))
	if p.strategic {
		text += "\nStaged for the next phase:\n\n" + prompt.Todos(todosOf(p.staged))
	}
	return strings.TrimSpace(text)
}

// Rewind implements [todo.Acts].
func (p *phase) Rewind(ctx context.Context, issue string) (tool.Result, error) {
	v, err := p.forward(ctx, false, func(call string) event.Body {
		return event.TodosRewound{Turn: p.t.turn, Call: call, Issue: clip(issue, event.InlineMax)}
	})
	if err != nil || v.Why != "" {
		return tool.Failed(v.Why), err
	}
	return p.told("The todos of this phase are given up; the job goes back to planning.", v), nil
}

// Finish implements [todo.Acts].
func (p *phase) Finish(ctx context.Context, o todo.Outcome) (tool.Result, error) {
	files, missing := p.results(o.Deliverables)
	if len(missing) > 0 {
		return tool.Failed(fmt.Sprintf("These deliverables are not in the workspace: %s. Name the files that are the result by their paths in it, such as output/report.md, "+
			"or leave out what was not made and say so in the summary. If something is still to be made, stage todos for it instead.", strings.Join(missing, ", "))), nil
	}
	v, err := p.forward(ctx, false, func(call string) event.Body {
		return event.Completing{Turn: p.t.turn, Call: call, JobOutcome: event.JobOutcome{
			Summary: clip(o.Summary, event.InlineMax), Deliverables: files, Confidence: o.Confidence, Notes: clip(o.Notes, event.InlineMax),
		}}
	})
	if err != nil || v.Why != "" {
		return tool.Failed(v.Why), err
	}
	return p.told("The job is complete.", v), nil
}

// results are the files that the agent names as the result of the job, and those of
// them that are not there.
func (p *phase) results(paths []string) (files, missing []string) {
	if p.find == nil {
		return paths, nil
	}
	for _, path := range paths {
		if name, there := p.find(path); there {
			files = append(files, name)
		} else {
			missing = append(missing, path)
		}
	}
	return files, missing
}

// Address implements [todo.Acts].
func (p *phase) Address(ctx context.Context, comment string, changed bool, text string) (tool.Result, error) {
	v, err := p.forward(ctx, false, func(call string) event.Body {
		return event.Addressed{Turn: p.t.turn, Call: call, Comment: p.comment(comment), Changed: changed, Text: clip(text, event.InlineMax)}
	})
	if err != nil || v.Why != "" {
		return tool.Failed(v.Why), err
	}
	return p.told("Noted beside the comment.", v), nil
}

// comment is the id of a comment. Models also use the number it was told with,
// which means something in the turn that told all of them.
func (p *phase) comment(id string) string {
	id = strings.TrimPrefix(id, "id ")
	known := slices.ContainsFunc(p.brief.Comments, func(c job.Comment) bool { return c.ID == id })
	if n, err := strconv.Atoi(id); err == nil && !known && p.brief.Purpose != job.BriefNudge && n >= 1 && n <= len(p.brief.Comments) {
		return p.brief.Comments[n-1].ID
	}
	return id
}

// told is a result with what comes next.
func (p *phase) told(text string, v verdictOn) tool.Result {
	text = strings.TrimSpace(text)
	if v.Over {
		return tool.Result{Text: text + "\n\nThe phase is complete, and with it your turn. There is nothing more to do."}
	}
	if next, ok := p.next(); ok {
		text += fmt.Sprintf("\n\nNext is todo %s: %s", next.ID, next.Text)
	}
	return tool.Result{Text: text}
}

// next is the first todo that is to be done still.
func (p *phase) next() (event.Todo, bool) {
	i := slices.IndexFunc(p.todos, func(t event.Todo) bool { return !t.Done && !t.Skip })
	if i < 0 {
		return event.Todo{}, false
	}
	return p.todos[i], true
}

// A verdictOn is what became of something that was put forward; before: in a take
// that was cut.
type verdictOn struct {
	job.Verdict
	before bool
}

// forward puts something forward and returns what became of it; where that leads
// to a commit, once there is one. What was put forward before the turn was cut is
// not put forward again.
func (p *phase) forward(ctx context.Context, keeps bool, body func(call string) event.Body) (v verdictOn, err error) {
	c := ctx.Value(calling{}).(event.ToolCall)
	id := p.id(c)
	if v.Verdict, v.before = p.known(id); !v.before {
		if v.Verdict, err = p.submit(ctx, event.Fact{ID: id, Agent: p.t.id, Body: body(c.ID)}); err != nil {
			return v, err
		}
	}
	p.acted, p.t.closed = true, p.t.closed || v.Over
	if !keeps || v.Why != "" || v.Over || v.Kept != "" {
		return v, nil
	}
	n, err := p.t.box.await(ctx, func(n note) bool { return n.Kind == job.NoteKept && n.kept != nil && n.kept.Ref == id })
	if err == nil {
		v.Kept = n.kept.Commit
	}
	return v, err
}

// submit records what is put forward together with its verdict.
func (p *phase) submit(ctx context.Context, f event.Fact) (job.Verdict, error) {
	events, err := p.t.port.Submit(ctx, f)
	if err != nil {
		return job.Verdict{}, err
	}
	v, answered := job.Verdict{ID: f.ID}, false
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Admitted:
			answered = answered || b.Ref == f.ID
		case event.Refused:
			if b.Ref != f.ID {
				continue
			}
			if b.Over {
				return v, cmp.Or(context.Cause(ctx), errTurnOver)
			}
			answered, v.Why = true, cmp.Or(b.Why, "It was refused.")
		case event.PhaseEnded, event.JobEnded:
			v.Over = true
		}
	}
	if !answered {
		return v, cmp.Or(context.Cause(ctx), errTurnOver)
	}
	return v, nil
}

// id is what the fact of a call is named: after the reply the call stands in, which
// is the same for whoever takes the turn up. A backend's own loop has no such reply
// before it is over, and calls nothing again that it had called.
func (p *phase) id(c event.ToolCall) string {
	of := p.t.conv.reply()
	if p.t.agent.Backend.Traits().OwnsLoop || of == "" {
		of = p.t.key
	}
	id := fmt.Sprintf("put/%s/%s", of, c.ID)
	// Some providers use the id of a call more than once.
	if p.put[id]++; p.put[id] > 1 {
		id += fmt.Sprintf("~%d", p.put[id])
	}
	return id
}

func (p *phase) known(id string) (job.Verdict, bool) {
	i := slices.IndexFunc(p.verdicts, func(v job.Verdict) bool { return v.ID == id })
	if i < 0 {
		return job.Verdict{}, false
	}
	return p.verdicts[i], true
}

// reply is the fact with the calls that are being carried out.
func (c *conversation) reply() string {
	for _, e := range slices.Backward(c.entries) {
		if e.Called != nil {
			return e.ID
		}
	}
	return ""
}

func todosOf(all []event.Todo) []prompt.Todo {
	var out []prompt.Todo
	for _, t := range all {
		out = append(out, prompt.Todo{ID: t.ID, Text: t.Text, Done: t.Done, Skip: t.Skip, Note: t.Note})
	}
	return out
}
