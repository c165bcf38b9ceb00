package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/diff"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atAnswers Where = "answers"

// answers are every revision of every agent's answer, to read and compare.
type answers struct{ picker }

// An answer is one row of them.
type answer struct {
	name      string // agent2.3, or final
	agent     event.AgentID
	at        time.Time
	content   event.Content
	workspace string
	card      *view.AnswerCard // nil for the final answer
}

func newAnswers(m *Model) Screen {
	a := &answers{picker{
		where: atAnswers, title: "Answers", full: true, browse: true, fill: answerRows,
		note:  func(m *Model) string { return m.shown().card.Ballot.Sentence() },
		empty: "Nobody has answered yet.",
	}}
	a.preview = func(m *Model, p pick, width int) []string { return m.answerLines(p.value.(answer), width) }
	a.chosen = func(m *Model, p pick) tea.Cmd {
		x := p.value.(answer)
		m.open(&pager{title: m.answerTitle(x), raw: m.texts.of(x.content),
			lines: func(m *Model, width int) []string { return m.answerLines(x, width) }})
		return nil
	}
	return a
}

// answersOf are the answers of a run: the final one first, then the newest.
func answersOf(s *story) []answer {
	var out []answer
	if s == nil {
		return nil
	}
	for _, c := range s.answers.List() {
		out = append(out, answer{c.Name(), c.Agent, c.At, c.Content, c.Workspace, &c})
	}
	slices.Reverse(out)
	if f := s.answers.Final; f != nil {
		out = append([]answer{{"final", f.Agent, f.At, f.Content, f.Workspace, nil}}, out...)
	}
	return out
}

func answerRows(m *Model) []pick {
	var out []pick
	names := 12
	if m.width < 60 {
		names = 15 // cells are narrower there, and the revision is at the end
	}
	for _, x := range answersOf(m.shown()) {
		p := pick{key: x.name, text: m.cell(x.name, names) + " " + m.cell(string(x.agent), 10), value: x}
		p.about = strings.Join(append(marksOf(x), m.clock(x.at)), ", ")
		out = append(out, p)
	}
	return out
}

// marksOf is what an answer is, in a few words.
func marksOf(x answer) []string {
	var out []string
	switch c := x.card; {
	case c == nil:
		return []string{"★ the final answer"}
	case c.Winner:
		out = append(out, "★ winner")
	case !c.Newest:
		out = append(out, "older")
	}
	if c := x.card; c.Newest && len(c.Votes) > 0 {
		out = append(out, plural(len(c.Votes), "vote"))
	}
	if x.card.Draft {
		out = append(out, "the final answer is made of it")
	}
	return out
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (m *Model) answerTitle(x answer) string {
	if x.card == nil {
		return "Final answer, by " + m.nameOf(x.agent)
	}
	return "Answer " + x.name + ", by " + m.nameOf(x.agent)
}

// answerLines is an answer and what others make of it.
func (m *Model) answerLines(x answer, width int) []string {
	out := []string{text.Cut(m.theme.Heading.Render(text.Clean(m.answerTitle(x))), width)}
	if c := x.card; c != nil && c.Newest {
		for _, v := range c.Votes {
			words := m.nameOf(v.Voter) + " votes for " + m.nameOf(x.agent)
			if !v.Fresh {
				words += " (out of date)"
			}
			out = append(out, text.Wrap(m.theme.Dim.Render(text.Clean(oneLine(words+prefixed(": ", v.Reason)))), width)...)
		}
	}
	if x.workspace != "" {
		out = append(out, text.Wrap(m.theme.Faint.Render("files: "+text.Clean(x.workspace)), width)...)
	}
	return append(append(out, ""), markdown.Render(m.texts.of(x.content), width, m.theme)...)
}

// compare shows how two texts differ.
func (m *Model) compare(title, a, b string) {
	added, removed := diff.Stat(a, b)
	head := fmt.Sprintf("%s added, %d removed", plural(added, "line"), removed)
	m.open(&pager{title: title, lines: func(m *Model, width int) []string {
		out := []string{text.Cut(m.theme.Dim.Render(head), width)}
		if a == b {
			return append(out, m.theme.Dim.Render("They say the same."))
		}
		return append(out, diff.Unified(text.Clean(a), text.Clean(b), width, m.theme)...)
	}})
}

// withAnswer does something with the answer that is chosen.
func withAnswer(do func(m *Model, x answer) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd {
		if s, ok := m.top().(*answers); ok {
			if p, ok := s.current(); ok {
				return do(m, p.value.(answer))
			}
		}
		m.notify("There is no answer to do that with.")
		return nil
	}
}

func answerActions() []Action {
	why := on(atAnswers, "Open the answers first.")
	return []Action{
		{Name: "answer_changes", Keys: []string{"d"}, Where: atAnswers, Title: "what changed", Hint: 2, Why: why,
			About: "What changed since the author's answer before", Do: withAnswer((*Model).changes)},
		{Name: "answer_compare", Keys: []string{"x", "D", "shift+d"}, Where: atAnswers, Title: "compare", Hint: 3, Why: why,
			About: "How it differs from another answer, which you choose", Do: withAnswer((*Model).compareAnswer)},
		{Name: "answer_copy", Keys: []string{"y"}, Where: atAnswers, Title: "copy", Hint: 4, Why: why,
			About: "Copy the answer", Do: withAnswer(func(m *Model, x answer) tea.Cmd { return m.copy(m.texts.of(x.content)) })},
		{Name: "answer_save", Keys: []string{"s"}, Where: atAnswers, Title: "save", Hint: 5, Why: why,
			About: "Save the answer to a file", Do: withAnswer(func(m *Model, x answer) tea.Cmd {
				s := m.texts.of(x.content)
				m.open(newPrompt("Save "+x.name, "Into which file? One that is there is not overwritten.", x.name+".md",
					func(m *Model, file string) tea.Cmd { return m.save(file, s) }))
				return nil
			})},
		{Name: "answer_files", Keys: []string{"w"}, Where: atAnswers, Title: "files", Hint: 6, Why: why,
			About: "The author's files as they were with this answer", Do: withAnswer(func(m *Model, x answer) tea.Cmd {
				if x.workspace == "" {
					m.notify("No files came with this answer.")
					return nil
				}
				return m.openTree(place{words: m.answerTitle(x), dir: x.workspace})
			})},
	}
}

// changes compares an answer with its author's answer before, and the final one
// with what it was made of.
func (m *Model) changes(x answer) tea.Cmd {
	s := m.shown()
	if x.card == nil {
		for _, c := range s.answers.List() {
			if c.Draft {
				m.compare(c.Name()+" → final", m.texts.of(c.Content), m.texts.of(x.content))
				return nil
			}
		}
		m.notify("Nobody noted what it was made of.")
		return nil
	}
	before, ok := s.answers.Previous(x.card.Revision)
	if !ok {
		m.notify(x.name + " is the first answer of its author.")
		return nil
	}
	m.compare(before.Name()+" → "+x.name, m.texts.of(before.Content), m.texts.of(x.content))
	return nil
}

// compareAnswer has the person choose what to compare an answer with: the newest
// ones of the others first.
func (m *Model) compareAnswer(x answer) tea.Cmd {
	p := &picker{where: "a choice of answers", title: "Compare " + x.name + " with", empty: "There is no other answer."}
	for _, r := range answerRows(m) {
		if r.key != x.name {
			p.rows = append(p.rows, r)
		}
	}
	slices.SortStableFunc(p.rows, func(a, b pick) int { return closeness(x, a.value.(answer)) - closeness(x, b.value.(answer)) })
	p.chosen = func(m *Model, r pick) tea.Cmd {
		m.closeTop()
		o := r.value.(answer)
		m.compare(o.name+" → "+x.name, m.texts.of(o.content), m.texts.of(x.content))
		return nil
	}
	m.open(p)
	return nil
}

// closeness is how soon one wants to compare an answer with another.
func closeness(x, o answer) int {
	switch {
	case o.agent != x.agent && o.card != nil && o.card.Newest:
		return 0
	case o.agent != x.agent:
		return 1
	}
	return 2
}
