package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/openai/openaitest"
	"conclave/internal/event"
	"conclave/internal/view"
)

// A clerk is a project whose jobs are done by a real program, and the model behind
// that, which plans and works by what it finds in its conversation: so it can be cut
// anywhere.
type clerk struct {
	*project
	program string // claude or codex
	// act, if set, is what the model does instead; false leaves it to the plan.
	act func(q query) (backendtest.Reply, bool)

	mu   sync.Mutex
	got  []query
	done map[string]int // how often each step was taken, by its mark
}

// A query is what the model is asked.
type query struct {
	system string
	talk   string // the whole conversation, as it was sent
	last   string // what was said last in it
	tools  []string
}

func (q query) offers(tool string) bool {
	return slices.ContainsFunc(q.tools, func(s string) bool { return s == tool || s == "mcp__conclave__"+tool })
}

// job is that the request is one of the job's agent, and not what a program asks for
// besides.
func (q query) job() bool { return q.offers("todo_complete") }

// clerks are the programs that can do a job.
var clerks = []string{clitest.Claude, clitest.Codex}

// clerkOf is a project with an offer in it. More is for the configuration.
func clerkOf(t *testing.T, program, more string) *clerk {
	t.Helper()
	needsSandbox(t)
	c := &clerk{project: bench(t, ""), program: program, done: map[string]int{}}
	c.env = append(c.env, "CLERK_KEY="+claudetest.Key)
	kind, url := "claude_code", ""
	switch program {
	case clitest.Claude:
		url = claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply {
			return c.answer(query{r.System, text(r.Body["messages"]), claudetest.Last(r), r.Tools})
		})
	case clitest.Codex:
		kind = "codex"
		srv := httptest.NewServer(openaitest.Handler(func(r openaitest.Request) backendtest.Reply {
			return c.answer(query{r.System, text(r.Body["input"]), r.Messages[len(r.Messages)-1].Text, r.Tools})
		}))
		t.Cleanup(srv.Close)
		url = srv.URL + "/v1"
	}
	c.write(t, "job.yaml", fmt.Sprintf(`agents:
  - id: clerk
    backend: {type: %s, model: claude-sonnet-4-5, command: %q, base_url: %q, api_key: "${CLERK_KEY}", env: {CLAUDE_CODE_MAX_RETRIES: "0"}}
%s`, kind, clitest.Installed(t, program), url, more))
	c.write(t, "offers/atlas.md", "Atlas asks for 4711 francs.\n")
	return c
}

func text(v any) string {
	p, _ := json.Marshal(v)
	return string(p)
}

// answer is what the model says.
func (c *clerk) answer(q query) backendtest.Reply {
	c.mu.Lock()
	c.got = append(c.got, q)
	c.mu.Unlock()
	if c.act != nil {
		if reply, ok := c.act(q); ok {
			return reply
		}
	}
	if !q.job() {
		return claudetest.Say("A title.")
	}
	for _, s := range c.steps(q) {
		if !strings.Contains(q.talk, s.mark) {
			c.mu.Lock()
			c.done[s.mark]++
			c.mu.Unlock()
			return s.reply
		}
	}
	return claudetest.Say("That is all.")
}

// A step is something the model does, and the mark by which it knows that it has.
type step struct {
	mark  string
	reply backendtest.Reply
}

// steps are those of the turn.
func (c *clerk) steps(q query) []step {
	switch {
	case q.offers("todo_rewind"):
		return []step{
			{"[made]", c.shell("mkdir -p output && echo 'Atlas, for 4711.' > output/result.md; echo x >> documents/offers/atlas.md; echo x > todos.yaml; echo '[made]'")},
			{"[one done]", c.host("todo_complete", fields{"todo_id": "1", "note": "[one done]"})},
			{"[two done]", c.host("todo_complete", fields{"todo_id": "2", "note": "[two done]"})},
		}
	case strings.Contains(q.talk, "A tactical phase is over"):
		return []step{
			{"[looked]", c.shell("cat output/result.md; echo '[looked]'")},
			{"[complete]", c.host("job_complete", fields{"summary": "It is compared. [complete]", "deliverables": []string{"output/result.md"}, "confidence": 0.9})},
		}
	case strings.Contains(q.talk, "I have read the plan"):
		return []step{
			{"[plan 2]", c.host("write", fields{"path": "plan.md", "content": "# Plan\n\n[plan 2] Shorter.\n"})},
			{"[planned 2]", c.host("todo_complete", fields{"todo_id": "1,2,3", "note": "[planned 2]"})},
		}
	}
	return []step{
		{"[read]", c.shell("cat documents/offers/atlas.md; touch sneaky.txt; echo free > documents/offers/atlas.md; echo '[read]'")},
		{"[plan 1]", c.host("write", fields{"path": "plan.md", "content": "# Plan\n\n[plan 1] Everything about Atlas.\n"})},
		{"[early]", c.host("write", fields{"path": "output/early.md", "content": "[early]"})},
		{"[staged]", c.host("next_phase_todos", fields{"phase_name": "Compare [staged]", "todos": []string{"Write output/result.md", "Check what output/result.md says"}})},
		{"[planned 1]", c.host("todo_complete", fields{"todo_id": "1,2,3,4", "note": "[planned 1]"})},
	}
}

// host is a call of one of our tools, shell one of the program's own.
func (c *clerk) host(name string, input any) backendtest.Reply {
	if c.program == clitest.Claude {
		name = "mcp__conclave__" + name
	}
	return claudetest.Reply(claudetest.Use(name, input))
}

func (c *clerk) shell(command string) backendtest.Reply {
	if c.program == clitest.Claude {
		return claudetest.Reply(claudetest.Use("Bash", fields{"command": command, "description": "do it"}))
	}
	return claudetest.Reply(claudetest.Use("exec_command", fields{"cmd": command}))
}

// asked are the requests of the job's agent, by the brief with which its turns began.
func (c *clerk) asked() map[string][]query {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string][]query{}
	for _, q := range c.got {
		what := "other"
		switch {
		case !q.job():
		case q.offers("todo_rewind"):
			what = "tactical"
		case strings.Contains(q.talk, "A tactical phase is over"):
			what = "transition"
		case strings.Contains(q.talk, "I have read the plan"):
			what = "revise"
		default:
			what = "initial"
		}
		out[what] = append(out[what], q)
	}
	return out
}

// begins begins a job that will be reviewed, and waits until its plan is there.
func (c *clerk) begins(t *testing.T) (id string) {
	t.Helper()
	id = strings.TrimSpace(c.output(t, "job", "new", "--config", "job.yaml", "--review", "true", "-d", "Compare the offers", "--doc", "offers"))
	c.start(t, "job", "wait", id).ends(5)
	return id
}

// in is a file of the job's workspace; empty if it is not there.
func (c *clerk) in(id, name string) string {
	p, _ := os.ReadFile(filepath.Join(c.dir, ".conclave/jobs", id, name))
	return string(p)
}

// over checks what must hold of a job that has come to its end.
func (c *clerk) over(t *testing.T, id string) view.Job {
	t.Helper()
	j := c.job(t, id)
	if j.State != view.JobCompleted || j.Ended == nil || len(j.Phases) != 3 {
		t.Fatalf("it is %s (%s) after %d phases\n%s", j.State, j.Why, len(j.Phases), c.output(t, "log", id))
	}
	for _, x := range j.Phases[1].Todos {
		if !x.Done {
			t.Errorf("%s is not done", x.Text)
		}
	}
	if got := c.in(id, "output/result.md"); got != "Atlas, for 4711.\n" {
		t.Errorf("the result is %q", got)
	}
	if got := c.in(id, "documents/offers/atlas.md"); got != "Atlas asks for 4711 francs.\n" {
		t.Errorf("the document is %q", got)
	}
	for _, name := range []string{"sneaky.txt", "output/early.md"} {
		if _, err := os.Stat(filepath.Join(c.dir, ".conclave/jobs", id, name)); err == nil {
			t.Errorf("%s was made while the job was planned", name)
		}
	}
	c.sound(t)
	endDrivers(c.dir)
	c.nobodyLeft(t)
	c.quiet(t)
	c.unmarked(t, event.FlowID(id))
	return j
}

// A real program plans a job in a place in which it can write nothing but the plan,
// by our tools; it is asked to change the plan, and does in the same conversation; it
// carries it out with its own tools, and completes it.
//
// IP-01 IP-02 IP-04 IP-05 IP-06
func TestJobByProgram(t *testing.T) {
	t.Parallel()
	for _, program := range clerks {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := clerkOf(t, program, "")
			id := c.begins(t)
			if got := c.in(id, "plan.md"); !strings.Contains(got, "[plan 1]") {
				t.Errorf("plan.md is %q", got)
			}
			c.start(t, "job", "revise", id, "-m", "Shorter, please.").ends(0)
			c.start(t, "job", "wait", id).ends(5)
			if got := c.in(id, "plan.md"); !strings.Contains(got, "[plan 2]") {
				t.Errorf("plan.md is %q", got)
			}
			if got := c.in(id, "workspace.md"); !strings.Contains(got, "Shorter, please.") {
				t.Errorf("workspace.md is %q", got)
			}
			c.start(t, "job", "approve", id).ends(0)
			c.start(t, "job", "wait", id).ends(0)
			c.over(t, id)
			c.kept(t)
		})
	}
}

// kept checks what the model was offered and what it knew, in each phase.
func (c *clerk) kept(t *testing.T) {
	t.Helper()
	all := c.asked()
	for _, x := range []struct {
		phase     string
		has, lack []string // in the conversation
		may, not  []string // tools
	}{
		{"initial", []string{"The job begins.", "4711 francs", "Read-only file system", "is not written in this phase"}, nil,
			[]string{"next_phase_todos", "todo_complete", "job_complete", "write", "edit"}, []string{"todo_rewind", "Write", "Edit", "NotebookEdit", "apply_patch"}},
		{"revise", []string{"The job begins.", "[planned 1]", "4711 francs", "Shorter, please."}, []string{"This is what was said before"},
			[]string{"next_phase_todos", "address_comment", "write"}, []string{"todo_rewind", "Write", "Edit"}},
		{"tactical", []string{"The plan stands.", "[plan 2] Shorter.", "Check what output/result.md says"}, []string{"The job begins.", "[plan 1]"},
			[]string{"todo_complete", "todo_rewind"}, []string{"next_phase_todos", "job_complete", "write"}},
		{"transition", []string{"A tactical phase is over.", "Atlas, for 4711."}, []string{"The job begins.", "The plan stands."},
			[]string{"job_complete", "next_phase_todos"}, []string{"todo_rewind", "Write"}},
	} {
		if len(all[x.phase]) == 0 {
			t.Errorf("%s: the model was not asked", x.phase)
			continue
		}
		q := all[x.phase][len(all[x.phase])-1]
		for _, s := range x.has {
			if !strings.Contains(q.talk, s) {
				t.Errorf("%s: nothing of %q in %s", x.phase, s, q.talk)
			}
		}
		for _, s := range x.lack {
			if strings.Contains(q.talk, s) {
				t.Errorf("%s: speaks of %q: %s", x.phase, s, q.talk)
			}
		}
		for _, s := range x.may {
			if !q.offers(s) {
				t.Errorf("%s: no %s among %v", x.phase, s, q.tools)
			}
		}
		for _, s := range x.not {
			if q.offers(s) {
				t.Errorf("%s: %s among %v", x.phase, s, q.tools)
			}
		}
	}
	for mark, n := range c.done {
		if n != 1 {
			t.Errorf("%s was done %d times", mark, n)
		}
	}
}

// running is the pid of the job's program.
func (c *clerk) running() (pid string) {
	c.rooms(func(id, _ string, cmd []byte) {
		program, rest, _ := strings.Cut(string(cmd), "\x00")
		if filepath.Base(program) == c.program && (strings.Contains(rest, "--input-format") || strings.Contains(rest, "app-server")) {
			pid = id
		}
	})
	return pid
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
			c := clerkOf(t, program, "")
			now := make(chan string, 1)
			var planning, one, two sync.Once
			c.act = func(q query) (reply backendtest.Reply, ok bool) {
				tactical := q.offers("todo_rewind")
				switch {
				case !q.job():
				case !tactical && strings.Contains(q.talk, "[read]"):
					planning.Do(func() { now <- "planning"; reply, ok = c.shell("sleep 1000 # [stuck]"), true })
				case tactical && strings.Contains(q.talk, "[one done]"):
					two.Do(func() { now <- "working"; reply, ok = c.shell("sleep 1000 # [stuck]"), true })
				case tactical && strings.Contains(q.talk, "[made]"):
					one.Do(func() { kill(t, c.running(), syscall.SIGKILL) })
				}
				return reply, ok
			}
			id := strings.TrimSpace(c.output(t, "job", "new", "--config", "job.yaml", "--review", "true", "-d", "Compare the offers", "--doc", "offers"))
			<-now
			endDrivers(c.dir)
			c.start(t, "resume", id).ends(5)
			if j := c.job(t, id); j.State != view.JobReview {
				t.Fatalf("it is %s (%s)\n%s", j.State, j.Why, c.output(t, "log", id))
			}
			c.start(t, "job", "approve", id).ends(0)
			<-now
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
