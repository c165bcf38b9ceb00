package cli

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// summary says in a few lines how a run went.
func (w *watch) summary(r view.RunResult) {
	p := paint(w.Color)
	fmt.Fprintf(w.Err, "\n%s\n", p.bold(verdictLine(r)))
	parts := []string{plural(r.Coordination.Rounds, "round"), plural(r.Usage.Total.Calls, "model call")}
	if w.offline {
		parts[1] = plural(r.Usage.Total.Calls, "scripted reply", "scripted replies")
	} else if r.Usage.Total.Input+r.Usage.Total.Output > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", r.Usage.Total.Input+r.Usage.Total.Output), r.Usage.Total.Cost())
	}
	parts = append(parts, time.Duration(r.Duration-r.Down).Round(100*time.Millisecond).String(), string(r.RunID))
	fmt.Fprintln(w.Err, p.dim(strings.Join(parts, " · ")))
	if w.offline {
		fmt.Fprintln(w.Err, p.dim("Offline: the agents are scripts; no model was called."))
	}
	fmt.Fprintln(w.Err)
}

// verdictLine is how it ended, in one sentence.
func verdictLine(r view.RunResult) string {
	c := r.Coordination
	label := string(c.Winner)
	for _, a := range r.Answers {
		if a.Agent == c.Winner {
			label = fmt.Sprintf("%s (%s)", a.Label, a.Agent)
		}
	}
	switch {
	case r.Status != event.StatusSuccess && c.Winner == "":
		return failure(r)
	case r.Status != event.StatusSuccess:
		return fmt.Sprintf("%s The best answer so far is by %s.", failure(r), label)
	case r.StoppedBy == event.StoppedByBudget:
		return fmt.Sprintf("The budget is used up. The best answer so far is by %s.", label)
	}
	return fmt.Sprintf("%s %s.", label, won(c))
}

// failure is why a run did not succeed. A reason that begins with the word
// itself stands alone.
func failure(r view.RunResult) string {
	head, why := headline(r.Status), strings.TrimRight(view.OneLine(r.Error), ".")
	if rest, ok := strings.CutPrefix(why, strings.ToLower(head)); ok {
		return head + rest + "."
	}
	return fmt.Sprintf("%s: %s.", head, why)
}

func won(c view.Coordination) string {
	switch c.How {
	case "only":
		return "gave the answer"
	case "newest":
		return "gave the newest answer"
	case "override":
		return "was picked by you"
	case "draw":
		if len(c.Votes) == 0 {
			return "was drawn to present"
		}
		return "won a tied vote by lot"
	case "rankings":
		return "won a tied vote by the rankings"
	}
	mine, all := 0, 0
	for _, v := range c.Votes {
		if v.Counted {
			all++
		}
		if v.Counted && v.For == c.Winner {
			mine++
		}
	}
	points := c.Tally[c.Winner]
	switch {
	case all > 0 && points == mine:
		return fmt.Sprintf("won the vote, %d of %d", mine, all)
	case all > 0: // whole rankings were counted
		return fmt.Sprintf("won the vote with %s", plural(points, "point"))
	}
	return "won the vote"
}

func headline(s event.Status) string {
	switch s {
	case event.StatusTimeout:
		return "Out of time"
	case event.StatusCancelled:
		return "Cancelled"
	}
	return "Failed"
}

// printAnswer prints the answer for a person or for a program. A terminal gets
// no control characters from it.
func (w *watch) printAnswer(text string) {
	if text == "" {
		return
	}
	if w.OutTerminal {
		text = view.Clean(text)
	}
	fmt.Fprintln(w.Out, strings.TrimRight(text, "\n"))
}
