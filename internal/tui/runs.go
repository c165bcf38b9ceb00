package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/markdown"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const atRuns Where = "runs and conversations"

// runs are the conversations and runs there are, newest first.
type runs struct {
	picker
	flows    []control.Flow
	texts    map[event.FlowID]flowTexts
	archived bool // those that were put away are listed too
	snaps    map[event.FlowID]*peek
}

// flowTexts are the words that a flow is listed with.
type flowTexts struct{ title, last string }

// A peek is what is known of a flow before it is opened.
type peek struct {
	snap   view.Snapshot
	answer string
	err    error
	there  bool
}

// openRuns lists what there is.
func (m *Model) openRuns() tea.Cmd { return m.listRuns(nil) }

// listRuns lists what there is, in place of a list that was made before.
func (m *Model) listRuns(old *runs) tea.Cmd {
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		flows, err := m.c.Flows(ctx)
		words := map[event.FlowID]flowTexts{}
		for _, f := range flows {
			title, _ := m.c.Text(ctx, f.Task)
			last, _ := m.c.Text(ctx, f.LastMessage)
			words[f.ID] = flowTexts{oneLine(title), oneLine(last)}
		}
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("What there is cannot be listed: " + err.Error())
				return nil
			}
			r := newRuns(m, flows, words)
			if old != nil {
				if m.top() != Screen(old) {
					return nil // it was closed meanwhile
				}
				r.goOn(m, old)
			}
			m.open(r)
			return r.told(m)
		}
	})
}

func newRuns(m *Model, flows []control.Flow, words map[event.FlowID]flowTexts) *runs {
	r := &runs{flows: flows, texts: words, snaps: map[event.FlowID]*peek{}, picker: picker{
		where: atRuns, title: "Runs and conversations", full: true, wide: true, empty: "There is nothing here yet. Esc goes back; type what you want done.",
	}}
	r.rows = r.listed(m)
	r.note = func(*Model) string { return r.awayWords() }
	r.preview = func(m *Model, p pick, width int) []string {
		f := p.value.(control.Flow)
		return m.flowLines(f, r.texts[f.ID].title, r.snaps[f.ID], width)
	}
	r.moved = func(m *Model, p pick) tea.Cmd { return r.look(m, p.value.(control.Flow)) }
	r.chosen = func(m *Model, p pick) tea.Cmd {
		f := p.value.(control.Flow)
		if f.Damaged != "" {
			m.notify("It cannot be read: " + f.Damaged)
			return nil
		}
		if f.Kind == view.KindJob {
			return m.openJob(f.ID)
		}
		if f.Kind == view.KindTeam {
			return m.openTeam(f.ID)
		}
		return m.turnTo(f.ID)
	}
	return r
}

// look finds out more about a flow, once.
func (r *runs) look(m *Model, f control.Flow) tea.Cmd {
	if r.snaps[f.ID] != nil || f.Damaged != "" {
		return nil
	}
	p := &peek{}
	r.snaps[f.ID] = p
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		snap, err := m.c.Open(ctx, f.ID)
		answer := ""
		if err == nil {
			answer, err = m.c.Text(ctx, answerSoFar(snap))
		}
		return func(*Model) tea.Cmd {
			p.snap, p.answer, p.err, p.there = snap, answer, err, true
			r.renew()
			return nil
		}
	})
}

// answerSoFar is the final answer, or else the newest there is.
func answerSoFar(s view.Snapshot) event.Content {
	if s.Session != nil {
		for _, t := range s.Session.Turns.Backward() {
			for _, r := range slices.Backward(t.Runs) {
				if !r.Answer.Empty() {
					return r.Answer
				}
			}
		}
		return event.Content{}
	}
	if !s.Result.Final.Empty() {
		return s.Result.Final
	}
	if n := len(s.Result.Answers); n > 0 {
		return event.Content(s.Result.Answers[n-1].Content)
	}
	return event.Content{}
}

// flowLines is what a flow is about and how it stands.
func (m *Model) flowLines(f control.Flow, task string, p *peek, width int) []string {
	out := text.Wrap(m.theme.Heading.Render(text.Clean(task)), width)
	words := []string{f.State(), ago(m.o.Now(), f.Last)}
	switch {
	case f.Kind == view.KindSession:
		words = append(words, plural(f.Turns, "turn"))
	case f.Mode != "":
		words = append(words, f.Mode)
	}
	if f.Driver != nil {
		words = append(words, fmt.Sprintf("driven by process %d", f.Driver.PID))
	}
	if p != nil && p.there && p.err == nil {
		if s := p.snap.Session; s != nil {
			words = append(words, s.Usage.Add(talkUsage(s)).Cost.String())
		} else {
			words = append(words, p.snap.Result.Cost.Total.Cost.String())
		}
	}
	out = append(out, text.Wrap(m.theme.Dim.Render(text.Clean(strings.Join(words, " · "))), width)...)
	switch {
	case f.Damaged != "":
		return append(out, text.Wrap(m.theme.Bad.Render(text.Clean("damaged: "+f.Damaged)), width)...)
	case p == nil || !p.there:
		return append(out, m.theme.Dim.Render("looking…"))
	case p.err != nil:
		return append(out, text.Wrap(m.theme.Warn.Render(text.Clean(p.err.Error())), width)...)
	case f.Kind == view.KindJob:
		return m.jobGlance(f, task, width)
	case f.Kind == view.KindTeam:
		return m.teamGlance(f, task, width)
	case p.snap.Session != nil && p.snap.Session.Talk != nil:
		return append(out, m.talkLines(f, *p.snap.Session, width)...)
	case p.answer == "":
		return append(out, "", m.theme.Dim.Render("no answer yet"))
	}
	return append(append(out, ""), markdown.Render(p.answer, width, m.theme)...)
}

// stateWord is how a flow stands, for a column.
func stateWord(f control.Flow) string {
	if s := f.State(); s != "waiting for you" {
		return text.Cut(s, 10)
	}
	return "waiting"
}

// ago is how long something is past, in a word.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "-"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

func runsActions() []Action {
	return append([]Action{
		{Name: "run_rename", Keys: []string{"ctrl+r"}, Where: atRuns, Title: "rename", Hint: 3, Why: on(atRuns, "Open the list of runs first."),
			About: "Give the conversation a name", Do: func(m *Model, _ string) tea.Cmd {
				r, _ := m.top().(*runs)
				p, ok := r.current()
				if !ok || p.value.(control.Flow).Kind != view.KindSession {
					m.notify("Only conversations have names; a run is called by its task.")
					return nil
				}
				f := p.value.(control.Flow)
				m.open(newPrompt("Rename the conversation", "What is it to be called?", "", func(m *Model, s string) tea.Cmd { return m.rename(f.ID, s) }))
				return nil
			}},
	}, sessionActions()...)
}

// rename gives a conversation a name. It has it once whoever drives it has
// heard: at once, or when it is opened.
func (m *Model) rename(id event.FlowID, name string) tea.Cmd {
	if id == m.id {
		m.notify("This conversation is called " + name + " now.")
	} else {
		m.notify("It is called " + name + " from when it is next opened.")
	}
	return m.send(id, fact(event.Renamed{Title: name, By: by}), "Not renamed", nil)
}
