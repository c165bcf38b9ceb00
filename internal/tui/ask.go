package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/tui/input"
	"conclave/internal/tui/text"
)

// ask is a dialog with a few choices: the actions that are bound to it, each by
// its key, by the arrows and Enter, or by a click.
type ask struct {
	where Where
	title string
	words string // what it is about

	at    int // the choice that Enter takes
	first int // line of the first choice in the last frame
}

func (a *ask) Where() Where        { return a.where }
func (a *ask) Title(*Model) string { return a.title }
func (a *ask) Full() bool          { return false }
func (a *ask) Scroll(lines int)    { a.at += lines }

// choices are what can be chosen.
func (a *ask) choices(m *Model) []Action {
	return slices.DeleteFunc(slices.Clone(m.table), func(x Action) bool { return x.Where != a.where })
}

func (a *ask) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Keystroke() == "enter" {
		if choices := a.choices(m); len(choices) > 0 {
			return m.run(choices[a.settle(len(choices))], ""), true
		}
	}
	return nil, false
}

// settle keeps what is chosen among n choices.
func (a *ask) settle(n int) int {
	a.at = max(min(a.at, n-1), 0)
	return a.at
}

// Click takes a choice.
func (a *ask) Click(m *Model, _, y int) tea.Cmd {
	choices := a.choices(m)
	if i := y - a.first; i >= 0 && i < len(choices) {
		a.at = i
		return m.run(choices[i], "")
	}
	return nil
}

func (a *ask) View(m *Model, width, height int) []string {
	choices := a.choices(m)
	a.settle(len(choices))
	room := max(height-len(choices), 0)
	var out []string
	if a.words != "" {
		out = append(bodyLines(a.words, width), "")
	}
	out = out[:min(len(out), room)]
	a.first = len(out)
	for i, c := range choices {
		key := ""
		if len(c.Keys) > 0 {
			key = keyName(c.Keys[0])
		}
		words := c.About
		if text.Width(key+words)+4 > width {
			words = c.Title
		}
		line := text.Cut("  "+m.theme.Key.Render(key)+"  "+words, width)
		if i == a.at {
			line = m.theme.Selected.Render(text.Pad(text.Cut("› "+key+"  "+words, width), width))
		}
		out = append(out, line)
	}
	return out
}

// A field is a text written inside a dialog, with the same keys as the input.
type field struct{ in *input.Model }

func newField(placeholder string) field {
	f := field{input.New(input.Options{})}
	f.in.Placeholder(placeholder)
	return f
}

// update takes a message. Enter is done: the text stays where it is.
func (f field) update(msg tea.Msg) (done, used bool) {
	switch out, _ := f.in.Update(msg); out.(type) {
	case input.Submit:
		f.in.Restore()
		return true, true
	case input.Unhandled, input.Editor:
		return false, false
	}
	return false, true
}

// text is what is written.
func (f field) text() string { return strings.TrimSpace(f.in.Text()) }

// lines draws it. Dialogs have no cursor of the terminal's, so it is drawn too
// where it is being written.
func (f field) lines(m *Model, width, height int, writing bool) []string {
	lines, x, y, _ := f.in.View(width, max(height, 1), m.theme)
	if !writing || y < 0 || y >= len(lines) {
		return lines
	}
	line := text.Pad(lines[y], max(x+1, text.Width(lines[y]))) // room for a cursor behind the last letter
	under := ansi.Strip(ansi.Cut(line, x, x+1))
	if text.Width(under) != 1 {
		under = " "
	}
	lines[y] = ansi.Cut(line, 0, x) + "\x1b[7m" + under + "\x1b[27m" + ansi.Cut(line, x+1, text.Width(line))
	return lines
}
