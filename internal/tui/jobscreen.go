package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// Where keys go at a job: they look and decide, or write.
const (
	atJob     Where = "a job"
	atJobNote Where = "what is said to a job"
)

// A jobPage is one way to look at a job.
type jobPage int

const (
	jobPlan jobPage = iota
	jobTodos
	jobMemory
	jobQuestions
	jobChanges
	jobProgress
	jobPages
)

func (p jobPage) String() string {
	return [...]string{"Plan", "Todos", "Memory", "Questions", "Changes", "Progress"}[p]
}

// The files that people change while a job waits for them.
const (
	planFile   = "plan.md"
	memoryFile = "workspace.md"
	todosFile  = "todos.yaml"
)

// file is the file that a page shows, or for pages of none the plan.
func (p jobPage) file() string {
	switch p {
	case jobMemory:
		return memoryFile
	case jobTodos:
		return todosFile
	}
	return planFile
}

// jobScreen is a job: its plan to read, comment on, edit and decide about, what
// has changed in it, and how it goes on. All of it is folded from the job's
// events, so that every window on the job shows the same; what the person writes
// and has not sent is the screen's own.
type jobScreen struct {
	visit
	job    view.Job
	news   []view.AuditRow // what happened last, newest last
	saying speech          // what its agent says right now
	files  jobFiles

	page   jobPage
	at     [jobPages]int // the piece that is marked
	offset [jobPages]int
	width  int // of the last frame
	drawn  jobDrawn
	// renew draws the page anew if it has changed since the last frame: keys may
	// come faster than frames.
	renew func()

	note   jobNote
	wanted []event.Todo // as the person wants them, on their way
	// kept are texts that were edited here and not taken, by their file.
	kept map[string]string
	// edits are the ids of edits from here that are not kept yet; own: what was
	// kept last is one.
	edits map[string]bool
	own   bool
}

func (s *jobScreen) Full() bool { return true }

func (s *jobScreen) Where() Where {
	if s.note.on {
		return atJobNote
	}
	return atJob
}

func (s *jobScreen) Title(m *Model) string {
	return flowTitle(m, "Job", m.texts.of(s.job.Title()), s.state())
}

// state is how it stands, in a word or two.
func (s *jobScreen) state() string {
	switch s.job.State {
	case view.JobReview:
		return "waits for you"
	case view.JobTrouble:
		return "cannot go on"
	}
	if len(s.job.Gates) > 0 {
		return "asks you"
	}
	return string(s.job.State)
}

// Scroll moves the mark, or the text where nothing can be marked.
func (s *jobScreen) Scroll(n int) {
	if s.marks() {
		s.move(n)
		return
	}
	s.offset[s.page] = max(s.offset[s.page]+n, 0)
}

// marks reports whether something on the page can be marked.
func (s *jobScreen) marks() bool {
	s.renew()
	return slices.ContainsFunc(s.drawn.pieces, func(p piece) bool { return p.mark })
}

// move moves the mark over so many pieces.
func (s *jobScreen) move(n int) {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	s.renew()
	at := s.at[s.page]
	for i := at + step; n > 0 && i >= 0 && i < len(s.drawn.pieces); i += step {
		if s.drawn.pieces[i].mark {
			at = i
			n--
		}
	}
	s.at[s.page] = at
}

func (s *jobScreen) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	if s.note.on {
		done, used := s.note.field.update(msg)
		if done {
			return s.noted(m), true
		}
		return nil, used
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	switch k.Keystroke() {
	case "home", "g":
		s.Scroll(-1 << 20)
		return nil, true
	case "end", "G", "shift+g":
		s.Scroll(1 << 20)
		return nil, true
	}
	return nil, false
}

// Typing: letters are text while something is written.
func (s *jobScreen) Typing() bool { return s.note.on }

// look turns to a page.
func (s *jobScreen) look(p jobPage) { s.page = (p + jobPages) % jobPages }

// Click opens a page, or marks what is clicked.
func (s *jobScreen) Click(m *Model, x, y int) tea.Cmd {
	if s.note.on {
		return nil
	}
	at := 1
	for p := range jobPages {
		n := text.Width(s.label(p))
		if y == 0 && x >= at && x < at+n {
			s.look(p)
		}
		at += n
	}
	line := s.offset[s.page] + y - 1
	for i, p := range s.drawn.pieces {
		if y > 0 && p.mark && line >= p.from && line < p.from+len(p.lines) {
			s.at[s.page] = i
		}
	}
	return nil
}

// label is the tab of a page.
func (s *jobScreen) label(p jobPage) string {
	out := fmt.Sprintf(" %d %s", p+1, p)
	n := 0
	switch p {
	case jobTodos:
		n = len(s.todos())
	case jobQuestions:
		n = len(s.job.Questions)
	}
	if n > 0 {
		out += fmt.Sprintf(" %d", n)
	}
	return out + " "
}

// View draws the tabs, the page, and how the job stands.
func (s *jobScreen) View(m *Model, width, height int) []string {
	tabs := " "
	for p := range jobPages {
		style := m.theme.Dim
		if p == s.page {
			style = m.theme.Selected
		}
		tabs += style.Render(s.label(p))
	}
	foot := s.foot(m, width, height)
	room := max(height-1-len(foot), 1)
	return append(append([]string{text.Cut(tabs, width)}, text.Fit(s.body(m, width, room), width, room)...), foot...)
}

// body is the page, as much of it as there is room for.
func (s *jobScreen) body(m *Model, width, room int) []string {
	s.width = width
	s.renew()
	pieces, at := s.drawn.pieces, s.at[s.page]
	var out []string
	for i, p := range pieces {
		for _, l := range p.lines {
			if i == at && p.mark {
				l = m.theme.Selected.Render(text.Pad(text.Cut(ansi.Strip(l), width), width))
			}
			out = append(out, l)
		}
	}
	o := &s.offset[s.page]
	if s.marks() {
		first, last := pieces[at].from, pieces[at].from+len(pieces[at].lines)
		*o = max(min(*o, first), last-room)
	}
	*o = max(min(*o, len(out)-room), 0)
	return out[*o:min(*o+room, len(out))]
}

// A piece is a part of a page: some lines that belong together. What can be marked
// is about lines of a file, or about a todo, a question or a comment.
type piece struct {
	lines       []string
	mark        bool
	first, last int    // lines of the file, from 1
	ref         string // the id of what it is about
	from        int    // its first line on the page
}

// jobDrawn is a page as it was drawn for something.
type jobDrawn struct {
	of     string
	pieces []piece
}

// draw makes the pieces of the page, if something has changed.
func (s *jobScreen) draw(m *Model, width int) {
	of := fmt.Sprint(s.page, width, s.job.Seq, s.files.version, s.saying.version, m.theme.Name, m.theme.Dark, s.wanted)
	if s.drawn.of == of {
		return
	}
	var out []piece
	switch s.page {
	case jobPlan, jobMemory:
		out = s.filePieces(m, s.page.file(), width)
	case jobTodos:
		out = s.todoPieces(m, width)
	case jobQuestions:
		out = s.questionPieces(m, width)
	case jobChanges:
		out = s.changePieces(m, width)
	default:
		out = s.progressPieces(m, width)
	}
	n := 0
	for i := range out {
		out[i].from = n
		n += len(out[i].lines)
	}
	s.drawn = jobDrawn{of, out}
	if at := s.at[s.page]; at >= len(out) || !out[at].mark {
		s.at[s.page] = max(slices.IndexFunc(out, func(p piece) bool { return p.mark }), 0)
	}
}

// marked is the piece that is marked.
func (s *jobScreen) marked() (piece, bool) {
	s.renew()
	if at := s.at[s.page]; at >= 0 && at < len(s.drawn.pieces) && s.drawn.pieces[at].mark {
		return s.drawn.pieces[at], true
	}
	return piece{}, false
}
