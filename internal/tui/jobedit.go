package tui

import (
	"context"
	"reflect"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// edit opens a file of the plan in the person's editor. What they make of it is
// kept, unless somebody else has changed it meanwhile.
func (s *jobScreen) edit(m *Model) tea.Cmd {
	name := s.page.file()
	old, ok := s.files.texts[name]
	if !ok {
		m.notify(name + " is not written yet.")
		return nil
	}
	if mine, ok := s.kept[name]; ok {
		words := name + " was changed by somebody else while you edited it, so your text was not taken. Go on with your text, in place of what is there now?\nNo edits what is there now, and your text is gone."
		m.confirm("Go on with your text?", words, func(m *Model) tea.Cmd { return s.editFile(m, name, old, mine) })
		delete(s.kept, name)
		return nil
	}
	return s.editFile(m, name, old, old.text)
}

func (s *jobScreen) editFile(m *Model, name string, old jobText, begin string) tea.Cmd {
	return m.editText(begin, func(m *Model, words string) tea.Cmd { return s.edited(m, name, old, words) })
}

// edited takes what the person has made of a file.
func (s *jobScreen) edited(m *Model, name string, old jobText, words string) tea.Cmd {
	if strings.TrimRight(old.text, "\n") == words {
		m.notify("Nothing was changed.")
		return nil
	}
	return s.keep(m, name, old.hash, words+"\n")
}

// keep has a file kept as the person has changed it. One that is refused is not
// lost.
func (s *jobScreen) keep(m *Model, name string, base event.Hash, words string) tea.Cmd {
	m.notify("Your change of " + name + " is being kept.")
	return s.say(m, event.Edited{Path: name, Base: base, Text: event.Inline(words), By: by}, name+" was not changed", func(*Model, event.Refused) {
		s.kept[name] = words
	})
}

// editable is why the todos cannot be changed now.
func (s *jobScreen) editable() string {
	switch {
	case s.page != jobTodos:
		return "Todos are changed where they are listed: 2 shows them."
	case s.job.State != view.JobReview:
		return "Todos can be changed only while the plan waits for you."
	case s.job.Problem != "":
		return "todos.yaml cannot be read as it is; e edits it."
	case len(s.todos()) == 0:
		return "There are no todos to change."
	}
	return ""
}

// changeTodos changes the todo that is marked, in a copy of all of them. What is
// changed while a change is being kept goes along with the next one.
func (s *jobScreen) changeTodos(m *Model, change func(all []event.Todo, i int) int) tea.Cmd {
	if why := s.editable(); why != "" {
		m.notify(why)
		return nil
	}
	p, ok := s.marked()
	if !ok {
		return nil
	}
	all := slices.Clone(s.todos())
	i := slices.IndexFunc(all, func(t event.Todo) bool { return t.ID == p.ref })
	if i < 0 {
		return nil
	}
	to := change(all, i)
	if slices.Equal(all, s.todos()) {
		m.notify("It stays as it is.")
		return nil
	}
	s.at[jobTodos] += to - i
	busy := s.wanted != nil
	s.wanted = all
	if busy {
		return nil
	}
	return s.keepTodos(m)
}

// keepTodos has the todos kept as they are wanted.
func (s *jobScreen) keepTodos(m *Model) tea.Cmd {
	words, err := control.FormatTodos(s.job.StagedName, s.wanted)
	if err != nil {
		m.notify("The todos cannot be written: " + err.Error())
		s.wanted = nil
		return nil
	}
	i := slices.IndexFunc(s.job.Files, func(f event.KeptFile) bool { return f.Path == todosFile })
	base := event.Hash("")
	if i >= 0 {
		base = s.job.Files[i].Hash
	}
	return s.say(m, event.Edited{Path: todosFile, Base: base, Text: event.Inline(string(words)), By: by}, "The todos were not changed",
		func(*Model, event.Refused) { s.wanted = nil })
}

// retodo goes on with what else is wanted of the todos, once they are kept.
func (s *jobScreen) retodo(m *Model, e event.Event) tea.Cmd {
	_, asked := e.Body.(event.Asked)
	switch {
	case s.wanted == nil:
	case s.job.State != view.JobReview:
		s.wanted = nil
	case !asked: // the gate that is asked again has what was kept
	case reflect.DeepEqual(s.wanted, s.job.Staged):
		s.wanted = nil
	default:
		return s.keepTodos(m)
	}
	return nil
}

// swap moves a todo by one place.
func swap(step int) func([]event.Todo, int) int {
	return func(all []event.Todo, i int) int {
		to := max(min(i+step, len(all)-1), 0)
		all[i], all[to] = all[to], all[i]
		return to
	}
}

// untick leaves a todo out, or takes it in again.
func untick(all []event.Todo, i int) int {
	all[i].Skip = !all[i].Skip
	return i
}

// reword asks for other words for the todo that is marked.
func (s *jobScreen) reword(m *Model) tea.Cmd {
	p, ok := s.marked()
	if why := s.editable(); why != "" || !ok {
		m.notify(why)
		return nil
	}
	i := slices.IndexFunc(s.todos(), func(t event.Todo) bool { return t.ID == p.ref })
	if i < 0 {
		return nil
	}
	m.open(newPrompt("Todo "+view.OneLine(p.ref), "What is to be done?", s.todos()[i].Text, func(m *Model, words string) tea.Cmd {
		return s.changeTodos(m, func(all []event.Todo, i int) int {
			all[i].Text = words
			return i
		})
	}))
	return nil
}

// jobEnters is why Enter does nothing on the page.
func jobEnters(s *jobScreen) string {
	_, ok := s.marked()
	switch {
	case s.page == jobTodos:
		return s.editable()
	case s.page == jobChanges && len(s.job.Threads) > 0, s.page != jobChanges && ok:
		return ""
	}
	return "There is nothing to open here."
}

// enterWord is what Enter does on the page.
func (s *jobScreen) enterWord() string {
	return map[jobPage]string{jobPlan: "comment", jobMemory: "comment", jobTodos: "reword", jobQuestions: "answer", jobChanges: "comments", jobProgress: "read"}[s.page]
}

// enter does what Enter means on the page.
func (s *jobScreen) enter(m *Model) tea.Cmd {
	p, _ := s.marked()
	switch s.page {
	case jobTodos:
		return s.reword(m)
	case jobQuestions:
		return s.answer(m, p.ref)
	case jobProgress:
		return s.readFile(m, p.ref)
	case jobChanges:
		m.openThreads(s)
	default:
		s.writeComment(m)
	}
	return nil
}

// answer asks for the answer to a question of the plan.
func (s *jobScreen) answer(m *Model, id string) tea.Cmd {
	i := slices.IndexFunc(s.job.Questions, func(q view.JobQuestion) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	q := s.job.Questions[i]
	m.open(newPrompt("The plan asks", view.OneLine(q.Text)+prefixed("\nUnless you say otherwise: ", view.OneLine(q.Default)), q.Answer, func(m *Model, words string) tea.Cmd {
		return s.say(m, event.Responded{Question: id, Text: words, By: by}, "Not answered", nil)
	}))
	return nil
}

// readFile shows a file of the job as it is now.
func (s *jobScreen) readFile(m *Model, name string) tea.Cmd {
	c, id := m.c, s.id
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		_, p, err := c.JobFile(ctx, id, name, "")
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify(err.Error())
				return nil
			}
			m.readBytes(name, p)
			return nil
		}
	})
}

// readBytes shows a file.
func (m *Model) readBytes(name string, p []byte) {
	f := loaded{text: string(p), plain: !slices.Contains(p, 0), there: true}
	if !f.plain {
		f.text = "It is no text: " + size(int64(len(p)))
	}
	m.open(&pager{title: view.OneLine(name), raw: f.text, lines: func(m *Model, width int) []string { return fileLines(m, name, f, width) }})
}

// openFiles lists the files of the job.
func (s *jobScreen) openFiles(m *Model) tea.Cmd {
	c, id := m.c, s.id
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		all, err := c.JobFiles(ctx, id, "")
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The files cannot be listed: " + err.Error())
				return nil
			}
			p := &picker{where: atJobFiles, title: "Files of the job", full: true, empty: "There are no files yet."}
			for _, f := range all {
				p.rows = append(p.rows, pick{key: f.Path, text: f.Path, about: size(f.Size)})
			}
			p.chosen = func(m *Model, r pick) tea.Cmd { return s.readFile(m, r.key) }
			m.open(p)
			return nil
		}
	})
}

const atJobFiles Where = "files of a job"
