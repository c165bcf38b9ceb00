package tui

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A figure is one piece of the ribbon; those of the lowest rank stay longest
// where there is little room.
type figure struct {
	rank  int
	words string
}

// ribbon is how the agent of the open tab, or the whole run, stands in numbers.
func (m *Model) ribbon(w int) string {
	s := m.shown()
	if m.unbegun(s) {
		return m.theme.Dim.Render(text.Cut(" could not begin", w))
	}
	var all []figure
	add := func(rank int, format string, args ...any) {
		all = append(all, figure{rank, fmt.Sprintf(format, args...)})
	}
	if dir := s.started.Spec.Plan; dir != "" {
		add(1, "Executing plan %s", view.OneLine(dir))
	}
	if a, ok := s.card.Agent(m.active()); ok {
		m.agentNumbers(s, a, add)
	} else {
		m.runNumbers(s, add)
	}
	return m.theme.Dim.Render(text.Cut(" "+figures(all, w-1), w))
}

// unbegun reports whether a run of the conversation could not begin.
func (m *Model) unbegun(s *story) bool {
	for _, t := range m.session.Turns.All(0) {
		for _, r := range t.Runs {
			if r.ID == s.id {
				return r.Unbegun()
			}
		}
	}
	return false
}

// figures are as many as fit in w cells, in their order.
func figures(all []figure, w int) string {
	for {
		var words []string
		worst := 0
		for i, f := range all {
			words = append(words, f.words)
			if f.rank >= all[worst].rank {
				worst = i
			}
		}
		line := strings.Join(words, " · ")
		if text.Width(line) <= w || len(all) < 2 {
			return line
		}
		all = append(all[:worst:worst], all[worst+1:]...)
	}
}

func (m *Model) agentNumbers(s *story, a view.AgentLine, add func(int, string, ...any)) {
	add(2, "%s", agentName(a.Label, a.ID))
	if a.Round > 0 {
		add(2, "round %d", a.Round)
	}
	add(3, "%s", stateWords(a))
	if t := s.tasks.Agent(a.ID); t.Total > 0 {
		add(3, "tasks %d/%d", t.Done, t.Total)
	}
	if left, ok := s.card.RoundLeft(a.ID, m.o.Now()); ok {
		words := "%s left"
		if a.Late {
			words = "%s to finish"
		}
		add(2, words, face(left))
	}
	shellNumbers(len(s.shells.Running(a.ID)), add)
	used := s.cost.Agent(a.ID)
	add(5, "%s tokens", short(used.Tokens()))
	if a.Full() > 0 {
		add(4, "context %d%%", int(100*a.Full()))
	}
	add(4, "%s", costWords(used.Cost, used.Unpriced))
}

func (m *Model) runNumbers(s *story, add func(int, string, ...any)) {
	switch {
	case s.card.Paused:
		add(2, "paused")
	case s.card.Phase != view.PhaseNone:
		add(2, "%s", s.card.Phase)
	}
	if n := s.round(); n > 0 {
		add(3, "round %d", n)
	}
	done, total := 0, 0
	for _, t := range s.tasks.Agents {
		done, total = done+t.Done, total+t.Total
	}
	if total > 0 {
		add(4, "tasks %d/%d", done, total)
	}
	add(3, "%s", face(s.card.Elapsed(m.o.Now())))
	if left, ok := s.card.TimeLeft(m.o.Now()); ok {
		add(2, "%s left", face(left))
	}
	shellNumbers(len(s.shells.Running("")), add)
	used := s.cost.Total
	add(5, "%s tokens", short(used.Tokens()))
	if full := s.fullest(); full > 0 {
		add(6, "context %d%%", int(100*full))
	}
	add(4, "%s", costWords(used.Cost, used.Unpriced))
	if left := s.cost.Left(); left.Cost != nil {
		add(4, "%s left", *left.Cost)
	}
}

// shellNumbers is how many commands go on in the background.
func shellNumbers(n int, add func(int, string, ...any)) {
	switch n {
	case 0:
	case 1:
		add(4, "1 command in the background")
	default:
		add(4, "%d commands in the background", n)
	}
}

// round is the round of whoever is furthest.
func (s *story) round() int {
	n := 0
	for _, a := range s.card.Agents {
		n = max(n, a.Round)
	}
	return n
}

// fullest is how full the window of the agent is that has least room.
func (s *story) fullest() float64 {
	full := 0.0
	for _, a := range s.card.Agents {
		full = max(full, a.Full())
	}
	return full
}

// stateWords is what an agent does, in a few words.
func stateWords(a view.AgentLine) string {
	switch a.State {
	case view.StateWorking:
		if t, ok := a.Tool(); ok {
			return "uses " + view.OneLine(toolName(t.Name))
		}
		return "works"
	case view.StateVoted:
		return "voted for " + view.OneLine(string(a.VoteFor))
	case view.StateLost:
		return view.Shorten(a.Gone(), 66)
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
	if m.unbegun(s) {
		line = " Nothing was done."
	}
	if m.past != nil && !m.inRun() {
		line = " An earlier run (Esc goes back):" + line
	}
	votes := voteMap(s.card.Ballot)
	if room := w - text.Width(line) - text.Width(votes) - 4; room >= 0 && votes != "" {
		return m.theme.Strong.Render(line) + "   " + m.theme.Dim.Render(votes)
	}
	return m.theme.Strong.Render(text.Cut(line, w))
}

// voteMap is "1→2 2→2 3…": who votes for whom, a vote that is out of date with a
// question mark, one that is not in with dots.
func voteMap(b view.Ballot) string {
	if b.Single || b.Fresh+b.Stale == 0 {
		return ""
	}
	number := func(l event.Label) string { return view.OneLine(strings.TrimPrefix(string(l), "agent")) }
	var out []string
	for _, a := range b.Map() {
		s := number(a.FromLabel)
		switch a.State {
		case view.ArrowLost:
			s += "✗"
		case view.ArrowWaiting:
			s += "…"
		case view.ArrowStale:
			s += "→" + number(a.ToLabel) + "?"
		default:
			s += "→" + number(a.ToLabel)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}
