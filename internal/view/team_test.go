package view_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// teamAfter folds the first n events of a team.
func teamAfter(log []event.Event, n int) view.Team {
	var t view.Team
	for _, e := range log[:n] {
		t = t.Apply(e)
	}
	return t
}

// teamUntil folds a log up to the event of that id, that one included.
func teamUntil(t *testing.T, log []event.Event, id string) view.Team {
	t.Helper()
	for i, e := range log {
		if e.ID == id {
			return teamAfter(log, i+1)
		}
	}
	t.Fatalf("there is no event %s", id)
	return view.Team{}
}

// teamOver is how a team stands at each point where that changes; empty if it is
// none.
func teamOver(log []event.Event) string {
	var b strings.Builder
	var t view.Team
	was := ""
	for _, e := range log {
		if t = t.Apply(e); t.ID == "" {
			continue
		}
		if now := teamLine(t); now != was {
			was = now
			fmt.Fprintf(&b, "%3d %s\n", e.Seq, now)
		}
	}
	return b.String()
}

func teamLine(t view.Team) string {
	s := t.State()
	for _, p := range t.Phases {
		s += " " + map[string]string{view.PhaseAhead: "○", view.PhaseNow: "◐", view.PhaseDone: "●"}[p.State]
	}
	for _, m := range t.Members {
		s += fmt.Sprintf(" | %s %s", m.Agent, m.State)
		if m.Doing != "" {
			s += ": " + m.Doing
		}
		if m.Queued > 0 {
			s += fmt.Sprintf(" (%d)", m.Queued)
		}
		if m.Unmerged {
			s += " *"
		}
	}
	for _, x := range t.Tasks {
		s += fmt.Sprintf(" | %s@%s %s", x.Task, x.Owner, x.State)
		if x.Stalled {
			s += "!"
		}
	}
	return s
}
