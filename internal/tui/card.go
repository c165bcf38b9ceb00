package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"conclave/internal/event"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// A brush draws one entry: it knows how wide it may be and what the lane around
// it is.
type brush struct {
	m     *Model
	story *story
	w     int
	open  bool // all of it, not only the beginning
	airy  bool
	all   bool // the lane is that of all agents together
	row   *row // nil for what is not of a timeline
}

func (x *lane) brush(w int, open bool) brush {
	return brush{m: x.m, story: x.story, w: max(w, 1), open: open, airy: x.seen.airy, all: x.agent == ""}
}

// How many lines are shown of what is folded.
const (
	foldedThinking = 3
	foldedNote     = 3
	foldedTurn     = 8
	foldedAnswer   = 12
	openTool       = 40
)

// inner is the width of what stands below a head.
func (b brush) inner() int { return max(b.w-2, 1) }

// head is the first line of a card: a mark and what follows it.
func (b brush) head(mark string, s lipgloss.Style, words string) string {
	return text.Cut(s.Render(mark)+" "+words, b.w)
}

// indent puts lines below a head.
func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "  " + l
	}
	return out
}

// hang puts a mark before the first line and the others below it.
func hang(mark string, lines []string) []string {
	out := indent(lines)
	if len(out) > 0 {
		out[0] = mark + " " + lines[0]
	}
	return out
}

// fold leaves out what is beyond n lines, unless the card is open, and says so.
func (b brush) fold(lines []string, n int) []string {
	if b.open || len(lines) <= n+1 {
		return lines
	}
	return append(lines[:n:n], b.m.theme.Faint.Render("… "+more(len(lines)-n)+" ("+b.m.listKey("Enter")+")"))
}

// listKey names a key of the timeline: where something else has the focus, the one
// that leads there first.
func (m *Model) listKey(name string) string {
	if m.inList {
		return name
	}
	return "F6, " + name
}

func more(n int) string {
	if n == 1 {
		return "one more line"
	}
	return fmt.Sprintf("%d more lines", n)
}

// apart ends a card with a blank line where there is room for that.
func (b brush) apart(lines []string) []string {
	if b.airy {
		return append(lines, "")
	}
	return lines
}

// wrapped is plain text of others as lines of a style.
func (b brush) wrapped(s string, style lipgloss.Style, w int) []string {
	s = strings.Trim(text.Clean(s), "\n")
	if s == "" {
		return nil
	}
	var out []string
	for l := range strings.SplitSeq(s, "\n") {
		for _, piece := range text.Wrap(strings.TrimRight(l, " \t"), w) {
			if piece != "" {
				piece = style.Render(piece)
			}
			out = append(out, piece)
		}
	}
	return out
}

// markdown is a text of others as Markdown below a head.
func (b brush) markdown(s string) []string {
	return markdown.Render(s, b.inner(), b.m.theme)
}

// of is what a content says.
func (b brush) of(c event.Content) string { return b.m.texts.of(c) }

// agent is an agent by its label and id, in its colour.
func (b brush) agent(a event.AgentID, l event.Label) string {
	return b.m.agentStyle(b.story, a).Render(agentName(l, a))
}

// agentStyle is the colour of an agent, the same in every run of the team.
func (m *Model) agentStyle(s *story, a event.AgentID) lipgloss.Style {
	for i, l := range m.team.Agents {
		if l.ID == a {
			return m.theme.Agent(i)
		}
	}
	if s != nil {
		for i, l := range s.card.Agents {
			if l.ID == a {
				return m.theme.Agent(len(m.team.Agents) + i)
			}
		}
	}
	return m.theme.Strong
}

// subject is who an item is about, with a blank after it; empty for nobody.
func (b brush) subject(it view.Item) string {
	if it.Agent == "" {
		return ""
	}
	return b.agent(it.Agent, it.Label) + " "
}
