package tui_test

import (
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

const hurried = pair + "orchestrator: {override: 3600, final_answer_strategy: winner_present}\n"

// question is the one that is open in the newest run.
func question(t testing.TB, a *program) view.Gate {
	t.Helper()
	gates := cardOf(t, a, newestRun(t, a)).Gates
	if len(gates) != 1 {
		t.Fatalf("%d questions are open", len(gates))
	}
	return gates[0]
}

func held(t testing.TB, a *program, r *robot.Robot, want bool) {
	t.Helper()
	r.Until("see it held or let go", func() bool { return question(t, a).Held == want })
}

// TM-09.2: while somebody chooses who presents, the countdown stands still; it
// goes on when they close the dialog.
func TestOverrideWaitsWhileChosen(t *testing.T) {
	a := stage(t, hurried, nil)
	r, c := sit(t, a)
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O", "left)")
	r.Press("ctrl+o").See("Who presents? waits while you choose")
	held(t, a, r, true)
	c.pass(2 * time.Hour)
	r.Press("down").See("Who presents? waits while you choose")
	r.Press("esc").See("left)").Gone("Who presents? waits", "Not taken")
	held(t, a, r, false)
	r.Press("ctrl+o")
	held(t, a, r, true)
	r.Press("down", "enter").See("Final:", "Decided").Gone("Who presents? waits", "Not taken")
}

// A window that is closed lets go of what it read, and one that is opened of
// what somebody read who may be gone; who is there says so again.
func TestHoldsOfOtherWindows(t *testing.T) {
	a := stage(t, hurried, nil)
	r, _ := sit(t, a)
	r.Type("Which sort?").Press("enter").See("Press Ctrl+O")
	if err := a.Send(t.Context(), newestRun(t, a), event.Fact{ID: "held/killed", Body: event.Held{Gate: event.GateOverride, On: true, By: "killed"}}); err != nil {
		t.Fatal(err)
	}
	r.See("waits while somebody chooses")

	c := &clock{}
	o := c.options(a)
	o.Flow = sessionOf(t, a)
	second := robot.Open(t, o, 100, 30)
	second.See("Press Ctrl+O", "left)")
	held(t, a, second, false)

	r.Press("ctrl+o")
	held(t, a, r, true)
	second.See("waits while somebody chooses").Press("ctrl+o").See("Who presents? waits while you choose")
	second.Press("esc").Gone("Who presents? waits")
	held(t, a, second, false)
	held(t, a, r, true) // says so again
	second.Press("ctrl+o").See("Who presents? waits while you choose")
	second.Close()
	r.Press("esc").Gone("Who presents? waits")
	held(t, a, r, false)
}
