package tui

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// stateMark is how a call stands.
func (b brush) stateMark(s view.ToolState) (string, lipgloss.Style) {
	t := &b.m.theme
	switch s {
	case view.ToolRunning:
		return "●", t.Accent
	case view.ToolOK:
		return "✓", t.Good
	case view.ToolFailed:
		return "✗", t.Bad
	}
	return "?", t.Warn
}

// tool is one call: what was called, with what, how it stands, and the beginning
// of what came of it. Open, it has the arguments and the result.
func (b brush) tool(it view.Item) []string {
	if it.Tool == nil {
		return b.note(it)
	}
	lines := []string{b.toolLine(it)}
	result := b.of(it.Detail)
	if !b.open {
		if first := firstLine(result); first != "" && (b.airy || it.Tool.State == view.ToolFailed) {
			lines = append(lines, "  "+b.resultStyle(it.Tool.State).Render(text.Cut(first, b.inner())))
		}
		return lines
	}
	lines = append(lines, indent(b.arguments(b.m.texts.input(it.Tool), openTool))...)
	if result != "" {
		lines = append(lines, "  "+b.m.theme.Faint.Render("result"))
		lines = append(lines, indent(b.limited(b.wrapped(result, b.resultStyle(it.Tool.State), b.inner()), openTool))...)
	}
	return lines
}

// resultStyle is how a result is written: what failed is to be seen.
func (b brush) resultStyle(s view.ToolState) lipgloss.Style {
	if s == view.ToolFailed {
		return b.m.theme.Bad
	}
	return b.m.theme.Dim
}

// limited is as much as an open card has room for.
func (b brush) limited(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n:n], b.m.theme.Faint.Render("… "+more(len(lines)-n)+" (o)"))
}

// toolLine is a call as one line: state, purpose, name, argument, time.
func (b brush) toolLine(it view.Item) string {
	t := &b.m.theme
	p := purposeOf(it.Tool.Name)
	mark, style := b.stateMark(it.Tool.State)
	name := text.Cut(view.OneLine(toolName(it.Tool.Name)), max(b.w*2/5, 6))
	look := p.style(t)
	left := style.Render(mark) + " " + look.Render(p.mark+" "+name)
	right := b.toolTime(it)
	room := b.w - text.Width(left) - 2
	if right != "" {
		room -= text.Width(right) + 2
	}
	line := left
	if arg := view.OneLine(preview(b.m.texts.input(it.Tool), p.keys)); arg != "" && room > 3 {
		if p.path {
			arg = text.CutLeft(arg, room)
		} else {
			arg = text.Cut(arg, room)
		}
		line += "  " + t.Text.Render(arg)
	}
	if right != "" {
		line += "  " + t.Faint.Render(right)
	}
	return line
}

// toolTime is how long a call has taken, if that is long enough to matter.
func (b brush) toolTime(it view.Item) string {
	end := it.Tool.Ended
	if it.Tool.State == view.ToolRunning {
		end = b.m.o.Now()
	}
	if took := end.Sub(it.At); !end.IsZero() && took >= time.Second {
		return face(took)
	}
	return ""
}

// group is several calls of a timeline together.
func (b brush) group(r *row) []string {
	var items []view.Item
	for _, i := range r.indices() {
		items = append(items, r.x.story.timeline.At(i))
	}
	return b.calls(items)
}

// calls is several calls together: what they came to, and each of them if it is
// open or still runs.
func (b brush) calls(items []view.Item) []string {
	t := &b.m.theme
	var order []string
	counts, of := map[string]int{}, map[string]purpose{}
	failed, unknown := 0, 0
	state := view.ToolOK
	var below []string
	for _, it := range items {
		if it.Tool == nil {
			continue
		}
		p := purposeOf(it.Tool.Name)
		if counts[p.many] == 0 {
			order = append(order, p.many)
			of[p.many] = p
		}
		counts[p.many]++
		switch it.Tool.State {
		case view.ToolRunning:
			state = view.ToolRunning
		case view.ToolFailed:
			failed++
		case view.ToolUnknown:
			unknown++
		}
		if b.open || it.Tool.State == view.ToolRunning {
			below = append(below, b.narrower(2).toolLine(it))
		}
	}
	switch {
	case state == view.ToolRunning:
	case failed > 0:
		state = view.ToolFailed
	case unknown > 0:
		state = view.ToolUnknown
	}
	var parts []string
	for _, k := range order {
		parts = append(parts, of[k].count(counts[k]))
	}
	line := t.Tool.Render(strings.Join(parts, ", "))
	if failed > 0 {
		line += "  " + t.Bad.Render(countWord(failed, "failed"))
	}
	if unknown > 0 {
		line += "  " + t.Warn.Render(countWord(unknown, "with an unknown outcome"))
	}
	mark, style := b.stateMark(state)
	return append(hang(style.Render(mark), text.Wrap(line, b.inner())), indent(below)...)
}

func (b brush) narrower(n int) brush {
	b.w = max(b.w-n, 1)
	return b
}

// firstLine is the first line of a text that says something.
func firstLine(s string) string {
	for l := range strings.SplitSeq(s[:min(len(s), 4096)], "\n") {
		if l = view.OneLine(l); l != "" {
			return l
		}
	}
	return ""
}
