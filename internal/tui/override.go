package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atOverride Where = "the choice of who presents"

// override is where a person has another agent present than the one who has won
// the vote: every newest answer, who voted for it and why.
type override struct {
	picker
	gate string
	// answers are the newest ones as of event seq.
	answers map[event.AgentID]view.Item
	seq     uint64
}

func newOverride(m *Model, g view.Gate) *override {
	o := &override{gate: g.Gate, picker: picker{where: atOverride, full: true, empty: "Nobody has an answer."}}
	o.rows = overrideRows(m, g)
	o.selected = max(slices.IndexFunc(o.rows, func(p pick) bool { return p.value == event.AgentID(g.Default) }), 0)
	o.preview = func(m *Model, p pick, width int) []string {
		if o.answers == nil || o.seq != m.story.seq {
			o.answers, o.seq = newestAnswers(m.story), m.story.seq
		}
		return m.candidate(p.value.(event.AgentID), o.answers, width)
	}
	o.chosen = func(m *Model, p pick) tea.Cmd { return m.present(o.gate, p.value.(event.AgentID)) }
	return o
}

func (o *override) gateID() string { return o.gate }

func (o *override) Title(m *Model) string {
	g, ok := m.gate(o.gate)
	if !ok {
		return "Who presents?"
	}
	return "Who presents? " + m.left(g)
}

func overrideRows(m *Model, g view.Gate) []pick {
	ballot := m.story.card.Ballot
	var out []pick
	for _, c := range g.Choices {
		id := event.AgentID(c.ID)
		p := pick{text: m.story.name(id), about: pointsWords(ballot, id), value: id}
		if c.ID == g.Default {
			p.about += ", " + chosenWords(ballot.Chosen, "won the vote")
		}
		out = append(out, p)
	}
	return out
}

// chosenWords are how somebody was chosen, in words that follow a name or its
// votes; who won a vote is told as the place wants it.
func chosenWords(c *event.Chosen, won string) string {
	if c == nil {
		return "was chosen"
	}
	switch c.How {
	case "votes":
		return won
	case "rankings":
		return "won on the rankings after a tie"
	case "draw":
		return "was drawn by lot"
	case "only":
		return "has the only answer"
	case "newest":
		return "has the newest answer"
	}
	return "was chosen"
}

// wonWords say who presents unless a person wants another.
func (m *Model) wonWords(g view.Gate) string {
	return m.story.name(event.AgentID(g.Default)) + " " + chosenWords(m.story.card.Ballot.Chosen, "won") + "."
}

// pointsWords are the votes for an agent.
func pointsWords(b view.Ballot, a event.AgentID) string {
	for _, s := range b.Tally {
		if s.Agent != a {
			continue
		}
		unit := "votes"
		if b.Rule == event.Borda {
			unit = "points"
		}
		if s.Points == 1 {
			unit = unit[:len(unit)-1]
		}
		return fmt.Sprintf("%d %s", s.Points, unit)
	}
	return "no votes"
}

// newestAnswers are where in the timeline the newest answer of each agent is.
func newestAnswers(s *story) map[event.AgentID]view.Item {
	out := map[event.AgentID]view.Item{}
	if s == nil {
		return out
	}
	for _, it := range s.timeline.All(0) {
		if it.Kind == view.ItemAnswer {
			out[it.Agent] = it
		}
	}
	return out
}

// candidate draws an agent's newest answer and the votes for it.
func (m *Model) candidate(a event.AgentID, answers map[event.AgentID]view.Item, width int) []string {
	it, ok := answers[a]
	if !ok {
		return []string{m.theme.Dim.Render("no answer")}
	}
	ref := it.Ref
	if ref == "" {
		ref = m.story.name(a)
	}
	out := []string{m.theme.Heading.Render(text.Cut(text.Clean("Answer "+ref), width))}
	out = append(out, markdown.Render(m.texts.of(it.Detail), width, m.theme)...)
	out = append(out, "", m.theme.Heading.Render("Votes"))
	votes := 0
	for _, v := range m.story.card.Ballot.Voters {
		if v.Vote == nil || v.Vote.For != a {
			continue
		}
		votes++
		line := m.story.name(v.Agent)
		if v.Vote.Reason != "" {
			line += ": " + v.Vote.Reason
		}
		if !m.story.card.Ballot.Counts(v) {
			line += " (does not count)"
		}
		out = append(out, bodyLines(line, width)...)
	}
	if votes == 0 {
		out = append(out, m.theme.Dim.Render("nobody voted for it"))
	}
	return out
}

// present has an agent present.
func (m *Model) present(gate string, a event.AgentID) tea.Cmd {
	g, ok := m.gate(gate)
	m.closeTop()
	if !ok {
		m.notify("The question has been answered meanwhile.")
		return nil
	}
	m.notify(m.story.name(a) + " is to present.")
	return m.reply(g, string(a), "")
}

// overrideLine says that there is a choice, and for how long.
func (m *Model) overrideLine(g view.Gate, w int) string {
	won := m.wonWords(g) + " "
	say := "Press Ctrl+O to override, Enter to continue"
	left := " (" + m.left(g) + ")"
	switch {
	case text.Width(won+say+left)+4 <= w:
		return won + say + left
	case text.Width(say+left)+4 <= w:
		return say + left
	}
	if _, counts := g.Closes(); !counts || m.hold.is(g) {
		return "Ctrl+O override, Enter go on"
	}
	return strings.TrimSuffix(m.left(g), " left") + " Ctrl+O override, Enter go on"
}

func overrideActions() []Action {
	return []Action{
		{Name: "override_choose", Keys: []string{"enter"}, Where: atOverride, Title: "this one presents", Hint: 1,
			About: "Have the chosen agent write the final answer",
			Do: func(m *Model, _ string) tea.Cmd {
				if o, ok := m.top().(*override); ok {
					return o.take(m)
				}
				return nil
			}},
	}
}
