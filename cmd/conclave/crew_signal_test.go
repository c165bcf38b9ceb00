package main

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
)

// SR-07 SR-10 Told to end while a program runs a shell, whoever drives the team takes
// the program with it and all that the shell has started, also what hides from it in
// a session of its own without the marks of the environment. What was told to end can
// be resumed, and comes to its end.
func TestProgramToldToEndWithAShell(t *testing.T) {
	t.Parallel()
	for _, of := range []mix{claudes, codexes} {
		for name, s := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL} {
			t.Run(of.members+" "+name, func(t *testing.T) {
				t.Parallel()
				endsWithAShell(t, of, s)
			})
		}
	}
}

func endsWithAShell(t *testing.T, of mix, s syscall.Signal) {
	t.Helper()
	nap := fmt.Sprintf("8%d", time.Now().UnixNano()%1e9)
	c := crewOf(t, of, "", "", []chore{{"one", "ann"}})
	var once sync.Once
	c.acts(func(a asked) (reply backendtest.Reply, instead bool) {
		if a.who == "ann" {
			once.Do(func() {
				command := strings.ReplaceAll("nohup sleep N1 & env -i setsid sh -c 'trap \"\" TERM; sleep N2; :' & sleep N3", "N", nap)
				reply, instead = claudetest.Reply(claudetest.Use("Bash", fields{"command": command, "description": "sleep"})), true
			})
		}
		return reply, instead
	})
	asleep := func(n string) bool { return running("sleep\x00" + nap + n + "\x00") }
	x := c.start(t, "team", "run", "crew.yaml", "Make one. [goal]")
	deadline := time.Now().Add(limit)
	for !asleep("1") || !asleep("2") || !asleep("3") {
		if time.Now().After(deadline) {
			t.Fatalf("the commands do not run\n%s", x.everything())
		}
		<-time.After(20 * time.Millisecond)
	}
	x.signal(s)
	if s == syscall.SIGKILL {
		x.ends(-1)
		for running(nap) && time.Now().Before(deadline) { // it had no time to wait for their end
			<-time.After(20 * time.Millisecond)
		}
	} else {
		x.ends(4)
		c.nobodyLeft(t)
		c.quiet(t)
		c.unmarked(t, c.project.team(t, "team-").ID)
	}
	if running(nap) {
		t.Error("a command is left")
	}
	c.start(t, "resume", "team-").ends(0)
	c.over(t)
}
