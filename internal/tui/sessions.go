package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

// listed are the rows of what there is. Runs of a conversation are reached through
// it, and what was put away is left out unless it is asked for.
func (r *runs) listed(m *Model) []pick {
	var out []pick
	for _, f := range r.flows {
		inside := f.Kind == view.KindRun && f.Parent != "" && slices.ContainsFunc(r.flows, func(o control.Flow) bool { return o.ID == f.Parent })
		if inside || f.About != "" || f.Archived && !r.archived { // who talks about a job is reached through it
			continue
		}
		out = append(out, r.listing(m, f))
	}
	return out
}

// titleWidth is how much of a title stands in the list; all of it is searched, and
// seen beside the list.
const titleWidth = 26

// listing is one of them: by its title, when it was used, how it stands, and of a
// conversation with an agent its project and what was said last.
func (r *runs) listing(m *Model, f control.Flow) pick {
	words := r.texts[f.ID]
	title := words.title
	if title == "" {
		title = "(nothing was said yet)"
	}
	if f.Fork != "" {
		title = "fork of " + strings.TrimPrefix(title, "fork of ")
	}
	p := pick{key: string(f.ID), text: text.Pad(text.Cut(title, titleWidth), titleWidth), more: title, value: f}
	p.text += "  " + text.Pad(ago(m.o.Now(), f.Last), 8)
	var about []string
	if s := stateWord(f); s != "idle" {
		about = append(about, s)
	}
	if f.Archived {
		about = append(about, "put away")
	}
	if f.Project != "" {
		about = append(about, "["+view.OneLine(f.Project)+"]")
	}
	switch {
	case words.last != "" && withAgent(f) && f.LastByYou:
		about = append(about, "you: "+words.last)
	case words.last != "" && withAgent(f):
		about = append(about, words.last)
	}
	p.about = strings.Join(append(about, string(f.ID)), " ")
	return p
}

// withAgent reports whether a flow is a conversation with an agent, or of a
// program outside.
func withAgent(f control.Flow) bool {
	return f.Kind == view.KindSession && f.Session != event.SessionCoordinate && f.Session != ""
}

// awayWords say that some are not listed.
func (r *runs) awayWords() string {
	n := 0
	for _, f := range r.flows {
		if f.Archived {
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case r.archived:
		return "With those that were put away; Ctrl+T leaves them out."
	}
	return fmt.Sprintf("%d more put away; Ctrl+T lists them too.", n)
}

// goOn goes on where a list of before was left.
func (r *runs) goOn(m *Model, old *runs) {
	r.archived, r.query, r.snaps = old.archived, old.query, map[event.FlowID]*peek{}
	r.rows = r.listed(m)
	if p, ok := old.current(); ok {
		r.point(p.id())
	}
}

// talkUsage is what a conversation itself has used.
func talkUsage(s *view.Session) event.Usage {
	if s.Talk == nil {
		return event.Usage{}
	}
	return s.Talk.Usage
}

// shownTurns is how many turns of a conversation are seen beside the list.
const shownTurns = 3

// talkLines is a conversation before it is opened: when it was, its project, and
// what was said last.
func (m *Model) talkLines(f control.Flow, s view.Session, width int) []string {
	t := &m.theme
	zone := m.o.Now().Location()
	words := "begun " + f.Started.In(zone).Format("2006-01-02 15:04") + ", last used " + f.Last.In(zone).Format("2006-01-02 15:04")
	out := text.Wrap(t.Faint.Render(words), width)
	project := view.NoProject
	if s.Talk.Project != "" {
		project = "Project: " + view.OneLine(s.Talk.Project)
	}
	if n := runsIn(s); n > 0 {
		project += " · " + plural(n, "run")
	}
	if s.Talk.Archived {
		project += " · put away"
	}
	if s.Talk.Fork != "" {
		project += " · fork of " + string(s.Talk.Fork)
	}
	out = append(out, text.Wrap(t.Faint.Render(text.Clean(project)), width)...)
	who := view.OneLine(string(s.Talk.Staffed.Seat.Agent))
	say := func(by string, c event.Content) {
		if by == "" {
			by = "you"
		}
		lines := bodyLines(view.Shorten(m.texts.of(c), 600), max(width-2, 4))
		out = append(out, "", t.Dim.Render(text.Cut(by, width)))
		for _, l := range lines {
			out = append(out, "  "+l)
		}
	}
	for _, x := range s.Turns.All(max(s.Turns.Len()-shownTurns, 0)) {
		if !x.Text.Empty() {
			say("you", x.Text)
		}
		for _, step := range x.Steps.All(0) {
			switch {
			case step.Text.Empty():
			case step.Kind == view.StepText:
				say(who, step.Text)
			case step.Kind == view.StepSaid:
				say("you", step.Text)
			}
		}
	}
	return out
}

func runsIn(s view.Session) int {
	n := 0
	for _, t := range s.Turns.All(0) {
		n += len(t.Runs)
	}
	return n
}

// withListed does something with the conversation that is chosen in the list.
func withListed(do func(m *Model, r *runs, f control.Flow) tea.Cmd) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd {
		r, ok := m.top().(*runs)
		if !ok {
			return nil
		}
		p, ok := r.current()
		switch f, _ := p.value.(control.Flow); {
		case !ok:
			m.notify("There is nothing to do that with.")
		case !withAgent(f):
			m.notify("That is for conversations with an agent; this is " + kindWords(f) + ".")
		default:
			return do(m, r, f)
		}
		return nil
	}
}

func kindWords(f control.Flow) string {
	switch {
	case f.Damaged != "":
		return "damaged"
	case f.Kind == view.KindSession:
		return "one with all agents"
	}
	if f.Kind == view.KindJob {
		return "a job"
	}
	return "a run"
}

func sessionActions() []Action {
	why := on(atRuns, "Open the list of runs first.")
	return []Action{
		{Name: "session_new", Keys: []string{"alt+n"}, Where: atRuns, Title: "new", Hint: 2, Why: why,
			About: "Begin a new conversation instead of going on with one", Do: func(m *Model, _ string) tea.Cmd {
				if why := m.held(); why != "" {
					m.notify(why)
					return nil
				}
				m.closeAll()
				return m.anew("")
			}},
		{Name: "session_fork", Keys: []string{"ctrl+y"}, Where: atRuns, Title: "fork", Hint: 4, Why: why,
			About: "Begin a conversation with everything this one holds, and open that", Do: withListed((*Model).fork)},
		{Name: "session_archive", Keys: []string{"ctrl+x"}, Where: atRuns, Title: "put away", Hint: 5, Why: why,
			About: "Put the conversation away, out of this list, or take it out again", Do: withListed((*Model).archive)},
		{Name: "session_archived", Keys: []string{"ctrl+t"}, Where: atRuns, Title: "put away ones", Why: why,
			About: "Whether conversations that were put away are listed", Do: func(m *Model, _ string) tea.Cmd {
				r := m.top().(*runs)
				r.archived = !r.archived
				r.set(r.listed(m))
				if r.awayWords() == "" {
					m.notify("None was put away.")
				}
				return r.told(m)
			}},
	}
}

// fork begins a conversation with all of another one, and opens it.
func (m *Model) fork(_ *runs, f control.Flow) tea.Cmd {
	if why := m.held(); why != "" {
		m.notify(why)
		return nil
	}
	c := m.c
	m.notify("Forking the conversation.")
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		id, err := c.Fork(ctx, f.ID)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("Not forked: " + err.Error())
				return nil
			}
			m.notify("This is the fork; the conversation it comes from stays as it is.")
			return m.turnTo(id)
		}
	})
}

// archive puts a conversation away, or takes it out again. Where nobody has it
// open and nothing goes on in it, it is taken up for that moment.
func (m *Model) archive(r *runs, f control.Flow) tea.Cmd {
	c, say := m.c, fact(event.Archived{On: !f.Archived, By: by})
	idle := f.Driver == nil && f.ID != m.id && (f.Doing == view.SessionIdle || f.Doing == "") && !f.Waiting
	return m.sending(func(ctx context.Context) sent {
		err := c.Send(ctx, f.ID, say)
		if err == nil && idle {
			err = c.Settle(ctx, f.ID, false)
		}
		return sent{what: "Not put away", err: err, then: func(m *Model) tea.Cmd {
			words := "It is put away; Ctrl+T lists it, and Ctrl+X takes it out again."
			switch {
			case f.Archived:
				words = "It is listed again."
			case !idle && f.ID != m.id && f.Driver == nil:
				words = "It is put away as soon as somebody goes on with it: something is going on there."
			}
			m.notify(words)
			return tea.Batch(m.listRuns(r), m.takeUp())
		}}
	})
}
