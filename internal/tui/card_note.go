package tui

import (
	"charm.land/lipgloss/v2"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
	"conclave/internal/view"
)

// marks are how notes begin: one character of one cell, and its look.
var marks = map[view.ItemKind]struct {
	mark  string
	style func(*theme.Theme) lipgloss.Style
}{
	view.ItemStarted:     {"▷", dim},
	view.ItemResumed:     {"↻", dim},
	view.ItemNews:        {"«", dim},
	view.ItemRefused:     {"✗", warn},
	view.ItemInterrupted: {"‖", warn},
	view.ItemFailed:      {"✗", bad},
	view.ItemWarning:     {"!", warn},
	view.ItemLost:        {"✗", bad},
	view.ItemCancel:      {"■", warn},
	view.ItemEnding:      {"■", warn},
	view.ItemChosen:      {"★", accent},
	view.ItemGate:        {"?", accent},
	view.ItemPresenting:  {"✎", accent},
	view.ItemPresented:   {"✎", accent},
	view.ItemChild:       {"↳", dim},
	view.ItemCompacted:   {"≈", dim},
	view.ItemWritten:     {"✎", good},
	view.ItemSteer:       {"›", user},
	view.ItemSaid:        {"›", user},
	view.ItemPlan:        {"☐", accent},
	view.ItemUnknown:     {"·", dim},
}

func dim(t *theme.Theme) lipgloss.Style    { return t.Dim }
func warn(t *theme.Theme) lipgloss.Style   { return t.Warn }
func bad(t *theme.Theme) lipgloss.Style    { return t.Bad }
func good(t *theme.Theme) lipgloss.Style   { return t.Good }
func accent(t *theme.Theme) lipgloss.Style { return t.Accent }
func user(t *theme.Theme) lipgloss.Style   { return t.User }

// quiet kinds are dim all through.
var quietKinds = map[view.ItemKind]bool{
	view.ItemNews: true, view.ItemCompacted: true, view.ItemUnknown: true, view.ItemChild: true, view.ItemResumed: true,
	view.ItemStarted: true, view.ItemPresented: true,
}

// note is one thing that happened in a line or a few: who, what, and the words
// that belong to it.
func (b brush) note(it view.Item) []string {
	t := &b.m.theme
	words := t.Text
	if quietKinds[it.Kind] {
		words = t.Dim
	}
	k, ok := marks[it.Kind]
	if !ok {
		k = marks[view.ItemUnknown]
	}
	style := k.style(t)
	if !quietKinds[it.Kind] && it.Kind != view.ItemWritten {
		words = style
	}
	line := b.subject(it) + words.Render(view.Shorten(it.Title, 400))
	lines := hang(style.Render(k.mark), text.Wrap(line, b.inner()))
	return append(lines, indent(b.fold(b.wrapped(b.of(it.Detail), t.Dim, b.inner()), foldedNote))...)
}

// started is the beginning of a run. What it is about is said there only where no
// conversation around it has said it.
func (b brush) started(it view.Item) []string {
	t := &b.m.theme
	var lines []string
	if b.row == nil || len(b.row.x.before) == 0 {
		lines = b.bubble("you", b.of(it.Detail), nil)
	}
	return append(lines, hang(t.Dim.Render("▷"), text.Wrap(t.Dim.Render(view.Shorten(it.Title, 400)), b.inner()))...)
}

// presented says that the final answer is there; the answer itself comes with the
// end of the run.
func (b brush) presented(it view.Item) []string {
	t := &b.m.theme
	return hang(t.Accent.Render("✎"), text.Wrap(b.subject(it)+t.Dim.Render(view.Shorten(it.Title, 400)), b.inner()))
}
