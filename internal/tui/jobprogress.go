package tui

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// changePieces is what is different since the round before: what was asked for,
// how every comment was dealt with, and the difference itself.
func (s *jobScreen) changePieces(m *Model, width int) []piece {
	var out []piece
	head := func(words string) { out = append(out, says("", m.theme.Heading.Render(text.Cut(" "+words, width)))) }
	n := len(s.job.Rounds)
	if n > 1 {
		if r := s.job.Rounds[n-2]; r.Feedback != "" {
			head(fmt.Sprintf("You asked for this in round %d", r.Round))
			out = append(out, says(hung("  ", m.theme.User.Render(text.Clean(view.OneLine(r.Feedback))), width)...))
		}
		if s.job.Rounds[n-1].Same {
			out = append(out, says("", m.theme.Warn.Render(text.Cut(" Nothing of the plan has changed.", width))))
		}
	}
	if len(s.job.Threads) > 0 {
		head("Comments (t opens them)")
		for _, t := range s.job.Threads {
			where := view.OneLine(t.Path)
			if t.Line > 0 {
				where += fmt.Sprintf(":%d", t.Line)
			}
			out = append(out, says(append([]string{m.theme.Dim.Render(text.Cut(" "+where, width))}, m.threadLines(t, width, false)...)...))
		}
	}
	switch {
	case n == 0:
		head("The plan was not looked at yet")
	case s.job.Rounds[n-1].Since == "":
		head("This is the first round: there is nothing to compare with")
	case len(s.files.diff) == 0:
		head("No file has changed since the round before")
	}
	record := 0
	for _, d := range s.files.diff {
		if strings.HasPrefix(d.Path, "archive/") || strings.HasPrefix(d.Path, "review/") {
			record++ // which says again what is seen above
			continue
		}
		out = append(out, says(m.diffLines(d, width)...))
	}
	if record > 0 {
		out = append(out, says("", m.theme.Faint.Render(text.Cut(" and "+plural(record, "file")+" in archive/ and review/ (o)", width))))
	}
	if len(out) > 0 && len(out[0].lines) > 1 && out[0].lines[0] == "" {
		out[0].lines = out[0].lines[1:]
	}
	return out
}

// diffLines is how a file has changed.
func (m *Model) diffLines(d control.FileDiff, width int) []string {
	t := &m.theme
	out := []string{"", t.Heading.Render(text.Cut(" "+view.OneLine(d.Path)+", "+d.Kind, width))}
	if d.Binary {
		return append(out, t.Dim.Render(text.Cut("  it is no text", width)))
	}
	for _, h := range d.Hunks {
		out = append(out, t.Hunk.Render(text.Cut(fmt.Sprintf("  @@ line %d", h.New), width)))
		for _, l := range h.Lines {
			style := t.Dim
			switch l.Op {
			case "+":
				style = t.Added
			case "-":
				style = t.Removed
			}
			for i, part := range text.Wrap(text.Clean(l.Text), max(width-5, 4)) {
				op := l.Op
				if i > 0 {
					op = " "
				}
				out = append(out, text.Cut("  "+style.Render(op+" "+part), width))
			}
		}
	}
	if d.More {
		out = append(out, t.Dim.Render(text.Cut("  … and more", width)))
	}
	return out
}

// progressPieces is how the job goes: what it has come to, what it does, its
// phases, and what happened last.
func (s *jobScreen) progressPieces(m *Model, width int) []piece {
	out := s.outcome(m, width)
	out = append(out, s.activity(m, width)...)
	for i := len(s.job.Phases) - 1; i >= 0; i-- {
		out = append(out, says(m.phaseLines(s.job.Phases[i], i == len(s.job.Phases)-1, width)...))
	}
	if len(s.news) > 0 {
		out = append(out, says("", m.theme.Heading.Render(text.Cut(" What happened last", width))))
	}
	for i := len(s.news) - 1; i >= 0; i-- {
		r := s.news[i]
		style := m.theme.Dim
		if r.Error {
			style = m.theme.Warn
		}
		line := m.clock(r.At) + "  " + r.Title + prefixed(": ", r.Preview)
		out = append(out, says(text.Cut(style.Render(text.Cut("  "+view.OneLine(line), width)), width)))
	}
	return out
}

// outcome is what a job that is over has come to.
func (s *jobScreen) outcome(m *Model, width int) []piece {
	d := s.job.Ended
	if d == nil {
		return nil
	}
	style := m.theme.Good
	if s.job.State != view.JobCompleted {
		style = m.theme.Warn
	}
	lines := []string{style.Render(text.Cut(" "+capital(string(s.job.State))+prefixed(": ", view.OneLine(d.Why)), width))}
	for _, l := range markdown.Render(d.Summary, max(width-4, 4), m.theme) {
		lines = append(lines, text.Cut("  "+l, width))
	}
	if d.Confidence > 0 {
		lines = append(lines, m.theme.Dim.Render(text.Cut(fmt.Sprintf("  It is %.0f%% sure that this is what was wanted.", 100*d.Confidence), width)))
	}
	if d.Notes != "" {
		lines = append(lines, hung(" ", m.theme.Dim.Render(text.Clean(view.OneLine(d.Notes))), width)...)
	}
	out := []piece{says(lines...)}
	if len(d.Deliverables) > 0 {
		out = append(out, says("", m.theme.Heading.Render(text.Cut(" Deliverables (Enter reads one)", width))))
	}
	for _, f := range d.Deliverables {
		out = append(out, piece{lines: []string{text.Cut("  "+view.OneLine(f), width)}, mark: true, ref: f})
	}
	return append(out, says(""))
}

// activity is what the agent does right now, and the end of what it says.
func (s *jobScreen) activity(m *Model, width int) []piece {
	if s.job.State.Over() || s.job.State.Frozen() {
		return nil
	}
	doing := view.OneLine(s.job.Doing)
	if doing == "" {
		doing = "about to go on"
	}
	lines := []string{m.theme.Accent.Render(text.Cut(" ● "+doing, width))}
	var said []string
	for i := range s.saying.parts {
		if p := &s.saying.parts[i]; p.kind == live.Text || p.kind == live.Thinking {
			said = append(said, text.Wrap(view.OneLine(p.text.String()), max(width-6, 4))...)
		}
	}
	for _, l := range said[max(len(said)-3, 0):] {
		lines = append(lines, m.theme.Thinking.Render(text.Cut("   "+l, width)))
	}
	return []piece{says(append(lines, "")...)}
}

// phaseLines is a phase with its todos; of one that is past, only its end.
func (m *Model) phaseLines(p view.JobPhase, current bool, width int) []string {
	done, all := 0, 0
	for _, t := range p.Todos {
		if t.Skip {
			continue
		}
		if all++; t.Done {
			done++
		}
	}
	how := fmt.Sprintf("%d of %s", done, plural(all, "todo"))
	switch {
	case p.How != "" && p.How != event.EndedDone:
		how += ", " + p.How
	case p.Ended.IsZero() && current:
		how += ", going on"
	}
	mark := "✓"
	if p.Ended.IsZero() {
		mark = "●"
	} else if p.How == event.EndedTrouble || p.How == event.EndedCancelled {
		mark = "!"
	}
	words := fmt.Sprintf(" %s Phase %d, %s%s: %s", mark, p.Phase, kindWord(p), prefixed(", ", view.OneLine(p.Name)), how)
	if p.Iteration > 1 {
		words += ", changed " + times(p.Iteration-1)
	}
	if p.Usage.Cost > 0 {
		words += ", " + p.Usage.Cost.String()
	}
	if p.Run != "" {
		words += ", by " + string(p.Run)
	}
	out := text.Wrap(m.theme.Strong.Render(text.Clean(words)), width)
	for _, t := range p.Todos {
		if current || p.Kind == event.PhaseTactical {
			out = append(out, m.tickLine(t, width))
		}
	}
	for _, d := range p.Drift {
		out = append(out, m.theme.Warn.Render(text.Cut("      otherwise than approved, "+string(d.Kind)+": "+view.OneLine(d.Text)+prefixed(" → ", view.OneLine(d.Now)), width)))
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func kindWord(p view.JobPhase) string {
	if p.Kind == event.PhaseStrategic {
		return "planning"
	}
	return "carrying out"
}

// tickLine is a todo that is done, or will be.
func (m *Model) tickLine(t view.JobTodo, width int) string {
	mark, style := "○", m.theme.Dim
	switch {
	case t.Skip:
		mark = "–"
	case t.Done:
		mark, style = "✓", m.theme.Text
	}
	words := view.OneLine(t.Text)
	if t.Note != "" {
		words += " — " + view.OneLine(t.Note)
	}
	return style.Render(text.Cut("    "+mark+" "+words, width))
}

// foot is how the job stands, what it costs, and what is being written.
func (s *jobScreen) foot(m *Model, width, height int) []string {
	out := []string{m.rule(width)}
	if s.note.on {
		return append(out, s.note.lines(m, width, max(height/3, 2))...)
	}
	limit := 2
	if height < lowHeight {
		limit = 1
	}
	lines := text.Wrap(text.Clean(s.standing()), max(width-3, 1))
	for i, l := range lines[:min(len(lines), limit)] {
		l = " " + l
		if i == limit-1 && len(lines) > limit {
			l += " …"
		}
		style := m.theme.Text
		if s.job.State.Frozen() {
			style = m.theme.Warn
		}
		out = append(out, text.Cut(style.Render(l), width))
	}
	if height < lowHeight {
		return out
	}
	return append(out, m.theme.Dim.Render(text.Cut(" "+s.costs(), width)))
}

// standing is how the job stands and why.
func (s *jobScreen) standing() string {
	j := s.job
	why := prefixed(": ", view.OneLine(j.Why))
	for _, g := range j.Gates {
		if g.Kind == event.GatePermission {
			return view.OneLine(g.Title) + " (p answers)"
		}
	}
	switch j.State {
	case view.JobReview:
		r := view.JobRound{Round: 1}
		if n := len(j.Rounds); n > 0 {
			r = j.Rounds[n-1]
		}
		out := fmt.Sprintf("Round %d, revision %d%s", r.Round, j.Review.Revision, why)
		if r.Late {
			out += fmt.Sprintf(" · This is round %d: you may also edit the plan yourself (e), or have it carried out as it is (a, s).", r.Round)
		}
		return out
	case view.JobTrouble:
		return "It cannot go on by itself" + why
	case view.JobCreated:
		return "It is about to begin."
	case view.JobPlanning, view.JobRunning:
		out := capital(string(j.State))
		switch n := j.Phase(); {
		case strings.HasPrefix(n, "~"):
			out += ", " + n + " planned"
		case n != "":
			out += ", phase " + n
		}
		if p, ok := j.Current(); ok && p.Name != "" {
			out += ", " + view.OneLine(p.Name)
		}
		return out
	}
	return capital(string(j.State)) + why
}

// costs are what it has taken, what is left to do, and what is open.
func (s *jobScreen) costs() string {
	j := s.job
	parts := []string{fmt.Sprintf("%s so far (%s tokens)", j.Usage.Cost, short(j.Usage.Tokens()))}
	if x := j.Estimate; x != nil && !j.State.Over() {
		parts = append(parts, fmt.Sprintf("about %s to go (%s)", x.Cost, short(x.Tokens)))
	}
	if j.Draft != "" && j.State == view.JobReview {
		parts = append(parts, "a draft (r)")
	}
	if n := len(s.open()); n > 0 {
		parts = append(parts, plural(n, "open comment"))
	}
	if n := s.unanswered(); n > 0 && j.State == view.JobReview {
		parts = append(parts, plural(n, "question")+" unanswered")
	}
	if w := time.Duration(j.Worked); w > 0 {
		parts = append(parts, "worked "+span(w.Round(time.Second)))
	}
	return strings.Join(parts, " · ")
}
