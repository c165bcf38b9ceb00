package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atVotes Where = "votes"

// newVotes is who votes for whom and why, and what that comes to.
func newVotes(m *Model) Screen {
	p := &picker{
		where: atVotes, title: "Votes", full: true, browse: true, fill: voteRows,
		note:  func(m *Model) string { return m.shown().card.Ballot.Sentence() },
		empty: "Nobody votes in this run.",
	}
	p.preview = func(m *Model, p pick, width int) []string { return m.voteLines(p.value.(view.Arrow), width) }
	p.chosen = func(m *Model, p pick) tea.Cmd {
		a := p.value.(view.Arrow)
		m.open(&pager{title: "The vote of " + m.nameOf(a.From), live: true,
			lines: func(m *Model, width int) []string { return m.voteLines(a, width) }})
		return nil
	}
	return p
}

func voteRows(m *Model) []pick {
	var out []pick
	for _, a := range m.shown().card.Ballot.Map() {
		to := "…"
		if a.To != "" {
			to = string(a.To)
		}
		out = append(out, pick{key: string(a.From), text: m.cell(fmt.Sprintf("%s → %s", a.From, to), 22), about: arrowWords(a), value: a})
	}
	return out
}

// arrowWords is how a vote stands.
func arrowWords(a view.Arrow) string {
	switch a.State {
	case view.ArrowFresh:
		return "counts"
	case view.ArrowStale:
		if a.Counts {
			return "out of date, and counted all the same"
		}
		return "out of date: an answer has come since"
	case view.ArrowLost:
		return "will not vote any more"
	}
	return "no vote yet"
}

// voteLines is one vote, and below it all of them together.
func (m *Model) voteLines(a view.Arrow, width int) []string {
	b := m.shown().card.Ballot
	wrap := func(s string) []string { return text.Wrap(text.Clean(s), width) }
	head := m.nameOf(a.From) + ": " + arrowWords(a)
	if a.To != "" {
		head = m.nameOf(a.From) + " votes for " + m.nameOf(a.To) + " (" + arrowWords(a) + ")"
	}
	out := text.Wrap(m.theme.Heading.Render(text.Clean(head)), width)
	if a.Reason != "" {
		out = append(out, bodyLines(a.Reason, width)...)
	}
	for _, v := range b.Voters {
		if v.Agent == a.From && v.Vote != nil && len(v.Vote.Ranking) > 0 {
			out = append(out, wrap("Ranking: "+m.names(v.Vote.Ranking))...)
		}
	}
	out = append(out, "", m.theme.Heading.Render("All together"))
	for _, s := range b.Tally {
		bar := strings.Repeat("█", min(s.Points, 20))
		out = append(out, text.Cut(fmt.Sprintf("%s %3d %s", text.Pad(text.Cut(text.Clean(m.nameOf(s.Agent)), 22), 22), s.Points, bar), width))
	}
	if len(b.Tally) == 0 {
		out = append(out, m.theme.Dim.Render("nobody has answered yet"))
	}
	if b.Stale > 0 {
		out = append(out, wrap(plural(b.Stale, "vote")+" out of date")...)
	}
	if b.Margin > 0 && b.Winner == "" { // how it was decided says it then
		out = append(out, wrap(fmt.Sprintf("ahead by %d", b.Margin))...)
	}
	return append(out, m.decided(b, width)...)
}

// decided says how the vote was settled.
func (m *Model) decided(b view.Ballot, width int) []string {
	if b.Winner == "" {
		return text.Wrap(m.theme.Dim.Render("not decided yet"), width)
	}
	how := map[string]string{
		"votes": "by the votes", "rankings": "by the rankings, after a tie", "draw": "by lot, after a tie",
		"only": "as the only one with an answer", "newest": "for the newest answer",
	}
	words := m.nameOf(b.Winner) + " was chosen"
	if c := b.Chosen; c != nil {
		switch by, known := how[c.How]; {
		case c.Winner != b.Winner:
			words = m.nameOf(b.Winner) + " was picked by a person; the vote was won by " + m.nameOf(c.Winner)
		case known:
			words += " " + by
		default:
			words += " (" + c.How + ")"
		}
		if c.Margin > 0 {
			words += fmt.Sprintf(", ahead by %d", c.Margin)
		}
	}
	return text.Wrap(m.theme.Good.Render(text.Clean(words)), width)
}

func (m *Model) names(ids []event.AgentID) string {
	var out []string
	for _, a := range ids {
		out = append(out, m.nameOf(a))
	}
	return strings.Join(out, ", ")
}
