package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// shelf is a window with conversations to go on with.
func shelf(t testing.TB, w, h int) (*play, *bureau) {
	p, b := desk(t, w, h)
	p.shelf(b)
	return p, b
}

func (p *play) shelf(b *bureau) {
	p.interactive()
	row := func(id, title, project, last string, ago time.Duration) control.Flow {
		return control.Flow{Row: view.Row{ID: event.FlowID(id), Kind: view.KindSession, Session: event.SessionInteractive, Task: event.Inline(title), Project: project,
			LastMessage: event.Inline(last), Started: p.now.Add(-ago - time.Hour), Last: p.now.Add(-ago), Turns: 2, Doing: view.SessionIdle}}
	}
	b.flows = []control.Flow{
		row("session-1", "Which sort is best?", "sorting", "All agree on Timsort.", 3*time.Minute),
		row("session-2", "Plan the garden", "", "Peas go first.", 30*time.Hour),
		row("session-3", "Old things", "", "Done.", 90*time.Hour),
		{Row: view.Row{ID: "run-9", Kind: view.KindRun, Task: event.Inline("Paint the shed"), Last: p.now.Add(-100 * time.Hour), Finished: true, Status: event.StatusSuccess}},
	}
	b.flows[1].Fork = "session-3"
	b.flows[2].Archived = true
	b.snaps = map[event.FlowID]view.Snapshot{"session-1": {Session: &view.Session{
		Kind: event.SessionInteractive, Usage: event.Usage{Cost: 400_000},
		Turns: view.ListOf(view.SessionTurn{Text: event.Inline("Which sort is best?"), Runs: []view.SessionRun{{ID: "run-1"}},
			Steps: view.ListOf(view.SessionStep{Kind: view.StepText, Text: event.Inline("All agree on Timsort.")})}),
		Talk: &view.Talk{Project: "sorting", Staffed: event.Staffed{Seat: event.Seat{Agent: "max"}}, Usage: event.Usage{Cost: 20_000}},
	}}}
	p.press(tea.KeyPressMsg{Code: tea.KeyF3})
}

func ctrl(c rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: c, Mod: tea.ModCtrl} }

// IM-06.4: conversations are listed with when they were, their project and what
// was said last, can be searched, and one that is chosen is gone on with.
func TestSessionBrowser(t *testing.T) {
	p, _ := shelf(t, 120, 24)
	p.see("3m ago", "› Which sort is best?         3m ago    [sorting] All agree", "fork of Plan the garden     30h ago   Peas go first.", "Paint the shed",
		"begun 2026-03-01 10:57, last used 2026-03-01 11:57", "Project: sorting · 1 run", "Which sort is best?", "$0.42", "1 more put away; Ctrl+T lists them too.")
	p.gone("Old things")
	p.letters("/") // which begins a search elsewhere
	p.see("Type what you search for.")
	p.letters("garden")
	p.see("› fork of Plan the garden")
	p.gone("[sorting]")
	p.press(key("enter"))
	if p.id != "" && p.id != "session-2" || p.top() != nil {
		t.Errorf("the window is on %q", p.id)
	}
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		p, _ := shelf(t, size[0], size[1])
		if why := Misfit(p.Model.View().Content, size[0], size[1]); why != "" {
			t.Errorf("%v: %s\n%s", size, why, p.screen())
		}
	}
}

// IM-06.6: a fresh conversation can be begun from the list.
func TestSessionBrowserFresh(t *testing.T) {
	p, _ := shelf(t, 120, 24)
	p.press(key("alt+n"))
	p.see("you talk to max")
	if p.top() != nil || p.id != "" {
		t.Errorf("the window is on %q, and %v is open", p.id, p.top())
	}
}

// Conversations are put away and taken out again, forked and renamed; for what has
// no agent it is said why not.
func TestSessionBrowserChanges(t *testing.T) {
	p, b := shelf(t, 120, 24)
	p.press(ctrl('x'))
	if len(b.sent) != 1 || b.sent[0].Body != (event.Archived{On: true, By: by}) || len(b.settled) != 1 || b.settled[0] != "session-1" {
		t.Fatalf("sent %+v, settled %v", b.sent, b.settled)
	}
	p.see("It is put away")
	p.press(ctrl('t'))
	p.see("put away Done.", "With those that were put away")
	p.letters("Old")
	p.press(ctrl('x'))
	if b.sent[1].Body != (event.Archived{By: by}) {
		t.Errorf("sent %+v", b.sent[1])
	}
	p.press(ctrl('u'))
	p.letters("shed")
	p.press(ctrl('y'))
	if p.see("That is for conversations with an agent; this is a run."); len(b.forked) > 0 {
		t.Errorf("forked %v", b.forked)
	}
	p.press(ctrl('u'), ctrl('y'))
	if len(b.forked) != 1 || b.forked[0] != "session-1" {
		t.Errorf("forked %v", b.forked)
	}
}
