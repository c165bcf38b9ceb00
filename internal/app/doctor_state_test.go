package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// Who is told to take up a run of a session is told to take up the session, which
// is owed the result; and sessions are not counted as runs.
func TestDoctorTellsSessionsFromRuns(t *testing.T) {
	run := func(id, parent event.FlowID, over bool) control.Flow {
		return control.Flow{Row: view.Row{ID: id, Kind: view.KindRun, Parent: parent, Finished: over, Status: event.StatusSuccess}}
	}
	session := func(id event.FlowID, doing view.SessionState) control.Flow {
		return control.Flow{Row: view.Row{ID: id, Kind: view.KindSession, Doing: doing}}
	}
	answered := session("session-2", view.SessionAwaiting)
	answered.Waiting, answered.Answered = true, true
	flows := []control.Flow{
		run("run-1", "session-1", false), session("session-1", view.SessionRunning),
		run("run-2", "", false), run("run-3", "session-2", true), answered, session("session-3", view.SessionIdle),
	}
	if diff := cmp.Diff([]string{"session-1", "run-2", "session-2"}, undriven(flows)); diff != "" {
		t.Error(diff)
	}
	for want, flows := range map[string][]control.Flow{
		"3 runs and 3 sessions, all sound": flows,
		"1 session, sound":                 flows[1:2],
		"1 run, sound":                     flows[:1],
		"1 run and 1 session, all sound":   flows[:2],
		"2 sessions, all sound":            flows[4:],
	} {
		if got := sound(flows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
