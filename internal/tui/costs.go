package tui

import (
	"fmt"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// newCosts is what the run and the conversation have taken.
func newCosts(m *Model) Screen {
	return &pager{title: "Costs", live: true, lines: (*Model).costLines}
}

func (m *Model) costLines(width int) []string {
	s := m.shown()
	rows := [][]string{{"agent", "cost", "calls", "input", "output", "cached", "reasoning", "context"}}
	for _, a := range s.cost.Agents {
		line, _ := s.card.Agent(a.Agent)
		rows = append(rows, append(spent(m.nameOf(a.Agent), a), contextWords(line)))
	}
	if len(rows) > 2 {
		rows = append(rows, spent("all together", s.cost.Total))
	}
	out := append([]string{m.theme.Heading.Render("This run")}, m.columns(rows, width)...)
	for _, n := range m.costNotes(s.cost) {
		out = append(out, text.Wrap(m.theme.Dim.Render(n), width)...)
	}
	return append(out, m.turnCosts(width)...)
}

// spent is a row of the table.
func spent(who string, s view.Spending) []string {
	return []string{text.Clean(who), costWords(s.Cost, s.Unpriced), fmt.Sprint(s.Calls), short(s.Input), short(s.Output), short(s.Cached), short(s.Reasoning)}
}

func contextWords(a view.AgentLine) string {
	if a.Full() == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%% of %s", int(100*a.Full()), short(int64(a.Window)))
}

// costNotes say what the numbers do not.
func (m *Model) costNotes(c view.Cost) []string {
	var out []string
	left := c.Left()
	if left.Cost != nil {
		out = append(out, fmt.Sprintf("budget: %s of %s left", *left.Cost, *c.Ceiling.Cost))
	}
	if left.Tokens != nil {
		out = append(out, fmt.Sprintf("budget: %s of %s tokens left", short(*left.Tokens), short(*c.Ceiling.Tokens)))
	}
	if left.Cost == nil && left.Tokens == nil {
		out = append(out, "no budget is set")
	}
	if held := c.Held(); held != (event.Amount{}) {
		out = append(out, "held for calls that are going on: "+amountWords(held))
	}
	if c.Forfeited != (event.Amount{}) {
		out = append(out, "counted for calls of which nobody knows whether they were made: "+amountWords(c.Forfeited))
	}
	if c.Children != (event.Amount{}) {
		out = append(out, "of that, by runs that this one launched: "+amountWords(c.Children))
	}
	if n := c.Total.Unpriced; n > 0 {
		out = append(out, "+? marks a sum without "+plural(n, "call")+" of which nobody knows the price")
	}
	return out
}

func amountWords(a event.Amount) string {
	return fmt.Sprintf("%s tokens, %s", short(a.Tokens), a.Cost)
}

// turnCosts is what each thing said in the conversation has taken.
func (m *Model) turnCosts(width int) []string {
	if m.session.Turns.Len() == 0 {
		return nil
	}
	rows := [][]string{{"turn", "cost", "runs", "input", "output", "cached", "reasoning"}}
	var all event.Usage
	for i, t := range m.session.Turns.All(0) {
		var sum event.Usage
		for _, r := range t.Runs {
			u := r.Usage
			if m.story != nil && r.ID == m.story.id && !r.Over {
				u = m.story.cost.Total.Usage // it goes on: what is known so far
			}
			sum = sum.Add(u)
		}
		all = all.Add(sum)
		rows = append(rows, usageRow(fmt.Sprintf("%d %s", i+1, oneLine(m.texts.of(t.Text))), len(t.Runs), sum))
	}
	if len(rows) > 2 {
		rows = append(rows, usageRow("all together", 0, all))
	}
	return append([]string{"", m.theme.Heading.Render("This conversation")}, m.columns(rows, width)...)
}

func usageRow(who string, runs int, u event.Usage) []string {
	n := ""
	if runs > 0 {
		n = fmt.Sprint(runs)
	}
	return []string{who, u.Cost.String(), n, short(u.Input), short(u.Output), short(u.Cached), short(u.Reasoning)}
}
