package tui

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// ribbon is how the agent of the open tab, or the whole run, stands in numbers.
func (m *Model) ribbon(w int) string {
	s := m.shown()
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.started.Spec.Plan != "" {
		add("Executing plan %s", text.Clean(s.started.Spec.Plan))
	}
	if a, ok := s.card.Agent(m.active()); ok {
		m.agentNumbers(s, a, add)
	} else {
		m.runNumbers(s, add)
	}
	return text.Cut(" "+m.theme.Dim.Render(strings.Join(parts, " · ")), w)
}

func (m *Model) agentNumbers(s *story, a view.AgentLine, add func(string, ...any)) {
	add("%s", a.Label)
	if a.Round > 0 {
		add("round %d", a.Round)
	}
	add("%s", stateWords(a))
	used := s.cost.Agent(a.ID)
	add("%s tokens", short(used.Tokens()))
	if a.Full() > 0 {
		add("context %d%%", int(100*a.Full()))
	}
	add("%s", costWords(used.Cost, used.Unpriced))
}

func (m *Model) runNumbers(s *story, add func(string, ...any)) {
	add("%s", s.card.Phase)
	add("%d rounds", s.card.Rounds)
	add("%s", face(s.card.Elapsed(m.o.Now())))
	used := s.cost.Total
	add("%s tokens", short(used.Tokens()))
	add("%s", costWords(used.Cost, used.Unpriced))
	if left := s.cost.Left(); left.Cost != nil {
		add("%s left", *left.Cost)
	}
}

// stateWords is what an agent does, in a few words.
func stateWords(a view.AgentLine) string {
	switch a.State {
	case view.StateWorking:
		if t, ok := a.Tool(); ok {
			return "uses " + view.OneLine(t.Name)
		}
		return "works"
	case view.StateVoted:
		return "voted for " + string(a.VoteFor)
	case view.StateLost:
		return "lost: " + view.Shorten(a.Lost, 60)
	case view.StatePresenting:
		return "writes the final answer"
	}
	return string(a.State)
}

// short is a number of tokens: 840, 12.3k, 4.5M.
func short(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func costWords(c fmt.Stringer, unpriced int) string {
	if unpriced > 0 {
		return c.String() + "+?"
	}
	return c.String()
}

// face is a span of time as a clock shows it.
func face(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// consensus is the state of agreement in plain words, and who votes for whom.
func (m *Model) consensus(w int) string {
	s := m.shown()
	line := " " + s.card.Ballot.Sentence()
	if m.past != nil {
		line = " (an earlier run; Esc goes back)" + line
	}
	votes := voteMap(s.card.Ballot)
	if room := w - text.Width(line) - text.Width(votes) - 3; room >= 0 && votes != "" {
		return m.theme.Strong.Render(line) + "   " + m.theme.Dim.Render(votes)
	}
	return m.theme.Strong.Render(text.Cut(line, w))
}

// voteMap is "1→2 2→2 3…": who votes for whom, a vote that is out of date with a
// question mark, one that is not in with dots.
func voteMap(b view.Ballot) string {
	if b.NoVoting || len(b.Voters) < 2 || b.Fresh+b.Stale == 0 {
		return ""
	}
	var out []string
	for _, v := range b.Voters {
		from := strings.TrimPrefix(string(v.Label), "agent")
		switch {
		case v.Lost && v.Vote == nil:
			out = append(out, from+"✗")
		case v.Vote == nil:
			out = append(out, from+"…")
		case !b.Counts(v):
			out = append(out, from+"→"+strings.TrimPrefix(string(v.Vote.ForLabel), "agent")+"?")
		default:
			out = append(out, from+"→"+strings.TrimPrefix(string(v.Vote.ForLabel), "agent"))
		}
	}
	return strings.Join(out, " ")
}
