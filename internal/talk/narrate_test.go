package talk_test

import (
	"fmt"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/talk"
)

func (s *stage) command(c flow.Command) string {
	switch c := c.(type) {
	case talk.Work:
		s.work = c
		out := fmt.Sprintf("→ work %s of %s, %d calls, knows %s", c.Turn, c.Agent, c.Calls, known(c.Summary, c.Pins, c.History))
		for _, w := range c.Wants {
			out += fmt.Sprintf("; wants %s", standing(w))
		}
		if c.Project != "" {
			out += "; on " + c.Project
		}
		return out
	case talk.Launch:
		s.runs = append(s.runs, c)
		out := fmt.Sprintf("→ launch %s: %q", c.Run, c.Launched.Launch.Task.Text)
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

func told(note any) string {
	switch n := note.(type) {
	case talk.Cancel:
		return "cancel " + n.ID
	case talk.Note:
		switch n.Kind {
		case talk.NoteWant:
			return standing(*n.Want)
		case talk.NoteMessage:
			return fmt.Sprintf("%s %q", n.Said.ID, n.Said.Said.Text.Text)
		case talk.NoteTakenBack:
			return n.Back + " is taken back"
		}
		return fmt.Sprintf("%s %s %s %q", n.Kind, n.Gate, n.Choice, n.Text)
	}
	return fmt.Sprintf("%T", note)
}

// standing is what has come of a wanted run.
func standing(w talk.Want) string {
	switch {
	case w.Refused != nil:
		return w.ID + " refused"
	case w.Returned != nil && w.Returned.Status == "":
		return fmt.Sprintf("%s could not begin %q", w.ID, w.Returned.Error)
	case w.Returned != nil:
		return fmt.Sprintf("%s %s %q", w.ID, w.Returned.Status, w.Returned.Answer.Text)
	case w.Launched != nil:
		return w.ID + " running"
	case w.Closed != nil:
		return fmt.Sprintf("%s %s (%s) %q", w.ID, w.Closed.Choice, w.Closed.How, w.Closed.Text)
	}
	return fmt.Sprintf("%s asked about revision %d", w.ID, w.Revision)
}

// known is the conversation as the agent has it.
func known(summary *event.Compacted, pins, history []talk.Entry) string {
	var out []string
	if summary != nil {
		out = append(out, fmt.Sprintf("[%s]", summary.Summary.Text))
	}
	for _, x := range pins {
		out = append(out, "pin "+entry(x))
	}
	for _, x := range history {
		out = append(out, entry(x))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

func entry(x talk.Entry) string {
	mark := ""
	if x.Pinned {
		mark = "*"
	}
	switch {
	case x.Said != nil:
		return fmt.Sprintf("said%s %q", mark, x.Said.Text.Text)
	case x.Called != nil:
		var tools []string
		for _, c := range x.Called.Tools {
			tools = append(tools, c.ID)
		}
		return strings.TrimSpace(fmt.Sprintf("answered%s %q %s", mark, x.Called.Text.Text, strings.Join(tools, " ")))
	case x.Ended != nil:
		return fmt.Sprintf("end%s of %s %q", mark, x.Run, x.Ended.Answer.Text)
	case x.Run != "":
		return fmt.Sprintf("result%s of %s %q", mark, x.Run, x.Returned.Result.Text)
	}
	return fmt.Sprintf("result%s of %s %q", mark, x.Returned.Call, x.Returned.Result.Text)
}

// memory shows what the state holds of the conversation.
func (s *stage) memory() {
	s.Printf("knows %s\n", masked(known(s.D.History())))
	for _, x := range s.D.Held() {
		s.Printf("holds %s\n", entry(x))
	}
	for _, w := range s.D.Wants() {
		s.Printf("wants %s\n", standing(w))
	}
	for _, x := range []struct{ name, is string }{
		{"project", s.D.Project()}, {"title", s.D.Title()}, {"waived", yes(s.D.Waived())}, {"archived", yes(s.D.Archived())},
	} {
		if x.is != "" {
			s.Printf("%s %s\n", x.name, x.is)
		}
	}
	if s.D.AtRest() {
		fmt.Fprintln(&s.Out, "at rest")
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func decision(e event.Event) string {
	switch b := e.Body.(type) {
	case event.Admitted:
		return "admitted " + b.Ref
	case event.Refused:
		over := ""
		if b.Over {
			over = ", over"
		}
		return fmt.Sprintf("refused %s [%s%s]: %s", b.Ref, b.Code, over, b.Why)
	case event.Granted:
		return "granted " + b.Request
	case event.Launched:
		out := fmt.Sprintf("launched %s for %s, revision %d", b.Run, b.Want, b.Revision)
		if b.Grant.Tokens != nil {
			out += fmt.Sprintf(", with %d tokens", *b.Grant.Tokens)
		}
		if b.Project != "" {
			out += ", on " + b.Project
		}
		return out
	case event.Asked:
		var ids []string
		for _, c := range b.Choices {
			ids = append(ids, c.ID)
		}
		return fmt.Sprintf("asked %s revision %d: %s %q (%s)", b.Gate, b.Revision, b.Title, b.Text.Text, strings.Join(ids, ", "))
	case event.Closed:
		return strings.TrimSpace(fmt.Sprintf("%s closed by %s %s: %s %q", b.Gate, b.How, b.By, b.Choice, b.Text))
	case event.Assigned:
		return strings.TrimSpace(fmt.Sprintf("assigned %s %s", b.Turn, strings.Join(b.Messages, " ")))
	case event.Interrupted:
		var ids []string
		for _, c := range b.Unknown {
			ids = append(ids, c.ID)
		}
		return strings.TrimSpace(fmt.Sprintf("interrupted %s, unknown: %s", b.Turn, strings.Join(ids, " ")))
	}
	return event.Kind(e.Body)
}
