package job_test

import (
	"fmt"
	"regexp"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/job"
)

// state is what the job does, if that has changed.
func (s *stage) state() {
	now := "works"
	switch {
	case s.D.Frozen():
		now = "frozen"
	case s.D.Over():
		now = "over"
	}
	if now != s.was {
		s.Printf("= %s\n", now)
		s.was = now
	}
}

func (s *stage) command(c flow.Command) string {
	switch c := c.(type) {
	case job.Prepare:
		return "→ prepare"
	case job.Work:
		s.work = c
		return "→ work " + working(c)
	case job.Keep:
		s.keep = append(s.keep, c)
		return "→ keep " + keeping(c)
	case job.Launch:
		s.run = c
		out := fmt.Sprintf("→ launch %s by %v: %q", c.Run, c.Launched.Launch.Agents, first(c.Launched.Launch.Task.Text))
		if c.Cancel != nil {
			out += ", to be cancelled"
		}
		return out
	case flow.Stop:
		return "→ stop " + c.Work
	case flow.Tell:
		return fmt.Sprintf("→ tell %s: %s", c.Work, told(c.Note))
	}
	return fmt.Sprintf("→ %T", c)
}

func working(c job.Work) string {
	b := c.Brief
	out := fmt.Sprintf("%s in %s: %s", c.Turn, c.Phase.Key(), b.Purpose)
	add := func(format string, args ...any) { out += "; " + fmt.Sprintf(format, args...) }
	if c.Reviewed {
		add("to be reviewed")
	}
	if b.Feedback != "" {
		add("feedback %q", b.Feedback)
	}
	for _, x := range b.Comments {
		add("%s %q", x.ID, strings.Join(append([]string{x.Text}, x.Replies...), " / "))
	}
	for _, x := range b.Answers {
		add("%q is %q", x.Question.Text, x.Text)
	}
	if len(b.Edits) > 0 {
		add("edited %s (%s to %s)", strings.Join(b.Edits, " "), b.From, b.To)
	}
	if b.Trouble != "" {
		add("trouble %q", b.Trouble)
	}
	if b.Idle > 0 {
		add("idle %d", b.Idle)
	}
	if !b.Result.Empty() {
		add("the run said %q", b.Result.Text)
	}
	if len(c.Staged) > 0 {
		add("staged %s", todos(c.Staged))
	}
	for _, x := range c.History {
		switch {
		case x.Briefed != nil:
			add("was told %q", x.Briefed.Text.Text)
		case x.Called != nil:
			add("said %q", x.Called.Text.Text)
		}
	}
	for _, v := range c.Verdicts {
		add("%s kept=%q why=%q", v.ID, v.Kept, v.Why)
	}
	return out
}

func keeping(k job.Keep) string {
	out := fmt.Sprintf("%s %q", k.Ref, k.Message)
	if k.By != "" {
		out += " by " + k.By
	}
	if k.Tag != "" {
		out += ", tag " + k.Tag
	}
	if k.Write {
		out += ", todos.yaml " + todos(k.Todos)
	}
	if k.Feedback != nil {
		out += fmt.Sprintf(", feedback %d %q with %d comments and %d answers", k.Feedback.Round, k.Feedback.Text, len(k.Feedback.Comments), len(k.Feedback.Answers))
	}
	if k.Archive != nil {
		out += ", archive"
	}
	return out
}

func told(note any) string {
	switch n := note.(type) {
	case job.Cancel:
		return "cancel " + n.ID
	case job.Note:
		if n.Kept != nil {
			return n.Kept.Ref + " is kept"
		}
		return fmt.Sprintf("%s %s %s %q", n.Kind, n.Gate, n.Choice, n.Text)
	}
	return fmt.Sprintf("%T", note)
}

func todos(list []event.Todo) string {
	var out []string
	for _, t := range list {
		mark := ""
		switch {
		case t.Skip:
			mark = "-"
		case t.Done:
			mark = "+"
		}
		out = append(out, mark+t.ID)
	}
	return "[" + strings.Join(out, " ") + "]"
}

// decision is a fact the job has recorded.
func decision(e event.Event) string {
	switch b := e.Body.(type) {
	case event.Admitted:
		return "admitted " + b.Ref
	case event.Refused:
		over := ""
		if b.Over {
			over = ", over"
		}
		return fmt.Sprintf("refused %s (%s%s): %s", b.Ref, b.Code, over, b.Why)
	case event.Granted:
		return "granted " + b.Request
	case event.Asked:
		out := fmt.Sprintf("asked %s, revision %d: %s", b.Gate, b.Revision, b.Title)
		if !b.Text.Empty() && b.Kind == event.GateReview {
			out += "\n  " + strings.ReplaceAll(b.Text.Text, "\n", "\n  ")
		}
		return out
	case event.Closed:
		return strings.TrimSpace(fmt.Sprintf("closed %s: %s (%s) %s", b.Gate, b.Choice, b.How, b.By))
	case event.Launched:
		return fmt.Sprintf("launched %s", b.Run)
	case event.Assigned:
		return fmt.Sprintf("assigned %s", b.Turn)
	case event.Interrupted:
		return fmt.Sprintf("interrupted %s: %s", b.Turn, b.Why)
	case event.PhaseBegun:
		return strings.TrimSpace(fmt.Sprintf("begun %s, %s to %s, %s %s", b.Key(), b.Kind, b.Purpose, todos(b.Todos), b.Ref))
	case event.PhaseEnded:
		return strings.TrimSpace(fmt.Sprintf("ended phase/%d.%d, %s %s", b.Phase, b.Iteration, b.How, b.Why))
	case event.JobEnded:
		return strings.TrimSpace(fmt.Sprintf("job ended, %s %s%s", b.Status, b.Why, b.Summary))
	}
	return event.Kind(e.Body)
}

func first(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

var letters = regexp.MustCompile(`\b(run-\d{8}-\d{6})-[a-z0-9]{4}\b`)

// masked is text without the letters that only tell names apart.
func masked(s string) string { return letters.ReplaceAllString(s, "$1") }
