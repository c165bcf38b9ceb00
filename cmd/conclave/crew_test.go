package main

import (
	"bytes"
	"cmp"
	"fmt"
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
	"conclave/internal/event"
	"conclave/internal/proc"
	"conclave/internal/view"
)

// A chore is a task of a plan, and whose it is: of the role of that name, or a maker.
type chore struct{ task, owner string }

// A crew is a team in which everybody is a real program, and the model behind all of
// them. Its leader works through a plan, stage by stage; what it does next it
// takes from how the team stands, so that it can be cut anywhere.
type crew struct {
	*project
	plan  [][]chore
	roles map[string]bool   // besides makers
	more  map[string]string // what else is written to whom, by its mark

	mu sync.Mutex
	// act, if set, is what somebody does instead; false leaves it to the plan.
	act  func(a asked) (backendtest.Reply, bool)
	got  map[string][]claudetest.Request // by who asked
	pids map[string]map[string]bool      // of everybody's program, as they were seen
}

// asked is what the model is asked by one of the team.
type asked struct {
	claudetest.Request
	who  string
	last string // what was said last in it
	tool bool   // by a tool
	n    int    // the how manieth request of the crew it is
}

// crewOf is a project with a team of programs that keeps to a plan. More is for the
// agents, limits for the team.
func crewOf(t *testing.T, of mix, more, limits string, plan ...[]chore) *crew {
	t.Helper()
	needsSandbox(t)
	c := &crew{project: bench(t, ""), plan: plan, got: map[string][]claudetest.Request{}, pids: map[string]map[string]bool{}}
	c.write(t, "crew.yaml", fmt.Sprintf(`name: crew
leader: {agent: head}
roles: [{name: maker, agent: hand, most: 8}]
limits: {%s}
agents:
  - {id: head, backend: %s}
  - {id: hand, backend: %s}
`, limits, c.backendOf(t, of.leader, more, c.answer), c.backendOf(t, of.members, more, c.answer)))
	return c
}

// acts sets what somebody does instead of what the plan wants.
func (c *crew) acts(act func(a asked) (backendtest.Reply, bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.act = act
}

var whoIsIt = regexp.MustCompile(`You are ([a-z0-9-]+), `)

// answer is what the model says.
func (c *crew) answer(r claudetest.Request) backendtest.Reply {
	_, about, _ := strings.Cut(r.System, "# Who you are in the team")
	m := whoIsIt.FindStringSubmatch(about)
	if m == nil {
		return claudetest.Say("A title.") // the program asks for more than answers
	}
	a := asked{Request: r, who: m[1], last: claudetest.Last(r)}
	for _, m := range slices.Backward(r.Messages) {
		if m.From != "assistant" && !strings.HasPrefix(m.Text, "<system-reminder>") {
			a.tool = m.From == "tool"
			break
		}
	}
	running := c.programs()
	c.mu.Lock()
	c.got[a.who] = append(c.got[a.who], r)
	for _, all := range c.got {
		a.n += len(all)
	}
	for who, pid := range running {
		if c.pids[who] == nil {
			c.pids[who] = map[string]bool{}
		}
		c.pids[who][pid] = true
	}
	act := c.act
	c.mu.Unlock()
	if act != nil {
		if reply, ok := act(a); ok {
			return reply
		}
	}
	if a.who == "leader" {
		return c.lead(a)
	}
	return c.work(a)
}

var standing = regexp.MustCompile(`(?m)^- \[(\w+)\] (\S+), (\S+): `)

// lead is what the leader does next.
func (c *crew) lead(a asked) backendtest.Reply {
	switch {
	case a.tool && (strings.Contains(a.last, "Your turn is over") || strings.Contains(a.last, "so is your turn")):
		return claudetest.Say("That is it.")
	case a.tool && strings.Contains(a.last, "There is nothing to wait for"):
		return claudetest.Say("I wait.")
	case a.tool && strings.Contains(a.last, "cannot be finished yet"): // who has reported is at work for a moment still
		return claudetest.Reply(claudetest.Host("wait_for", fields{}))
	case !a.tool || !strings.Contains(a.last, "- leader, you: "):
		return claudetest.Reply(claudetest.Host("list_members", fields{}))
	}
	state := map[string]string{}
	for _, m := range standing.FindAllStringSubmatch(a.last, -1) {
		state[m[2]] = m[1]
	}
	for _, stage := range c.plan {
		var owners []string
		var set []backendtest.Part
		for _, x := range stage {
			input := fields{"task": x.task, "title": "Make " + x.task, "detail": "Make it. [task:" + x.task + "]"}
			switch {
			case state[x.task] == "open":
				owners = append(owners, x.owner)
			case state[x.task] != "":
			case strings.Contains(a.last, "- "+x.owner+" (maker): "), strings.Contains(a.last, "- "+x.owner+": "):
				input["member"] = x.owner
				set = append(set, claudetest.Host("assign", input))
			default:
				input["role"], input["name"] = "maker", x.owner
				if c.roles[x.owner] {
					input["role"] = x.owner
				}
				set = append(set, claudetest.Host("spawn_member", input))
			}
		}
		switch {
		case len(set) > 0:
			return claudetest.Reply(set...)
		case len(owners) > 0:
			return claudetest.Reply(claudetest.Host("wait_for", fields{"all": true, "members": owners}))
		}
	}
	return c.close(a)
}

var unmerged = regexp.MustCompile(`(?m)^- ([a-z0-9-]+)(?: \(maker\))?: .*not merged`)

// close merges what is not merged, and finishes.
func (c *crew) close(a asked) backendtest.Reply {
	var set []backendtest.Part
	for _, m := range unmerged.FindAllStringSubmatch(a.last, -1) {
		set = append(set, claudetest.Host("merge", fields{"member": m[1]}))
	}
	if len(set) > 0 {
		return claudetest.Reply(set...)
	}
	files := []string{}
	for _, x := range slices.Concat(c.plan...) {
		files = append(files, x.task+".md")
	}
	return claudetest.Reply(claudetest.Host("finish", fields{"summary": "Everything is there.", "deliverables": files}))
}

var setTask = regexp.MustCompile(`sets you the task (\S+): `)

// work is what a member does next: it makes the file of each of its tasks and reports
// it.
func (c *crew) work(a asked) backendtest.Reply {
	for _, m := range setTask.FindAllStringSubmatch(heardIn(a.Request), -1) {
		task := m[1]
		reported := strings.LastIndex(a.Sent, "[report:"+task+"]")
		missed := reported >= 0 && strings.LastIndex(a.Sent, "still open: "+task+" (") > reported // it was killed as it reported
		switch {
		case reported >= 0 && !missed:
		case missed, a.tool && strings.Contains(a.last, "[made]"):
			return claudetest.Reply(claudetest.Host("report", fields{"task": task, "state": "done", "summary": "It is made. [report:" + task + "]", "files": []string{task + ".md"}}))
		default:
			return made(task)
		}
	}
	return claudetest.Say("I am done.")
}

// made is a call that makes the file of a task.
func made(task string) backendtest.Reply {
	return claudetest.Reply(claudetest.Use("Bash", fields{"command": "echo " + task + " > " + task + ".md; echo '[made]'", "description": "make it"}))
}

// programs are the pids of the crew's programs, by who they are.
func (p *project) programs() map[string]string {
	labels := map[string]string{}
	p.rooms(func(pid, label string, cmd []byte) {
		program, rest, _ := bytes.Cut(cmd, []byte{0})
		switch name := filepath.Base(string(program)); {
		case name == clitest.Claude && bytes.Contains(rest, []byte("--input-format")), name == clitest.Codex && bytes.Contains(rest, []byte("app-server")):
			labels[pid] = label
		}
	})
	out := map[string]string{}
	for pid, label := range labels {
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		after := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(after) > 1 && labels[after[1]] == "" { // else it is about to become a command
			out[label] = pid
		}
	}
	return out
}

// rooms calls f with each process that runs in a room of the project.
func (p *project) rooms(f func(pid, label string, cmd []byte)) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	home := []byte("HOME=" + filepath.Join(p.dir, ".conclave/cli") + "/")
	for _, name := range files {
		env, err := os.ReadFile(name)
		i := bytes.Index(env, home)
		if err != nil || i < 0 {
			continue
		}
		path, _, _ := bytes.Cut(env[i+len(home):], []byte{0})
		_, label, _ := strings.Cut(string(path), "/")
		cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		f(filepath.Base(filepath.Dir(name)), label, cmd)
	}
}

// unmarked is that no process carries the mark of a flow.
func (p *project) unmarked(t *testing.T, id event.FlowID) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range files {
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(proc.FlowVar+"="+string(id))) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			t.Errorf("%s is left: %.300q", filepath.Dir(name), cmd)
		}
	}
}

// over checks what must hold of a team that has come to its end, however often it
// was cut: its tasks are done and its files are there; each letter was delivered
// once; its log is sound, and nothing is left of it.
func (c *crew) over(t *testing.T) view.Team {
	t.Helper()
	v := c.project.team(t, "team-")
	if v.Ended == nil || v.Ended.Status != event.StatusSuccess {
		t.Fatalf("it ended as %+v\n%s", v.Ended, c.output(t, "log", string(v.ID)))
	}
	state := map[string]event.TaskState{}
	for _, x := range v.Tasks {
		state[x.Task] = x.State
	}
	files := c.output(t, "team", "files", string(v.ID))
	for _, x := range slices.Concat(c.plan...) {
		if state[x.task] != event.TaskDone || !strings.Contains(files, "  "+x.task+".md\n") {
			t.Errorf("%s is %s, files are\n%s", x.task, cmp.Or(state[x.task], "not there"), files)
		}
	}
	for _, m := range v.Mail {
		for _, f := range m.Fates {
			if m.Kind != "notice" && f.State != view.FateDelivered { // nobody has to hear that the end is near
				t.Errorf("%s of %s to %s: %s", m.Kind, m.From, f.To, f.State)
			}
		}
	}
	c.letters(t)
	c.sound(t)
	c.nobodyLeft(t)
	c.quiet(t)
	c.unmarked(t, v.ID)
	return v
}

// letters is that each of the plan's letters was told to its recipient exactly once,
// in the conversation it has come to have, and to nobody else.
func (c *crew) letters(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	type letter struct{ from, to string }
	want := map[string]letter{"[goal]": {"person", "leader"}}
	for _, x := range slices.Concat(c.plan...) {
		want["[task:"+x.task+"]"], want["[report:"+x.task+"]"] = letter{"leader", x.owner}, letter{x.owner, "leader"}
	}
	for mark, to := range c.more {
		want[mark] = letter{"person", to}
	}
	for who, all := range c.got {
		for i, r := range all {
			told := heardIn(r)
			for mark, x := range want {
				n, last := strings.Count(told, mark), i == len(all)-1
				if x.from != who && (n > 1 || x.to != who && n > 0 || x.to == who && last && n != 1) {
					t.Errorf("request %d of %d of %s has %s %d times, which is for %s:\n%s", i+1, len(all), who, mark, n, x.to, told)
					return
				}
			}
		}
	}
}

// heardIn is everything in a conversation that the model has not said itself.
func heardIn(r claudetest.Request) string {
	var told strings.Builder
	for _, m := range r.Messages {
		if m.From != "assistant" {
			told.WriteString(m.Text)
		}
	}
	return told.String()
}
