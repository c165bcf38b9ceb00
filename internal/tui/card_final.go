package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// final is the end of a run: the answer, how it was come to, what was written and
// where, or why there is none.
func (b brush) final(it view.Item) []string {
	t := &b.m.theme
	r := b.story.result.RunResult()
	title := "Final answer"
	if r.FinalAnswer.Size == 0 {
		title = "The run is over"
	}
	left := t.Accent.Render("━━ " + title + " ")
	lines := []string{text.Cut(left+t.Accent.Render(strings.Repeat("━", max(b.w-text.Width(left), 0))), b.w)}
	add := func(more ...string) { lines = append(lines, more...) }
	if s := verdict(b.story.card.Ballot); s != "" {
		add(b.wrapped(s, t.Strong, b.w)...)
	}
	if s := endWords(r); s != "" {
		add(b.wrapped(s, t.Warn, b.w)...)
	}
	if r.FinalAnswer.Size > 0 {
		add("")
		add(b.narrower(-2).markdown(b.of(event.Content(r.FinalAnswer)))...)
	} else if s := partial(r); s != "" {
		add(b.wrapped(s, t.Text, b.w)...)
	}
	if foot := r.Footer(); foot != "" {
		add("")
		add(b.wrapped(foot, t.Good, b.w)...)
	}
	if r.WorkspacePath != "" {
		add(b.wrapped("Workspace: "+r.WorkspacePath, t.Dim, b.w)...)
	}
	if b.m.goesOn() {
		add(t.Faint.Render(text.Cut("Type below to go on.", b.w)))
	}
	return b.apart(lines)
}

// goesOn reports whether what is typed goes on with the conversation: nothing is
// under way, and no plan waits.
func (m *Model) goesOn() bool { return m.past == nil && m.situation() == Finished }

// verdict is who won and by what: "agent2 (ada) won 2–1".
func verdict(b view.Ballot) string {
	if b.Winner == "" {
		return ""
	}
	who := voterName(b, b.Winner)
	switch c := b.Chosen; {
	case c != nil && c.Winner != b.Winner:
		return fmt.Sprintf("%s was picked by a person instead of %s", who, voterName(b, c.Winner))
	case b.Single:
		return who + " answered alone"
	case c == nil:
		return who + " was chosen"
	case c.How == "votes":
		return fmt.Sprintf("%s won %s", who, score(c.Tally))
	case c.How == "rankings":
		return fmt.Sprintf("%s won on the rankings after a tie, %s", who, score(c.Tally))
	case c.How == "draw":
		return fmt.Sprintf("%s was drawn by lot after a tie, %s", who, score(c.Tally))
	case c.How == "only":
		return fmt.Sprintf("Agreed without a vote: %s had the only answer", who)
	}
	return fmt.Sprintf("Agreed without a vote: %s had the newest answer", who)
}

// voterName is an agent by its label and id.
func voterName(b view.Ballot, a event.AgentID) string {
	for _, v := range b.Voters {
		if v.Agent == a {
			return agentName(v.Label, a)
		}
	}
	return agentName("", a)
}

// score is "2–1", the winner's first; somebody against nobody is "2–0".
func score(tally map[event.AgentID]int) string {
	var points []int
	for _, n := range tally {
		points = append(points, n)
	}
	slices.SortFunc(points, func(a, b int) int { return cmp.Compare(b, a) })
	for len(points) > 2 && points[len(points)-1] == 0 {
		points = points[:len(points)-1]
	}
	if len(points) == 1 {
		points = append(points, 0)
	}
	var parts []string
	for _, n := range points {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, "–")
}

// endWords says how a run ended that did not end well.
func endWords(r view.RunResult) string {
	if r.Status == event.StatusSuccess {
		return ""
	}
	s := statusWords(r.Status, r.StoppedBy)
	if r.Error != "" {
		s += ": " + view.OneLine(r.Error)
	}
	if r.FinalAnswer.Size > 0 {
		s += ". This is what there was."
	}
	return s
}

// statusWords is how a run ended.
func statusWords(s event.Status, by event.StoppedBy) string {
	switch {
	case s == event.StatusSuccess:
		return "done"
	case s == event.StatusCancelled:
		return "Cancelled"
	case s == event.StatusTimeout:
		return "Out of time"
	case by == event.StoppedByBudget:
		return "The budget is used up"
	case s == "":
		return "Not finished"
	}
	return "Failed"
}

// partial names the answers there are when none of them became the final one.
func partial(r view.RunResult) string {
	if len(r.Answers) == 0 {
		return "Nobody has answered."
	}
	var names []string
	for _, a := range r.Answers {
		names = append(names, fmt.Sprintf("%s.%d", a.Label, a.Revision))
	}
	return "Answers so far: " + strings.Join(names, ", ")
}
