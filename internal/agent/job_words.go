package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/job"
	"conclave/internal/prompt"
)

// prompted puts the system prompt of a turn in place. The files the work goes by
// and the todos are in it as they are when the turn begins, and not as they change
// in it: a provider's cache can keep it from call to call. An agent that keeps its
// conversation itself would have to begin another if its prompt changed, so it is
// told them with its brief.
func (t *turn) prompted(ctx context.Context, w job.Work, b Bench) error {
	in := prompt.JobIn{
		Title: w.Started.Title, Strategic: t.phase.strategic, Reviewed: w.Reviewed,
		Phase: w.Phase.Phase, Iteration: w.Phase.Iteration, Name: w.Phase.Name,
		Todos: todosOf(w.Phase.Todos), Memory: t.clean(b.Memory), Plan: t.clean(b.Plan),
		Model: t.agent.Backend.Traits().Model, Extra: t.agent.Seat.Prompt, Scene: t.scene(), Lasting: t.agent.Backend.Traits().NativeHistory,
	}
	if t.phase.strategic {
		in.Staged = todosOf(w.Staged)
	}
	var err error
	if in.Description, err = t.text(ctx, w.Started.Description); err != nil {
		return err
	}
	if in.Instructions, err = t.text(ctx, w.Started.Instructions); err != nil {
		return err
	}
	in.Description, in.Instructions = t.clean(in.Description), t.clean(in.Instructions)
	for _, d := range w.Started.Documents {
		in.Documents = append(in.Documents, fmt.Sprintf("%s (%d bytes)", d.Path, d.Size))
	}
	for _, s := range w.Started.Sources {
		in.Sources = append(in.Sources, source(s, t.phase.strategic))
	}
	in.Fence, in.Seal = fenceOf(in.Texts()...), fenceOf(in.Memory, in.Plan)
	t.in.System = prompt.JobSystem(in)
	if in.Lasting {
		t.phase.standing = prompt.JobStanding(in)
	}
	return nil
}

// source is a datasource in a line.
func source(s event.Source, strategic bool) string {
	may := "to read"
	switch {
	case s.Write && strategic:
		may = "to read now; it may be changed once the plan is carried out"
	case s.Write:
		may = "to read and change"
	}
	return fmt.Sprintf("%s: %s, %s", s.Name, s.Kind, may)
}

// briefs tells the agent what the turn is about: a fact first, then the user's
// words in its conversation.
func (t *turn) briefs(ctx context.Context, w job.Work, b Bench) error {
	in, err := t.briefing(ctx, w, b)
	if err != nil {
		return err
	}
	words := prompt.Brief(in)
	if t.phase.standing != "" && in.Purpose != job.BriefNudge { // which is about the todos
		words += "\n\n" + t.phase.standing
	}
	text, err := t.content(ctx, words)
	if err != nil {
		return err
	}
	f := t.fact("briefed", event.Briefed{Turn: t.turn, Text: text})
	if _, err := t.port.Submit(ctx, f); err != nil {
		return err
	}
	told := f.Body.(event.Briefed)
	return t.conv.add(ctx, dialog.Entry{ID: f.ID, Turn: t.turn, Briefed: &told})
}

// standsNow tells an agent that keeps its conversation itself, and was cut in this
// turn, which todos are done: of what it did last it may know only that it wanted to.
//
// It is one paragraph: of what it is told it hears those that it was not told yet, and
// after the next cut it has to hear what the list is about as well.
func (t *turn) standsNow() {
	if t.phase.standing != "" {
		t.conv.remind(strings.ReplaceAll(t.phase.stand(), "\n\n", "\n") + "\nLook at the files as well before you repeat what you were at.")
	}
}

// briefing is what the turn is about, without secrets.
func (t *turn) briefing(ctx context.Context, w job.Work, b Bench) (in prompt.BriefIn, err error) {
	in = prompt.BriefIn{
		Purpose: w.Brief.Purpose, Round: w.Brief.Round, Feedback: w.Brief.Feedback, Edited: w.Brief.Edits,
		Diff: t.clean(b.Edits), Trouble: t.clean(w.Brief.Trouble), Nothing: w.Brief.Nothing,
	}
	in.Again = w.Phase.Iteration > 1 && in.Purpose != job.BriefNudge && in.Purpose != event.PurposeRevise
	if !w.Brief.Long.Empty() {
		if in.Feedback, err = t.text(ctx, w.Brief.Long); err != nil {
			return in, err
		}
	}
	if in.Result, err = t.text(ctx, w.Brief.Result); err != nil {
		return in, err
	}
	in.Feedback, in.Result = t.clean(in.Feedback), t.clean(in.Result)
	for _, c := range w.Brief.Comments {
		x := prompt.Comment{ID: c.ID, Path: c.Path, First: c.Line, Last: c.End, Quote: t.clean(c.Quote), Text: t.clean(c.Text)}
		for _, r := range c.Replies {
			x.Replies = append(x.Replies, t.clean(r))
		}
		in.Comments = append(in.Comments, x)
	}
	for _, a := range w.Brief.Answers {
		in.Answers = append(in.Answers, prompt.Reply{Question: t.clean(a.Question.Text), Answer: t.clean(a.Text), Default: a.Default})
	}
	in.Open = slices.DeleteFunc(todosOf(w.Phase.Todos), func(x prompt.Todo) bool { return x.Done || x.Skip })
	in.Fence = fenceOf(in.Texts()...)
	return in, nil
}
