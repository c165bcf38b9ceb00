package companion

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
	"conclave/internal/view"
)

type nothingIn struct{}

//go:embed get_job.md
var aboutJob string

func (o Options) getJob() tool.Tool {
	return typed.New(typed.Spec[nothingIn]{
		Name: "get_job", About: aboutJob, Tier: tool.Read,
		Run: func(ctx context.Context, _ nothingIn) (tool.Result, error) {
			j, err := o.job(ctx)
			if err != nil {
				return failed(ctx, "The job cannot be read", err)
			}
			text, err := o.Eyes.Text(ctx, j.Started.Description)
			if err != nil {
				return failed(ctx, "The job cannot be read", err)
			}
			spent, err := o.Eyes.Spend(ctx, o.Job)
			if err != nil {
				return failed(ctx, "What the job has used cannot be read", err)
			}
			return tool.Result{Text: describe(j, text) + spending(spent)}, nil
		},
	})
}

// describe is how a job stands, with what it took.
func describe(j view.Job, description string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Title: %s\nState: %s\nBegun: %s\nWorked: %s\n", j.Started.Title, state(j), j.Begun.Format(time.RFC3339), time.Duration(j.Worked).Round(time.Second))
	fmt.Fprintf(&b, "Model: %s of %s\nModel calls: %d, tool calls: %d\nTokens: %d in, %d out\nCost: %s%s\n",
		j.Started.Seat.Model, j.Started.Seat.Backend, j.Calls, j.ToolUses, j.Usage.Input, j.Usage.Output, j.Usage.Cost, unpriced(j.Unpriced))
	if j.Estimate != nil {
		fmt.Fprintf(&b, "Estimate for what is left: %s (%s)\n", j.Estimate.Cost, j.Estimate.Basis)
	}
	for _, p := range j.Phases {
		fmt.Fprintf(&b, "Phase %d, %s %q: %d of %d todos done, %d model calls, %d tokens, cost %s", p.Phase, p.Kind, p.Name, done(p.Todos), len(p.Todos), p.Calls, p.Usage.Tokens(), p.Usage.Cost)
		if p.How != "" {
			fmt.Fprintf(&b, "; ended: %s %s", p.How, p.Why)
		}
		b.WriteByte('\n')
	}
	if j.Ended != nil {
		fmt.Fprintf(&b, "Ended: %s %s\nSummary: %s\nDeliverables: %s\nConfidence: %.2f\nNotes: %s\n", j.Ended.Status, j.Ended.Why, j.Ended.Summary, strings.Join(j.Ended.Deliverables, ", "), j.Ended.Confidence, j.Ended.Notes)
	}
	for _, d := range j.Started.Documents {
		fmt.Fprintf(&b, "Document: documents/%s\n", d.Path)
	}
	for _, s := range j.Started.Sources {
		fmt.Fprintf(&b, "Datasource: %s (%s)\n", s.Name, s.Kind)
	}
	fmt.Fprintf(&b, "Description:\n%s\n", description)
	return b.String()
}

// spending is what was used by whom and with what, where that says more than the
// sum.
func spending(s view.Spend) string {
	var b strings.Builder
	b.WriteString("Used, from the audit:\n")
	for _, part := range []struct {
		what string
		all  []view.SpendLine
	}{{"agent", s.Agents}, {"model", s.Models}, {"run", s.Runs}} {
		for _, l := range part.all {
			fmt.Fprintf(&b, "- %s %s: %d model calls, %d tokens, %s%s\n", part.what, l.Name, l.Calls, l.Tokens(), l.Cost, unpriced(l.Unpriced))
		}
	}
	for _, l := range s.Tools {
		fmt.Fprintf(&b, "- tool %s: %d times, %d failed, gave back %d bytes\n", l.Name, l.Uses, l.Failures, l.Returned)
	}
	return b.String()
}

func unpriced(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (of %d calls nobody knows the price)", n)
}

func done(todos []view.JobTodo) int {
	n := 0
	for _, t := range todos {
		if t.Done {
			n++
		}
	}
	return n
}

//go:embed get_todos.md
var aboutTodos string

func (o Options) getTodos() tool.Tool {
	return typed.New(typed.Spec[nothingIn]{
		Name: "get_todos", About: aboutTodos, Tier: tool.Read,
		Run: func(ctx context.Context, _ nothingIn) (tool.Result, error) {
			j, err := o.job(ctx)
			if err != nil {
				return failed(ctx, "The todos cannot be read", err)
			}
			var b strings.Builder
			for _, p := range j.Phases {
				fmt.Fprintf(&b, "Phase %d.%d, %s, %s %q\n", p.Phase, p.Iteration, p.Kind, p.Purpose, p.Name)
				for _, t := range p.Todos {
					b.WriteString(todo(t.Todo))
				}
			}
			if len(j.Staged) > 0 {
				fmt.Fprintf(&b, "Staged for the next phase %q\n", j.StagedName)
				for _, t := range j.Staged {
					b.WriteString(todo(t))
				}
			}
			return tool.Result{Text: b.String()}, nil
		},
	})
}

func todo(t event.Todo) string {
	mark := " "
	switch {
	case t.Skip:
		mark = "-"
	case t.Done:
		mark = "x"
	}
	line := fmt.Sprintf("- [%s] %s. %s", mark, t.ID, t.Text)
	if t.Note != "" {
		line += " (" + t.Note + ")"
	}
	return line + "\n"
}

//go:embed get_graph_changes.md
var aboutGraph string

func (o Options) graphChanges() tool.Tool {
	return typed.New(typed.Spec[nothingIn]{
		Name: "get_graph_changes", About: aboutGraph, Tier: tool.Read,
		Run: func(ctx context.Context, _ nothingIn) (tool.Result, error) {
			j, err := o.job(ctx)
			if err != nil {
				return failed(ctx, "The changes cannot be read", err)
			}
			if len(j.Mutations) == 0 {
				return tool.Result{Text: "The job has changed no graph."}, nil
			}
			var b strings.Builder
			for _, m := range j.Mutations {
				fmt.Fprintf(&b, "%d %s %s %v\n%s\n", m.Seq, m.At.Format(time.RFC3339), m.Source, m.Counters, clip(m.Statement, 2000))
			}
			return tool.Result{Text: b.String()}, nil
		},
	})
}
