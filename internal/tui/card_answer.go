package tui

import (
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// answer is an answer that was accepted: folded, unless it is the newest.
func (b brush) answer(it view.Item) []string {
	t := &b.m.theme
	words := t.Accent.Render(view.OneLine(it.Ref))
	if it.Agent != "" && string(it.Label) != string(it.Agent) {
		words += b.m.agentStyle(b.story, it.Agent).Render(" (" + view.OneLine(string(it.Agent)) + ")")
	}
	lines := []string{b.head("◆", t.Accent, words+t.Dim.Render(" answers"))}
	return b.apart(append(lines, indent(b.fold(b.markdown(b.of(it.Detail)), foldedAnswer))...))
}

// vote is a vote and its reason.
func (b brush) vote(it view.Item) []string {
	t := &b.m.theme
	line := b.subject(it) + t.Good.Render(view.Shorten(it.Title, 200))
	lines := hang(t.Good.Render("✓"), text.Wrap(line, b.inner()))
	return append(lines, indent(b.fold(b.wrapped(b.of(it.Detail), t.Dim, b.inner()), foldedNote))...)
}
