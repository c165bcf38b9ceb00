package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
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

	mu   sync.Mutex
	act  func(q query) (backendtest.Reply, bool) // see does
	got  []query
	done map[string]int // how often each step was taken, by its mark
}

// A query is what the model is asked.
type query struct {
	program string // claude or codex
	talk    string // the whole conversation, as it was sent
	last    string // what was said last in it
	tools   []string
}

func (q query) offers(tool string) bool {
	return slices.ContainsFunc(q.tools, func(s string) bool { return s == tool || s == "mcp__conclave__"+tool })
}

// job is that the request is one of the job's agent, and not what a program asks for
// besides.
func (q query) job() bool { return q.offers("todo_complete") }

// clerks are the programs that can do a job.
var clerks = []string{clitest.Claude, clitest.Codex}

// clerkOf is a project with an offer in it, whose agents are these programs. More is
// for the configuration.
func clerkOf(t *testing.T, more string, programs ...string) *clerk {
	t.Helper()
	needsSandbox(t)
	c := &clerk{project: bench(t, ""), done: map[string]int{}}
	c.env = append(c.env, "CLERK_KEY="+claudetest.Key)
	config := "agents:\n"
	for _, program := range programs {
		kind, url := "claude_code", ""
		if program == clitest.Claude {
			url = claudetest.Serve(t, func(r claudetest.Request) backendtest.Reply {
				return c.answer(query{program, text(r.Body["messages"]), claudetest.Last(r), r.Tools})
			})
		} else {
			srv := httptest.NewServer(openaitest.Handler(func(r openaitest.Request) backendtest.Reply {
				return c.answer(query{program, text(r.Body["input"]), r.Messages[len(r.Messages)-1].Text, r.Tools})
			}))
			t.Cleanup(srv.Close)
			kind, url = "codex", srv.URL+"/v1"
		}
		config += fmt.Sprintf("  - {id: %s-clerk, backend: {type: %s, model: claude-sonnet-4-5, command: %q, base_url: %q, api_key: \"${CLERK_KEY}\", env: {CLAUDE_CODE_MAX_RETRIES: \"0\"}}}\n",
			program, kind, clitest.Installed(t, program), url)
	}
	c.write(t, "job.yaml", config+more)
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
	act := c.act
	c.mu.Unlock()
	if act != nil {
		if reply, ok := act(q); ok {
			return reply
		}
	}
	if !q.job() {
		return claudetest.Say("A title.")
	}
	for _, s := range q.steps() {
		if !strings.Contains(q.talk, s.mark) {
			c.mu.Lock()
			c.done[s.mark]++
			c.mu.Unlock()
			return s.reply
		}
	}
	return claudetest.Say("That is all.")
}

// does has the model do something instead; false leaves it to the plan.
func (c *clerk) does(act func(q query) (backendtest.Reply, bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.act = act
}

// A step is something the model does, and the mark by which it knows that it has.
type step struct {
	mark  string
	reply backendtest.Reply
}

// steps are those of the turn.
func (q query) steps() []step {
	switch {
	case q.offers("todo_rewind"):
		return []step{
			{"[made]", q.shell("mkdir -p output && echo 'Atlas, for 4711.' > output/result.md; echo x >> documents/offers/atlas.md; echo x > todos.yaml; echo '[made]'")},
			{"[one done]", q.host("todo_complete", fields{"todo_id": "1", "note": "[one done]"})},
			{"[tried]", q.shell("echo mine > todos.yaml; echo mine > documents/new.md; echo mine >> .git/config; cat todos.yaml; echo '[tried]'")},
			{"[two done]", q.host("todo_complete", fields{"todo_id": "2", "note": "[two done]"})},
		}
	case strings.Contains(q.talk, "A tactical phase is over"):
		return []step{
			{"[looked]", q.shell("cat output/result.md; echo '[looked]'")},
			{"[complete]", q.host("job_complete", fields{"summary": "It is compared. [complete]", "deliverables": []string{"output/result.md"}, "confidence": 0.9})},
		}
	case strings.Contains(q.talk, "I have read the plan"):
		return []step{
			{"[plan 2]", q.host("write", fields{"path": "plan.md", "content": "# Plan\n\n[plan 2] Shorter.\n"})},
			{"[planned 2]", q.host("todo_complete", fields{"todo_id": "1,2,3", "note": "[planned 2]"})},
		}
	}
	return []step{
		{"[read]", q.shell("cat documents/offers/atlas.md; touch sneaky.txt; echo free > documents/offers/atlas.md; echo '[read]'")},
		{"[plan 1]", q.host("write", fields{"path": "plan.md", "content": "# Plan\n\n[plan 1] Everything about Atlas.\n"})},
		{"[seen]", q.shell("cat plan.md; echo mine > todos.yaml; mkdir output; echo '[seen]'")},
		{"[early]", q.host("write", fields{"path": "output/early.md", "content": "[early]"})},
		{"[staged]", q.host("next_phase_todos", fields{"phase_name": "Compare [staged]", "todos": []string{"Write output/result.md", "Check what output/result.md says"}})},
		{"[planned 1]", q.host("todo_complete", fields{"todo_id": "1,2,3,4", "note": "[planned 1]"})},
	}
}

// host is a call of one of our tools, shell one of the program's own.
func (q query) host(name string, input any) backendtest.Reply {
	if q.program == clitest.Claude {
		name = "mcp__conclave__" + name
	}
	return claudetest.Reply(claudetest.Use(name, input))
}

func (q query) shell(command string) backendtest.Reply {
	if q.program == clitest.Claude {
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
	if got := c.in(id, "todos.yaml"); !strings.Contains(got, "Write output/result.md") || strings.Contains(got, "mine") {
		t.Errorf("todos.yaml is %q", got)
	}
	if got := c.in(id, "documents/offers/atlas.md"); got != "Atlas asks for 4711 francs.\n" {
		t.Errorf("the document is %q", got)
	}
	for _, name := range []string{"sneaky.txt", "output/early.md", "documents/new.md"} {
		if _, err := os.Stat(filepath.Join(c.dir, ".conclave/jobs", id, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	c.sound(t)
	c.gone(t, id)
	return j
}

// gone is that nothing is left of a job, once whoever drove it has come to an end.
func (c *clerk) gone(t *testing.T, id string) {
	t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, d := range dirs {
		if cwd, err := os.Readlink(d); err == nil && cwd == c.dir {
			awaitGone(t, filepath.Base(filepath.Dir(d)))
		}
	}
	c.nobodyLeft(t)
	c.quiet(t)
	c.unmarked(t, event.FlowID(id))
}

// A real program plans a job in a place in which it can write nothing but the plan,
// by our tools; it stops early and is told to go on, is asked to change the plan, and
// does so in the same conversation; it carries it out with its own tools, and
// completes it.
//
// IP-01 IP-02 IP-04 IP-05 IP-06
func TestJobByProgram(t *testing.T) {
	t.Parallel()
	for _, program := range clerks {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := clerkOf(t, "", program)
			var pause sync.Once
			c.does(func(q query) (reply backendtest.Reply, ok bool) {
				if q.job() && strings.Contains(q.talk, "[seen]") {
					pause.Do(func() { reply, ok = claudetest.Say("Shall I go on?"), true })
				}
				return reply, ok
			})
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
		{"initial", []string{"The job begins.", "4711 francs", "Read-only file system", "is not written in this phase", "Shall I go on?", "You stopped before"}, nil,
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

var placeOfJob = regexp.MustCompile(`Its workspace is ([^ ]+): work on the files there`)

// carries is what the agents of a run do that carries a phase out: they answer, vote
// for the same one, and whoever presents writes.
func carries(q query) (backendtest.Reply, bool) {
	place := placeOfJob.FindStringSubmatch(q.talk)
	switch {
	case place == nil || q.job():
		return backendtest.Reply{}, false
	case strings.Contains(q.last, "Taken."):
		return claudetest.Say("Done."), true
	case strings.Contains(q.last, "yours=") && q.offers("vote"):
		return q.host("vote", fields{"agent_id": "agent1", "reason": "It is good."}), true
	case q.offers("new_answer") && strings.Contains(q.talk, "[too early]"):
		return q.host("new_answer", fields{"content": "The file would say so, by " + q.program + "."}), true
	case q.offers("new_answer"):
		return q.shell("cat " + place[1] + "/documents/offers/atlas.md; echo x > " + place[1] + "/output/result.md; echo '[too early]'"), true
	case q.offers("Bash") || q.offers("exec_command"):
		if !strings.Contains(q.talk, "[made]") {
			return q.shell("echo 'Atlas, for 4711.' > " + place[1] + "/output/result.md; echo x > " + place[1] + "/todos.yaml; echo '[made]'"), true
		}
		return claudetest.Say("It is written."), true
	}
	return backendtest.Reply{}, false
}

// A phase that a run carries out has programs answer, vote and present: before they
// are chosen they can only look into the workspace of the job, and who is writes into
// it. The program that planned looks at what came of it.
//
// IP-04
func TestJobByRunOfPrograms(t *testing.T) {
	t.Parallel()
	c := clerkOf(t, "planning: {execute_with: run}\norchestrator: {defer_voting_until_all_answered: true}\n", clerks...)
	c.does(carries)
	id := c.begins(t)
	c.start(t, "job", "approve", id).ends(0)
	c.start(t, "job", "wait", id).ends(0)
	j := c.over(t, id)
	if j.Phases[1].Run == "" {
		t.Fatal("no run has carried it out")
	}
	early := 0
	for _, q := range c.asked()["other"] {
		if strings.Contains(q.last, "[too early]") {
			if early++; !strings.Contains(q.last, "Read-only file system") || !strings.Contains(q.last, "4711 francs") {
				t.Errorf("%s found %s", q.program, q.last)
			}
		}
	}
	if early < 2 {
		t.Errorf("%d have tried to write before they were chosen", early)
	}
}

// The companion of a job may be a program: it is given the tools that look into this
// job, finds nothing of it by itself, and can change nothing.
//
// IP-12 IP-13
func TestCompanionIsAProgram(t *testing.T) {
	t.Parallel()
	for _, program := range clerks {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := clerkOf(t, "", program)
			c.does(func(q query) (backendtest.Reply, bool) {
				switch {
				case !q.offers("read_workspace_file"):
					return backendtest.Reply{}, false
				case !strings.Contains(q.talk, "[tried]"):
					return q.shell("touch mine.txt; cat " + filepath.Join(c.dir, ".conclave/jobs/*/plan.md") + "; echo '[tried]'"), true
				case !strings.Contains(q.talk, "[plan 1]"):
					return q.host("read_workspace_file", fields{"path": "plan.md"}), true
				case strings.Contains(q.last, "And now?"):
					return claudetest.Say("I have read it before."), true
				}
				return claudetest.Say("It is all about Atlas."), true
			})
			id := c.begins(t)
			for _, x := range []struct{ ask, answer string }{{"What is it about?", "It is all about Atlas."}, {"And now?", "I have read it before."}} {
				if got := c.output(t, "job", "ask", id, x.ask); !strings.Contains(got, x.answer) {
					t.Errorf("%s %q", x.ask, got)
				}
			}
			if got := c.job(t, id); got.State != view.JobReview {
				t.Errorf("it is %s", got.State)
			}
			var last query
			for _, q := range c.asked()["other"] {
				if q.offers("read_workspace_file") {
					last = q
				}
				if q.offers("read_workspace_file") && strings.Contains(q.last, "[tried]") && strings.Contains(q.last, "Everything about Atlas") {
					t.Errorf("it has found the plan by itself: %s", q.last)
				}
			}
			if last.offers("next_phase_todos") || last.offers("write") || last.offers("Write") || !strings.Contains(last.talk, "What is it about?") {
				t.Errorf("it has %v, and remembers %s", last.tools, last.talk)
			}
			if found, _ := filepath.Glob(filepath.Join(c.dir, ".conclave/cli/*/desk/*")); len(found) > 0 {
				t.Errorf("it has made %v", found)
			}
			c.sound(t)
			c.gone(t, id)
		})
	}
}
