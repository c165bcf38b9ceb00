package tui

import (
	"strings"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// thinkingItem is what an agent thought.
func (b brush) thinkingItem(it view.Item) []string { return b.thinking(b.of(it.Detail)) }

// thinking draws thoughts: dim, and folded to where they have come to, so that
// it is the same while they come and afterwards.
func (b brush) thinking(s string) []string {
	t := b.m.theme
	if !b.open {
		s = tail(s, (foldedThinking+1)*b.w*4)
	}
	lines := b.wrapped(s, t.Thinking, b.inner())
	head := "thinks"
	if !b.open && len(lines) > foldedThinking {
		lines = lines[len(lines)-foldedThinking:]
		head += t.Faint.Render(" (there is more above: " + b.m.listKey("Enter") + ")")
	}
	return append([]string{b.head("∴", t.Thinking, t.Thinking.Render("thinks")+strings.TrimPrefix(head, "thinks"))}, indent(lines)...)
}

// tail is the end of a long text, from the beginning of a line if there is one.
func tail(s string, n int) string {
	s = strings.TrimRight(s, "\n ")
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < n/2 {
		return "\n" + s[i:]
	}
	return strings.ToValidUTF8(s, "")
}

// textItem is what an agent said.
func (b brush) textItem(it view.Item) []string { return b.said(b.markdown(b.of(it.Detail))) }

// said draws what an agent says, from lines of Markdown.
func (b brush) said(lines []string) []string {
	return b.apart(hang(b.m.theme.Dim.Render("•"), b.fold(lines, foldedAnswer)))
}

// message is something a person has said to agents at work.
func (b brush) message(it view.Item) []string {
	t := b.m.theme
	lines := []string{b.head("›", t.User, t.User.Render(view.Shorten(it.Title, 200)))}
	return b.apart(append(lines, indent(b.fold(b.wrapped(b.of(it.Detail), t.Text, b.inner()), foldedAnswer))...))
}

// round is a rule across the lane: "── round 2 · to answer or vote ───".
func (b brush) round(it view.Item) []string {
	title, shown, told := strings.Cut(strings.TrimPrefix(view.OneLine(it.Title), "begins "), "; shown ")
	title = strings.ReplaceAll(title, ", ", " · ")
	if told {
		title += " · shown " + shown
	}
	return []string{b.rule(title)}
}

// rule is a line across the lane with a title in it.
func (b brush) rule(title string) string {
	t := b.m.theme
	title = text.Cut(title, max(b.w-6, 1))
	left := t.Border.Render("── ") + t.Dim.Render(title) + " "
	return left + t.Border.Render(strings.Repeat("─", max(b.w-text.Width(left), 0)))
}
