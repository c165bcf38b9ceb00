package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
	"conclave/internal/view"
)

// running is the pid of the job's program.
func (c *clerk) running(which string) (pid string) {
	c.rooms(func(id, _ string, cmd []byte) {
		program, rest, _ := strings.Cut(string(cmd), "\x00")
		if filepath.Base(program) == which && (strings.Contains(rest, "--input-format") || strings.Contains(rest, "app-server")) {
			pid = id
		}
	})
	return pid
}

// wroteDown waits until the program's own record has what came of a command.
func (c *clerk) wroteDown(t *testing.T, mark string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		found := false
		_ = filepath.WalkDir(filepath.Join(c.dir, ".conclave", "cli"), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".jsonl" {
				return nil
			}
			p, _ := os.ReadFile(path)
			for line := range strings.Lines(string(p)) {
				result := strings.Contains(line, `"tool_result"`) || strings.Contains(line, `_output"`)
				found = found || result && strings.Contains(line, mark)
			}
			return nil
		})
		if found {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Errorf("no record has %s", mark)
			return
		}
	}
}

// Whoever drives a job is killed while its program plans and while it works, and so
// is the program itself. Each time the job goes on, in the same conversation: nothing
// that was done is done again.
//
// IP-04 IP-07
func TestJobByProgramKilled(t *testing.T) {
	t.Parallel()
	for _, program := range clerks {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := clerkOf(t, "", program)
			now := make(chan string, 1)
			var planning, one, two sync.Once
			c.does(func(q query) (reply backendtest.Reply, ok bool) {
				tactical := q.offers("todo_rewind")
				switch {
				case !q.job():
				case !tactical && strings.Contains(q.talk, "[read]"):
					planning.Do(func() { now <- "planning"; reply, ok = q.shell("sleep 1000 # [stuck]"), true })
				case tactical && strings.Contains(q.talk, "[one done]"):
					two.Do(func() { now <- "working"; reply, ok = q.shell("sleep 1000 # [stuck]"), true })
				case tactical && strings.Contains(q.talk, "[made]"):
					one.Do(func() {
						c.wroteDown(t, "[made]") // what it has not written down it does again
						kill(t, c.running(q.program), syscall.SIGKILL)
					})
				}
				return reply, ok
			})
			id := strings.TrimSpace(c.output(t, "job", "new", "--config", "job.yaml", "--review", "true", "-d", "Compare the offers", "--doc", "offers"))
			comes(t, now)
			endDrivers(c.dir)
			c.start(t, "resume", id).ends(5)
			if j := c.job(t, id); j.State != view.JobReview {
				t.Fatalf("it is %s (%s)\n%s", j.State, j.Why, c.output(t, "log", id))
			}
			c.start(t, "job", "approve", id).ends(0)
			comes(t, now)
			endDrivers(c.dir)
			c.start(t, "resume", id).ends(0)
			c.over(t, id)
			for _, mark := range []string{"[read]", "[made]"} {
				if n := c.done[mark]; n != 1 {
					t.Errorf("%s was done %d times", mark, n)
				}
			}
			all := c.asked()
			for phase, brief := range map[string]string{"initial": "The job begins.", "tactical": "The plan stands."} {
				q := all[phase][len(all[phase])-1]
				if n := strings.Count(q.talk, brief); n != 1 {
					t.Errorf("%s: told %d times what to do: %s", phase, n, q.talk)
				}
			}
		})
	}
}

// A job is cancelled while its program runs a command: nothing of that is left.
//
// SR-07
func TestJobByProgramCancelled(t *testing.T) {
	t.Parallel()
	for _, program := range clerks {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := clerkOf(t, "", program)
			stuck := make(chan struct{})
			now := sync.OnceFunc(func() { close(stuck) })
			c.does(func(q query) (backendtest.Reply, bool) {
				if !q.job() || !strings.Contains(q.talk, "[read]") {
					return backendtest.Reply{}, false
				}
				now()
				return q.shell("setsid sleep 1000 & sleep 1000"), true
			})
			id := strings.TrimSpace(c.output(t, "job", "new", "--config", "job.yaml", "-d", "Compare the offers", "--doc", "offers"))
			comes(t, stuck)
			c.start(t, "job", "cancel", id).ends(0)
			c.start(t, "job", "wait", id).ends(4)
			if j := c.job(t, id); j.Ended == nil || j.Ended.Status != event.StatusCancelled {
				t.Errorf("it is %s (%s)", j.State, j.Why)
			}
			c.sound(t)
			c.gone(t, id)
		})
	}
}
