package tui

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// gutter is how wide the numbers of lines are.
const gutter = 5

// says is a piece that cannot be marked: words about the page.
func says(lines ...string) piece { return piece{lines: lines} }

// filePieces is a file as it reads, block by block, with the comments below what
// they are about. A table and a block of code is one block, anything else a line.
func (s *jobScreen) filePieces(m *Model, name string, width int) []piece {
	f, ok := s.files.texts[name]
	switch {
	case !ok && s.files.wrong != "":
		return []piece{says(text.Wrap(m.theme.Warn.Render(text.Clean(s.files.wrong)), width)...)}
	case !ok:
		return []piece{says(m.theme.Dim.Render(text.Cut(name+" is not written yet.", width)))}
	}
	lines := f.lines()
	threads := map[int][]view.JobThread{}
	for _, t := range s.job.Threads {
		if t.Path == name {
			at := anchor(t, lines)
			threads[at] = append(threads[at], t)
		}
	}
	var out []piece
	for _, t := range threads[0] {
		out = append(out, says(m.threadLines(t, width, true)...))
	}
	for from := 0; from < len(lines); {
		to := blockEnd(lines, from)
		out = append(out, piece{
			lines: m.blockLines(lines[from:to], from+1, width), mark: strings.TrimSpace(lines[from]) != "", first: from + 1, last: to,
		})
		for at := from + 1; at <= to; at++ {
			for _, t := range threads[at] {
				out = append(out, says(m.threadLines(t, width, false)...))
			}
		}
		from = to
	}
	return out
}

// anchor is the line that a thread is about, as the file is now: the one that
// reads as it did then and is nearest; zero if there is none.
func anchor(t view.JobThread, lines []string) int {
	quote, _, _ := strings.Cut(strings.TrimSpace(t.Quote), "\n")
	quote = strings.TrimSpace(quote)
	if quote == "" {
		return min(t.Line, len(lines))
	}
	best := 0
	for i, l := range lines {
		if strings.TrimSpace(l) != quote {
			continue
		}
		if n := i + 1; best == 0 || max(n-t.Line, t.Line-n) < max(best-t.Line, t.Line-best) {
			best = n
		}
	}
	return best
}

// blockEnd is where a block ends that begins at a line.
func blockEnd(lines []string, from int) int {
	l := strings.TrimSpace(lines[from])
	for _, fence := range []string{"```", "~~~"} {
		if !strings.HasPrefix(l, fence) {
			continue
		}
		for i := from + 1; i < len(lines); i++ {
			if strings.HasPrefix(strings.TrimSpace(lines[i]), fence) {
				return i + 1
			}
		}
		return len(lines)
	}
	to := from + 1
	for strings.HasPrefix(l, "|") && to < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[to]), "|") {
		to++
	}
	return to
}

// blockLines draws a block, with the number of its first line before it.
func (m *Model) blockLines(block []string, number, width int) []string {
	source := strings.Join(block, "\n")
	if strings.TrimSpace(source) == "" {
		return []string{""}
	}
	indent := 0
	if len(block) == 1 { // what a list is inside of is not known here
		trimmed := strings.TrimLeft(text.Expand(source), " ")
		indent = min(len(text.Expand(source))-len(trimmed), width/3)
		source = trimmed
	}
	var out []string
	for i, l := range markdown.Render(source, max(width-gutter-indent, 4), m.theme) {
		n := text.Spaces(gutter)
		if i == 0 {
			n = fmt.Sprintf("%*d ", gutter-1, number)
		}
		out = append(out, m.theme.Faint.Render(n)+text.Spaces(indent)+l)
	}
	return out
}

// threadLines is a comment with what became of it.
func (m *Model) threadLines(t view.JobThread, width int, strayed bool) []string {
	inside := max(width-gutter-3, 4)
	state := ""
	switch {
	case t.Resolved:
		state = " (resolved)"
	case strayed && t.Line > 0:
		state = " (on a line that is not there any more: " + view.Shorten(t.Quote, 60) + ")"
	}
	var out []string
	add := func(words string) {
		for _, l := range text.Wrap(text.Clean(words), inside) {
			out = append(out, m.theme.User.Render(text.Cut(text.Spaces(gutter)+"▎ "+l, width)))
		}
	}
	add(view.OneLine(t.By) + prefixed(": ", view.OneLine(t.Text)) + state)
	for _, r := range t.Replies {
		who := view.OneLine(r.By)
		if r.Agent {
			who = "agent, " + changedWord(r.Changed)
		}
		add("  " + who + ": " + view.OneLine(r.Text))
	}
	if a := t.Answer; a != nil {
		add("  agent, " + changedWord(a.Changed) + ": " + view.OneLine(a.Text))
	}
	return out
}

func changedWord(changed bool) string {
	if changed {
		return "changed"
	}
	return "not changed"
}

// todos are those of the next phase, as the person wants them, or of the phase
// that goes on.
func (s *jobScreen) todos() []event.Todo {
	if s.wanted != nil {
		return s.wanted
	}
	if s.job.State == view.JobReview {
		return s.job.Staged
	}
	p, _ := s.job.Current()
	var out []event.Todo
	for _, t := range p.Todos {
		out = append(out, t.Todo)
	}
	return out
}

// todoPieces is what is to be done, each to be ticked and moved while the plan
// waits.
func (s *jobScreen) todoPieces(m *Model, width int) []piece {
	head, name := "What is done next", s.job.StagedName
	if p, ok := s.job.Current(); s.job.State != view.JobReview && ok {
		head, name = fmt.Sprintf("Phase %d, %s", p.Phase, p.Kind), p.Name
	}
	out := []piece{says(m.theme.Heading.Render(text.Cut(" "+head+prefixed(": ", view.OneLine(name)), width)))}
	if s.job.Problem != "" {
		out = append(out, says(text.Wrap(m.theme.Warn.Render(" "+text.Clean(view.OneLine(s.job.Problem))), width)...))
	}
	todos := s.todos()
	for _, t := range todos {
		out = append(out, piece{lines: m.todoLines(t, width), mark: true, ref: t.ID})
	}
	if len(todos) == 0 {
		out = append(out, says("", m.theme.Dim.Render(text.Cut(" There are no todos yet.", width))))
	}
	return out
}

// todoLines is a todo with its box.
func (m *Model) todoLines(t event.Todo, width int) []string {
	box, style := "[x]", m.theme.Text
	switch {
	case t.Skip:
		box, style = "[ ]", m.theme.Dim
	case t.Done:
		box, style = " ✓ ", m.theme.Good
	}
	words := view.OneLine(t.Text)
	if t.Skip {
		words += " (left out)"
	}
	var out []string
	for i, l := range text.Wrap(words, max(width-10, 4)) {
		before := text.Spaces(9)
		if i == 0 {
			before = fmt.Sprintf(" %s %3s. ", box, view.OneLine(t.ID))
		}
		out = append(out, text.Cut(style.Render(before+l), width))
	}
	if t.Note != "" {
		for _, l := range text.Wrap(view.OneLine(t.Note), max(width-12, 4)) {
			out = append(out, text.Cut(m.theme.Faint.Render(text.Spaces(11)+l), width))
		}
	}
	return out
}

// questionPieces is what the plan asks, with the answers.
func (s *jobScreen) questionPieces(m *Model, width int) []piece {
	var out []piece
	for _, q := range s.job.Questions {
		lines := hung(m.theme.Strong.Render("? "), m.theme.Text.Render(view.OneLine(q.Text)), width)
		switch {
		case q.Answer != "":
			lines = append(lines, hung("    ", m.theme.User.Render(view.OneLine(q.By)+": "+view.OneLine(q.Answer)), width)...)
		case q.Default != "":
			lines = append(lines, hung("    ", m.theme.Dim.Render("unless you say otherwise: "+view.OneLine(q.Default)), width)...)
		default:
			lines = append(lines, hung("    ", m.theme.Warn.Render("it has no default: Enter answers it"), width)...)
		}
		out = append(out, piece{lines: append(lines, ""), mark: true, ref: q.ID})
	}
	if len(out) == 0 {
		return []piece{says(m.theme.Dim.Render(text.Cut(" The plan asks nothing.", width)))}
	}
	return out
}

// hung is a text behind a mark, with further lines below its beginning.
func hung(mark, words string, width int) []string {
	n := text.Width(mark)
	var out []string
	for i, l := range text.Wrap(words, max(width-n-1, 4)) {
		before := text.Spaces(n)
		if i == 0 {
			before = mark
		}
		out = append(out, text.Cut(" "+before+l, width))
	}
	return out
}

// open are the comments that nobody has dealt with or resolved.
func (s *jobScreen) open() []view.JobThread {
	return slices.DeleteFunc(slices.Clone(s.job.Threads), func(t view.JobThread) bool { return t.Resolved || t.Answer != nil })
}

// unanswered counts questions whose default holds.
func (s *jobScreen) unanswered() int {
	n := 0
	for _, q := range s.job.Questions {
		if q.Answer == "" {
			n++
		}
	}
	return n
}
