package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/event"
)

// SR-01 SR-02 SR-03 SR-10 The whole pipeline in one session, with the real Claude
// Code as leader and as both members, who take turns at first and then work side by
// side: each of the three is one process from its first turn to its last, and woken
// by what the others report.
func TestPipelineOfPrograms(t *testing.T) {
	t.Parallel()
	workThrough(t, claudes, 6, 3)
}

// SR-01 SR-02 SR-03 SR-10 So it is with Codex under Claude Code, and with Claude Code
// under Codex.
func TestPipelineOfDifferentPrograms(t *testing.T) {
	t.Parallel()
	for _, of := range ledByBoth {
		t.Run(of.String(), func(t *testing.T) {
			t.Parallel()
			workThrough(t, of, 2, 2) // whoever is quick enough is heard in the turn that waits for it
		})
	}
}

// workThrough has a crew of programs work through a pipeline, in so many turns of its
// leader's and of each member's at least.
func workThrough(t *testing.T, of mix, leads, works int) {
	t.Helper()
	c := crewOf(t, of, "", "", []chore{{"requirements", "front"}}, []chore{{"architecture", "back"}}, []chore{{"design", "front"}},
		[]chore{{"pages", "front"}, {"server", "back"}}, []chore{{"qa", "back"}})
	x := c.start(t, "team", "run", "crew.yaml", "A page for a bakery. [goal]")
	x.ends(0)
	v := c.over(t)
	for who, turns := range map[string]int{"leader": leads, "front": works, "back": works} {
		if n := len(c.pids[who]); n != 1 {
			t.Errorf("%s was %d processes", who, n)
		}
		for _, m := range v.Members {
			if string(m.Agent) == who && m.Turns < turns {
				t.Errorf("%s took %d turns, not %d", who, m.Turns, turns)
			}
		}
	}
	if len(v.Merges) < 2 {
		t.Errorf("%d merges", len(v.Merges))
	}
}

// SR-12 SR-08 Whoever drives the team is killed, and the programs of its leader and
// its members are, at random moments; each time it goes on, with the conversations
// of all of them, in which nothing is missing and nothing is said twice.
func TestProgramsKilledAnywhere(t *testing.T) {
	t.Parallel()
	kills := 10
	if raceEnabled {
		kills = 3
	}
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 10))
	all := append([]mix{claudes}, ledByBoth...)
	each := (kills + len(all) - 1) / len(all)
	for n := 0; kills > 0 && !t.Failed(); n++ {
		c := crewOf(t, all[n%len(all)], "", "max_attempts: 20", []chore{{"one", "ann"}, {"two", "bob"}}, []chore{{"three", "ann"}})
		kills -= c.torment(t, rng, min(kills, each))
	}
}

// torment has the crew work while somebody is killed now and then, and returns how
// often that was.
func (c *crew) torment(t *testing.T, rng *rand.Rand, most int) (kills int) {
	t.Helper()
	var mu sync.Mutex
	var driver *process
	var all sync.WaitGroup
	next := 1 + rng.IntN(4)
	c.acts(func(a asked) (backendtest.Reply, bool) {
		mu.Lock()
		defer mu.Unlock()
		if a.n < next || kills == most {
			return backendtest.Reply{}, false
		}
		kills++
		next = a.n + 1 + rng.IntN(6)
		whom, victim := rng.IntN(5), driver
		all.Add(1)
		time.AfterFunc(time.Duration(rng.IntN(200))*time.Millisecond, func() {
			defer all.Done()
			if whom < 2 { // and what it has started with it
				_ = victim.cmd.Process.Signal(syscall.SIGKILL)
				return
			}
			running := c.programs()
			if len(running) > 0 {
				who := slices.Sorted(maps.Keys(running))[whom%len(running)]
				kill(t, running[who], syscall.SIGKILL)
			}
		})
		return backendtest.Reply{}, false
	})
	args := []string{"team", "run", "crew.yaml", "Make three. [goal]"}
	for tries := 0; !t.Failed(); tries++ {
		if tries > most {
			t.Fatalf("it does not come to its end\n%s", driver.everything())
		}
		mu.Lock()
		driver = c.start(t, args...)
		x := driver
		mu.Unlock()
		x.readers.Wait()
		_ = x.cmd.Wait()
		if x.cmd.ProcessState.Success() {
			break
		} else if !x.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("%s\n%s", x.cmd.ProcessState, x.everything())
		}
		args = []string{"resume", "team-"}
	}
	all.Wait()
	v := c.over(t)
	settledMail(t, c.events(t, string(v.ID)))
	return kills
}

// SR-12 SR-11 A program that is killed when it was just told something, in the middle
// of its turn, goes on and is told it once.
func TestProgramKilledWithNews(t *testing.T) {
	t.Parallel()
	for _, of := range []mix{claudes, codexes} {
		t.Run(of.members, func(t *testing.T) {
			t.Parallel()
			killedWithNews(t, of)
		})
	}
}

func killedWithNews(t *testing.T, of mix) {
	t.Helper()
	c := crewOf(t, of, "", "", []chore{{"one", "ann"}})
	c.more = map[string]string{"[said:1]": "ann"}
	busy, killed := make(chan struct{}), atomic.Bool{}
	begun := sync.OnceFunc(func() { close(busy) }) // what it has not kept when it is killed it does again
	c.acts(func(a asked) (backendtest.Reply, bool) {
		switch {
		case a.who != "ann":
		case !a.tool && !strings.Contains(a.Sent, "until test"):
			begun()
			return claudetest.Reply(claudetest.Use("Bash", fields{"command": "until test -e go.txt; do sleep 0.1; done; echo waited", "description": "wait"})), true
		case strings.Contains(a.Sent, "[said:1]") && killed.CompareAndSwap(false, true):
			kill(t, c.programs()["ann"], syscall.SIGKILL)
		case strings.Contains(a.Sent, "[said:1]") && !strings.Contains(a.Sent, "[made]"):
			return made("one"), true
		}
		return backendtest.Reply{}, false
	})
	x := c.start(t, "team", "run", "crew.yaml", "Make one. [goal]")
	comes(t, busy, x)
	y := c.start(t, "team", "message", "team-", "--to", "ann", "[said:1] a word")
	y.says(y.out, `In the mailbox of ann`)
	y.ends(0)
	if err := os.WriteFile(filepath.Join(c.project.team(t, "team-").Started.Dir, "members", "ann", "go.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	x.ends(0)
	c.over(t)
	if n := len(c.pids["ann"]); n != 2 {
		t.Errorf("ann was %d processes", n)
	}
}

// SR-10 SR-11 Six programs work at once under a seventh. One runs a command that
// takes as long as it takes, while a person writes to it: that waits, in order, until
// it can be told, and what became of it is shown. Another asks for permission, which
// is given from another process.
func TestSixPrograms(t *testing.T) {
	t.Parallel()
	var stage []chore
	for n := range 6 {
		stage = append(stage, chore{fmt.Sprintf("part-%d", n+1), fmt.Sprintf("m%d", n+1)})
	}
	c := crewOf(t, claudes, `, permissions: {rules: {ask: ["command(touch *)"]}}`, "", stage)
	var mu sync.Mutex
	here, together := map[string]bool{}, make(chan struct{})
	c.acts(func(a asked) (backendtest.Reply, bool) {
		if a.who != "leader" && !a.tool {
			mu.Lock()
			if here[a.who] = true; len(here) == 6 {
				select {
				case <-together:
				default:
					close(together)
				}
			}
			mu.Unlock()
			<-together
		}
		switch {
		case a.who == "m1" && !strings.Contains(a.Sent, "until test"):
			return claudetest.Reply(claudetest.Use("Bash", fields{"command": "until test -e go.txt; do sleep 0.1; done; echo waited", "description": "wait"})), true
		case a.who == "m1" && !strings.Contains(a.Sent, "[made]"):
			return made("part-1"), true
		case a.who == "m2" && !strings.Contains(a.Sent, "touch asked"):
			return claudetest.Reply(claudetest.Use("Bash", fields{"command": "touch asked-for.txt", "description": "touch"})), true
		case a.who == "m2" && !strings.Contains(a.Sent, "[made]"):
			return made("part-2"), true
		}
		return backendtest.Reply{}, false
	})
	x := c.start(t, "team", "run", "--ask", "crew.yaml", "Make six. [goal]")
	comes(t, together, x)
	for n := range 3 {
		y := c.start(t, "team", "message", "team-", "--to", "m1", fmt.Sprintf("[said:%d] a word", n+1))
		y.says(y.out, `In the mailbox of m1`)
		y.ends(0)
	}
	x.says(x.err, `touch asked-for\.txt(?s).*conclave approve team-`)
	y := c.start(t, "approve", "team-")
	y.says(y.out, `touch asked-for\.txt`)
	y.ends(0)
	dir := c.project.team(t, "team-").Started.Dir
	if err := os.WriteFile(filepath.Join(dir, "members", "m1", "go.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	x.ends(0)
	v := c.over(t)
	for _, m := range []string{"m1", "m2", "m3", "m4", "m5", "m6", "leader"} {
		if n := len(c.pids[m]); n != 1 {
			t.Errorf("%s was %d processes", m, n)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "members", "m2", "asked-for.txt")); err != nil {
		t.Errorf("it was not allowed: %v", err)
	}
	said := heardIn(c.got["m1"][len(c.got["m1"])-1])
	one, two, three := strings.Index(said, "[said:1]"), strings.Index(said, "[said:2]"), strings.Index(said, "[said:3]")
	if one < 0 || two < one || three < two || strings.Count(said, "[said:") != 3 {
		t.Errorf("m1 was told\n%s", said)
	}
	for _, m := range v.Mail {
		if m.Kind == "person" && (m.Fates[0].State != "delivered" || m.Fates[0].Turn != event.Turn{Round: 1, Take: 1}) {
			t.Errorf("%q was %+v", m.Text.Text, m.Fates)
		}
	}
}
