package jobdir

import (
	"context"
	"fmt"
	"strings"

	"conclave/internal/event"
	"conclave/internal/job"
)

// Carry carries out what a job asks for: it writes what the command says and
// commits everything. Text resolves contents.
func (d Dir) Carry(ctx context.Context, k job.Keep, text func(event.Content) (string, error)) (event.Kept, error) {
	c := Change{Ref: k.Ref, Message: k.Message, By: k.By, Tag: k.Tag, Write: map[string][]byte{}}
	if k.Archive != nil {
		c.Write[ArchiveFile(k.Archive.Phase, k.Archive.Iteration, k.Archive.Kind)] = archived(*k.Archive)
	}
	if k.Write {
		p, err := FormatTodos(k.Name, k.Todos)
		if err != nil {
			return event.Kept{}, err
		}
		c.Write[Todos] = p
	}
	if k.Edit != nil {
		if !Editable(k.Edit.Path) {
			return event.Kept{}, fmt.Errorf("%s is not for people to edit", k.Edit.Path)
		}
		s, err := text(k.Edit.Text)
		if err != nil {
			return event.Kept{}, err
		}
		c.Write[k.Edit.Path] = []byte(s)
	}
	if k.Feedback != nil {
		now, err := d.Now(Memory)
		if err != nil {
			return event.Kept{}, err
		}
		f := *k.Feedback
		if !f.Long.Empty() {
			if f.Text, err = text(f.Long); err != nil {
				return event.Kept{}, err
			}
		}
		c.Write[FeedbackFile(f.Round)] = []byte(feedback(f))
		c.Write[Memory] = []byte(WithFeedback(now[Memory], pointer(f)))
	}
	return d.Keep(ctx, c)
}

// feedback is what a person said, as it is kept.
func feedback(f job.Feedback) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Review, round %d\n\n", f.Round)
	if f.By != "" {
		fmt.Fprintf(&b, "By %s.\n\n", f.By)
	}
	if s := strings.TrimSpace(f.Text); s != "" {
		b.WriteString(s + "\n\n")
	}
	if len(f.Comments) > 0 {
		b.WriteString("## Comments\n\n")
		for i, c := range f.Comments {
			fmt.Fprintf(&b, "%d. %s (%s): %s\n", i+1, place(c), c.ID, oneLine(c.Text))
			if c.Quote != "" {
				fmt.Fprintf(&b, "   > %s\n", oneLine(c.Quote))
			}
			for _, r := range c.Replies {
				fmt.Fprintf(&b, "   - %s\n", oneLine(r))
			}
		}
		b.WriteString("\n")
	}
	if len(f.Answers) > 0 {
		b.WriteString("## Answers\n\n")
		for _, a := range f.Answers {
			how := ""
			if a.Default {
				how = " (by default)"
			}
			fmt.Fprintf(&b, "- %s: %s%s\n", oneLine(a.Question.Text), oneLine(a.Text), how)
		}
	}
	return b.String()
}

// longestPointer is how many characters of what a person said are in the memory,
// which the agent is sent with every call.
const longestPointer = 4000

// pointer is what the memory has of it: what is open, and where the rest is.
func pointer(f job.Feedback) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Round %d, in full in %s.\n", f.Round, FeedbackFile(f.Round))
	if s := strings.TrimSpace(f.Text); s != "" {
		if r := []rune(s); len(r) > longestPointer {
			s = string(r[:longestPointer]) + "…\n\n(There is more of it there.)"
		}
		b.WriteString("\n" + s + "\n")
	}
	for _, c := range f.Comments {
		fmt.Fprintf(&b, "- %s (%s): %s\n", place(c), c.ID, oneLine(c.Text))
	}
	return b.String()
}

// place is what a comment is about.
func place(c job.Comment) string {
	switch {
	case c.Path == "":
		return "the plan"
	case c.Line == 0:
		return c.Path
	case c.End > c.Line:
		return fmt.Sprintf("%s:%d-%d", c.Path, c.Line, c.End)
	}
	return fmt.Sprintf("%s:%d", c.Path, c.Line)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// archived is a phase that is over.
func archived(a job.Archive) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Phase %d, %s", a.Phase, a.Kind)
	if a.Name != "" {
		fmt.Fprintf(&b, ": %s", oneLine(a.Name))
	}
	fmt.Fprintf(&b, "\n\nEnded: %s", a.How)
	if a.Why != "" {
		fmt.Fprintf(&b, ". %s", oneLine(a.Why))
	}
	b.WriteString("\n\n")
	for _, t := range a.Todos {
		mark, note := " ", ""
		switch {
		case t.Skip:
			note = " (not to be done)"
		case t.Done:
			mark = "x"
		}
		if t.Note != "" {
			note += ": " + oneLine(t.Note)
		}
		fmt.Fprintf(&b, "- [%s] %s. %s%s\n", mark, t.ID, oneLine(t.Text), note)
	}
	return []byte(b.String())
}
