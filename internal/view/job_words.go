package view

import (
	"fmt"
	"strings"

	"conclave/internal/event"
)

// jobItem is for what happens in a job.
func (t Timeline) jobItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.JobStarted:
		return Item{Kind: ItemStarted, Title: "job started" + prefixed(" by ", f.By) + prefixed(": ", f.Title), Detail: f.Description}
	case event.Prepared:
		return Item{Kind: ItemCommit, Title: "workspace prepared" + prefixed(", commit ", shortCommit(f.Commit)), Ref: f.Commit}
	case event.PhaseBegun:
		return Item{Kind: ItemPhase, Title: phaseTitle(f), Detail: event.Inline(todoTexts(f.Todos)), Ref: f.Key()}
	case event.PhaseEnded:
		return Item{Kind: ItemPhase, Title: phaseName(f.Phase, f.Iteration) + " ended" + prefixed(": ", endedWords(f.How)), Detail: event.Inline(f.Why)}
	case event.Briefed:
		return Item{Kind: ItemNews, Turn: f.Turn, Title: "is told what to do", Detail: f.Text}
	case event.Kept:
		if f.Same && f.Tag == "" {
			return Item{}
		}
		return Item{Kind: ItemCommit, Title: "workspace kept" + prefixed(", commit ", shortCommit(f.Commit)) + bracketed(f.Tag), Detail: event.Inline(f.Plan.Problem), Ref: f.Commit}
	case event.JobEnded:
		return Item{Kind: ItemFinal, Title: "job ended" + prefixed(": ", string(f.Status)) + bracketed(f.Why), Detail: event.Inline(f.Summary)}
	case event.Mutated:
		return Item{Kind: ItemWritten, Turn: f.Turn, Title: "changes a graph" + prefixed(", ", f.Source), Detail: event.Inline(f.Statement), Ref: f.Source}
	case event.TodosStaged, event.TodosDone, event.TodosRewound, event.Completing, event.Addressed:
		return t.todoItem(e)
	}
	return t.reviewItem(e)
}

// todoItem is for what the agent of a job puts forward.
func (t Timeline) todoItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.TodosStaged:
		title := "stages " + count(len(f.Todos), "todo") + prefixed(" for ", f.Name)
		return Item{Kind: ItemTodo, Turn: f.Turn, Title: title, Detail: event.Inline(todoTexts(f.Todos))}
	case event.TodosDone:
		return Item{Kind: ItemTodo, Turn: f.Turn, Title: "has done " + words(" ", plural(len(f.Todos), "todo"), and(f.Todos)), Detail: event.Inline(f.Note)}
	case event.TodosRewound:
		return Item{Kind: ItemTodo, Turn: f.Turn, Title: "gives up the todos of the phase", Detail: event.Inline(f.Issue)}
	case event.Completing:
		return Item{Kind: ItemTodo, Turn: f.Turn, Title: "completes the job", Detail: event.Inline(f.Summary)}
	case event.Addressed:
		title := "answers a comment without a change"
		if f.Changed {
			title = "answers a comment with a change"
		}
		return Item{Kind: ItemComment, Turn: f.Turn, Title: title, Detail: event.Inline(f.Text), Ref: f.Comment}
	}
	return Item{}
}

// reviewItem is for what people say to a job, and about one that is not begun.
func (t Timeline) reviewItem(e event.Event) Item {
	switch f := e.Body.(type) {
	case event.Edited:
		return Item{Kind: ItemWritten, Title: words(" ", f.Path, "edited") + prefixed(" by ", f.By), Detail: f.Text, Ref: f.Path}
	case event.Commented:
		title := "comment" + prefixed(" on ", where(f)) + prefixed(" by ", f.By)
		if f.Reply != "" {
			title = "reply to a comment" + prefixed(" by ", f.By)
		}
		return Item{Kind: ItemComment, Title: title, Detail: event.Inline(f.Text), Ref: e.ID}
	case event.Resolved:
		title := "comment resolved"
		if !f.On {
			title = "comment open again"
		}
		return Item{Kind: ItemComment, Title: title + prefixed(", says ", f.By), Ref: f.Comment}
	case event.Responded:
		return Item{Kind: ItemSaid, Title: "question of the plan answered" + prefixed(" by ", f.By), Detail: event.Inline(f.Text), Ref: f.Question}
	case event.Corrected:
		return Item{Kind: ItemSaid, Title: "correction asked for" + prefixed(" by ", f.By), Detail: f.Text, Ref: e.ID}
	case event.Outlined:
		return Item{Kind: ItemPlan, Title: "job outlined" + prefixed(" by ", f.By) + prefixed(": ", f.Title), Detail: f.Description}
	case event.Linked:
		return Item{Kind: ItemSteer, Title: "is about " + words(" ", "the job", string(f.Job)) + prefixed(" from now on, says ", f.By), Ref: string(f.Job)}
	case event.Tiered:
		return Item{Kind: ItemSteer, Title: words(" ", f.Tier, "tools are", f.Set) + prefixed(", says ", f.By), Ref: f.Tier}
	}
	return Item{}
}

// phaseTitle is "tactical phase 2 begins, Draft it (three todos)".
func phaseTitle(f event.PhaseBegun) string {
	title := words(" ", f.Kind, phaseName(f.Phase, f.Iteration), "begins") + prefixed(", ", f.Name)
	if f.Purpose != "" && f.Purpose != f.Kind {
		title += prefixed(" to ", purposeWords(f.Purpose))
	}
	return title + bracketed(count(len(f.Todos), "todo"))
}

// phaseName is "phase 2", or "phase 1, iteration 3".
func phaseName(phase, iteration int) string {
	s := fmt.Sprintf("phase %d", phase)
	if iteration > 1 {
		s += fmt.Sprintf(", iteration %d", iteration)
	}
	return s
}

// purposeWords says what a phase is for.
func purposeWords(purpose string) string {
	switch purpose {
	case event.PurposeInitial:
		return "make a plan"
	case event.PurposeTransition:
		return "look at what was done and plan on"
	case event.PurposeRevise:
		return "change the plan as a person asked"
	case event.PurposeCorrect:
		return "plan what a person wants corrected"
	case event.PurposeTactical:
		return "carry out its todos"
	}
	return purpose
}

// endedWords says how a phase ended.
func endedWords(how string) string {
	switch how {
	case event.EndedRewound:
		return "its todos were given up"
	case event.EndedCompleting:
		return "it was the last one"
	case event.EndedTrouble:
		return "it cannot go on"
	}
	return how
}

// where is "plan.md, lines 3 to 5".
func where(f event.Commented) string {
	switch {
	case f.Line > 0 && f.End > f.Line:
		return fmt.Sprintf("%s, lines %d to %d", f.Path, f.Line, f.End)
	case f.Line > 0:
		return fmt.Sprintf("%s, line %d", f.Path, f.Line)
	}
	return f.Path
}

// todoTexts is the list in one text, a line each.
func todoTexts(todos []event.Todo) string {
	var out []string
	for _, t := range todos {
		line := words(". ", t.ID, t.Text)
		if t.Skip {
			line += " (left out)"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// shortCommit is as much of the name of a commit as people use.
func shortCommit(c string) string { return c[:min(len(c), 8)] }
