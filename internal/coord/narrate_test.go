package coord_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/internal/coord"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// fact says a decision in one line.
func (s *stage) fact(e event.Event) string {
	a := string(e.Agent)
	switch b := e.Body.(type) {
	case event.Assigned:
		return a + " starts " + turn(b.Turn) + knowing(b.Seen) + ": " + offer(b.MayAnswer, b.MayVote) + when(b.Closing, " (closing)") + s.reading(b.Messages)
	case event.Granted:
		return strings.TrimSpace(a + " is granted its request")
	case event.Answered:
		return fmt.Sprintf("%s.%d accepted%s", a, b.Revision, knowing(b.Seen))
	case event.Voted:
		out := a + " votes for " + string(b.For) + knowing(b.Seen)
		if len(b.Ranking) > 0 {
			out += ", ranking " + list(b.Ranking)
		}
		return out + when(b.Reason != "", fmt.Sprintf(", because %q", b.Reason)) + when(b.Closing, " (closing)")
	case event.Refused:
		return strings.TrimSpace("refused "+a) + fmt.Sprintf(" [%s%s]: %s", b.Code, when(b.Over, ", over"), b.Why)
	case event.Admitted:
		what, _, _ := strings.Cut(b.Ref, "/")
		if strings.Contains(b.Ref, "/wished") {
			return a + " may do what it wished"
		}
		return "admitted " + when(a == "", what) + when(a != "", "the final answer of "+a)
	case event.Interrupted:
		return a + " is interrupted in " + turn(b.Turn) + ": " + b.Why + unknown(b.Unknown)
	case event.Warned:
		return when(a != "", a+" is warned in "+turn(b.Turn)) + when(a == "", "the run is warned")
	case event.Lost:
		return fmt.Sprintf("%s is lost [%s]: %s", a, b.Code, b.Message)
	}
	return s.conclusion(e)
}

// conclusion says what comes after the work.
func (s *stage) conclusion(e event.Event) string {
	switch b := e.Body.(type) {
	case event.Ending:
		return fmt.Sprintf("ending [%s]: %s", b.By, b.Why)
	case event.Chosen:
		var tally []string
		for _, id := range slices.Sorted(maps.Keys(b.Tally)) {
			tally = append(tally, fmt.Sprintf(" %s=%d", id, b.Tally[id]))
		}
		return fmt.Sprintf("chosen %s by %s%s, margin %d, order %s", b.Winner, b.How, strings.Join(tally, ""), b.Margin, list(b.Order))
	case event.Asked:
		var choices []string
		for _, c := range b.Choices {
			choices = append(choices, c.ID+" ("+c.Text+")"+when(c.ID == b.Default, " by default"))
		}
		return fmt.Sprintf("asked %s %q %s: %s", b.Gate, b.Title, map[bool]string{true: "for " + b.Wait.String(), false: "until somebody replies"}[b.Wait > 0], strings.Join(choices, ", "))
	case event.Closed:
		return b.Gate + " closed by " + b.How + ": " + b.Choice + when(b.Text != "", fmt.Sprintf(" (%s)", b.Text))
	case event.Presenting:
		return fmt.Sprintf("%s presents in %s: %s of %s.%d%s%s", e.Agent, turn(b.Turn), b.Strategy, b.Draft, b.Revision,
			when(b.Execute, ", executes"), when(b.Write, ", may write")+s.reading(b.Messages))
	case event.Finished:
		return fmt.Sprintf("finished [%s, %s]: %q%s%s%s", b.Status, b.StoppedBy, b.Answer.Text,
			when(b.Winner != "", " of "+string(b.Winner)), when(b.Presenter != "", ", presented by "+string(b.Presenter)),
			when(b.Error != "", "; "+b.Error))
	}
	return fmt.Sprintf("%T", e.Body)
}

func (s *stage) commands(do []flow.Command) {
	for _, c := range do {
		fmt.Fprintln(&s.out, "→ "+s.command(c))
	}
}

// command says what the shell is asked to do.
func (s *stage) command(c flow.Command) string {
	switch c := c.(type) {
	case coord.Work:
		return "work " + string(c.Agent) + " " + turn(c.Turn) + ": " + offer(c.MayAnswer, c.MayVote) + shown(c.Answers) +
			when(c.Planning, ", read-only tools") + when(c.Write, ", may write") + when(c.Closing, ", no tools") +
			when(c.Metered, ", metered") + s.left(c.Calls) + unknown(c.Unknown) + heard(c.Said)
	case coord.Present:
		out := fmt.Sprintf("present %s %s: %s%s", c.Agent, turn(c.Turn), c.Strategy, shown(c.Answers))
		for i, v := range c.Votes {
			out += when(i == 0, ", votes") + fmt.Sprintf(" %s for %s", v.Voter, v.For) + when(v.Reason != "", fmt.Sprintf(" (%s)", v.Reason))
		}
		return out + when(c.Planning, ", read-only tools") + when(c.Execute, ", executes") + when(c.Write, ", may write") +
			when(c.Metered, ", metered") + s.left(c.Calls) + unknown(c.Unknown) + heard(c.Said)
	case flow.Stop:
		return "stop " + piece(c.Work)
	case flow.Tell:
		n := c.Note.(coord.Note)
		if n.Kind != coord.NotePause && n.Kind != coord.NoteContinue && n.Kind != coord.NoteTakenBack { // no model hears of these
			s.notes[c.Work] = append(s.notes[c.Work], n)
		}
		return "tell " + piece(c.Work) + ": " + n.Kind + shown(n.Answers) + when(n.Choice != "", " "+n.Choice+" ("+n.Text+")") +
			when(n.Said.ID != "", fmt.Sprintf(" %q", n.Said.Text.Text)) + when(n.Job != "", " "+n.Job)
	}
	return fmt.Sprintf("%+v", c)
}

// left is said only where calls are scarce.
func (s *stage) left(calls int) string {
	return when(s.start.Rules.MaxCalls < 100, fmt.Sprintf(", %d calls left", calls))
}

func turn(t event.Turn) string {
	return fmt.Sprintf("round %d", t.Round) + when(t.Take > 1, fmt.Sprintf(" take %d", t.Take))
}

// piece says whose turn a command is about.
func piece(key string) string {
	var t event.Turn
	part := strings.Split(key, "/")
	if _, err := fmt.Sscanf(part[2], "%d.%d", &t.Round, &t.Take); err != nil {
		return key
	}
	return part[1] + " " + turn(t)
}

func offer(answer, vote bool) string {
	switch {
	case answer && vote:
		return "answer or vote"
	case answer:
		return "answer"
	case vote:
		return "vote"
	}
	return "nothing"
}

func knowing(seen event.Seen) string {
	out := ""
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		out += fmt.Sprintf(" %s.%d", id, seen[id])
	}
	return when(out != "", " knowing"+out)
}

func shown(answers []coord.Shown) string {
	out := ""
	for _, a := range answers {
		out += fmt.Sprintf(" %s.%d", a.Agent, a.Revision) + when(a.Own, " (own)")
	}
	return when(out != "", ", shown"+out)
}

func unknown(calls []event.ToolCall) string {
	out := ""
	for _, c := range calls {
		out += " " + c.Name
	}
	return when(out != "", ", outcome unknown:"+out)
}

func heard(said []coord.Message) string {
	out := ""
	for _, m := range said {
		out += fmt.Sprintf(" %q", m.Text.Text)
	}
	return when(out != "", ", told"+out)
}

func list(ids []event.AgentID) string {
	out := ""
	for _, id := range ids {
		out += " " + string(id)
	}
	return strings.TrimSpace(out)
}

func when(is bool, s string) string {
	if is {
		return s
	}
	return ""
}
