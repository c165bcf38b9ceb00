package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A run of a session that somebody ends while whoever drives it is killed ends all
// the same, once, with what it has, and the agent is told.
//
// IM-05.2 IM-05.3
func TestInteractiveCancelledAndKilled(t *testing.T) {
	t.Parallel()
	k := newParlour(t, nil)
	// One has an answer and the other never will, so nothing ends by itself.
	k.write(t, "hanging.yaml", "steps:\n  - do: [{say: Let me think.}, hang]\n")
	k.write(t, "talk.yaml", strings.Replace(parlourYAML, "{id: bob, backend: {type: script, script: agent.yaml}}", "{id: bob, backend: {type: script, script: hanging.yaml}}", 1))
	k.write(t, "agent.yaml", "steps:\n  - when: {own: 0}\n    do: [{answer: Half of it.}]\n  - do: [{vote: {for: first, reason: It came first.}}]\n")
	k.write(t, "host.yaml", `
word: 1ms
steps:
  - when: {result: '"status"'}
    do: [{say: "{{field `+"`status`"+` .Result}} with {{field `+"`final_answer`"+` .Result}} Shall I go on?"}]
  - do: [{tool: {name: launch_run, input: {task: "{{.Said}}"}}}]
`)
	rounds := 6
	if testing.Short() || raceEnabled {
		rounds = 2
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for round := range rounds {
		k.asks(t, fmt.Sprintf("launch number %d", round))
		k.output(t, "approve", string(k.id))
		driver := k.start(t, "resume", "-q", string(k.id))
		s := k.until(t, func(s view.Session) bool { return s.Turns.Len() == round+2 && s.Running != "" })
		for e, err := range k.a.Follow(t.Context(), s.Running, 1) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Body.(event.Answered); ok {
				break
			}
		}
		x := k.start(t, "sessions", "cancel", string(k.id), "--reason", "enough")
		moment := time.NewTimer(time.Duration(rng.IntN(60)) * time.Millisecond)
		<-moment.C
		if err := syscall.Kill(-driver.cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		driver.readers.Wait()
		_ = driver.cmd.Wait() // it may have ended by itself
		x.ends(0)
		k.output(t, "resume", "-q", string(k.id))
		last, _ := k.now(t).Turns.Last()
		if len(last.Runs) != 1 || last.Runs[0].Status != event.StatusCancelled || last.Runs[0].Answer.Text != "Half of it." || !last.Over {
			t.Errorf("the runs of a turn, over %v, are %+v\n%s", last.Over, last.Runs, x.everything())
		}
		if got := k.replied(t); got != "cancelled with Half of it. Shall I go on?" {
			t.Errorf("said is %q", got)
		}
	}
	k.once(t, k.read(t, k.id))
	k.sound(t)
	k.nobodyLeft(t)
}
