package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

// pair is a team of a leader and two members: one does what it is told, and the other
// is played by a script of the test's. The leader goes by its ledger and leaves what
// cannot be done.
func pair(t *testing.T, limits, other string) *project {
	t.Helper()
	p := &project{dir: t.TempDir(), acknowledged: map[uint64]string{}}
	p.write(t, "team.yaml", `
name: pair
leader: {agent: lead}
roles:
  - {name: able, agent: able}
  - {name: other, agent: other}
limits: {`+limits+`}
agents:
  - {id: lead, backend: {type: script, script: lead.yaml}}
  - {id: able, backend: {type: demo, persona: member, pace: 0}}
  - {id: other, backend: {type: script, script: other.yaml}}
`)
	p.write(t, "lead.yaml", leadYAML)
	p.write(t, "other.yaml", other)
	return p
}

const leadYAML = `
steps:
  - when: {reply: 1, said: "<goal"}
    do:
      - tool: {name: spawn_member, input: {role: able, task: one, title: Do one, detail: Write one.md.}}
      - tool: {name: spawn_member, input: {role: other, task: two, title: Do two, detail: Write two.md.}}
      - tool: {name: wait_for, input: {members: [able, other], all: true}}
  - when: {reply: 1, said: '(?s)- other[^\n]*: lost.*\[done\] one, '}
    do:
      - tool: {name: merge, input: {member: able}}
      - tool: {name: finish, input: {summary: "Half of it is done; other was lost.", deliverables: [one.md], abandon: Nobody else can do it.}}
  - when: {reply: 1, said: '(?s)\[done\] one, .*\[done\] two, '}
    do:
      - tool: {name: merge, input: {member: able}}
      - tool: {name: merge, input: {member: other}}
      - tool: {name: finish, input: {summary: All of it is done., deliverables: [one.md, two.md]}}
  - when: {reply: 1}
    do: [{tool: {name: wait_for, input: {}}}]
  - do: [{say: I wait.}]
`

// lostAfter is that the other member was lost after so many takes of one turn, that
// the leader was told, and that the team has come to its end all the same.
func (p *project) lostAfter(t *testing.T, takes int, code string) view.Team {
	t.Helper()
	x := p.team(t, "team-")
	if x.Ended == nil || x.Ended.Status != event.StatusSuccess || !slices.Equal(x.Ended.Deliverables, []string{"one.md"}) {
		t.Errorf("ended %+v", x.Ended)
	}
	var taken int
	var told []string
	for _, e := range p.events(t, string(x.ID)) {
		switch b := e.Body.(type) {
		case event.Assigned:
			if e.Agent == "other" {
				taken++
			}
		case event.Notified:
			if b.About == "other" && b.To == "leader" {
				told = append(told, b.Code)
			}
		case event.Lost:
			if b.Code != code {
				t.Errorf("%s was lost by %s: %s", e.Agent, b.Code, b.Message)
			}
		}
	}
	want := append(slices.Repeat([]string{event.NoticeRestart}, takes-1), event.NoticeLost)
	if taken != takes || !slices.Equal(told, want) {
		t.Errorf("%d takes; the leader was told %v", taken, told)
	}
	settledMail(t, p.events(t, string(x.ID)))
	p.sound(t)
	p.nobodyLeft(t)
	return x
}

// A member that fails again and again is lost; the others go on, and the leader is
// told and decides.
//
// SR-08
func TestTeamMemberFails(t *testing.T) {
	t.Parallel()
	p := pair(t, "max_attempts: 2", "steps: [{do: [{fail: {kind: broken, message: it fell over}}]}]\n")
	p.start(t, "team", "run", "team.yaml", "Do both").ends(0)
	x := p.lostAfter(t, 2, "broken")
	i := slices.IndexFunc(x.Members, func(m view.TeamMember) bool { return m.Agent == "other" })
	if !strings.Contains(x.Members[i].Lost, "it fell over") {
		t.Errorf("it was lost by %q", x.Members[i].Lost)
	}
}

// A member that hangs is warned before the time of its turn is over, begun again, and
// lost in the end.
//
// SR-06 SR-08
func TestTeamMemberHangs(t *testing.T) {
	t.Parallel()
	p := pair(t, "turn_timeout: 4s, warn_before: 1s, max_attempts: 2", "steps: [{do: [{say: Let me see.}, hang]}]\n")
	p.start(t, "team", "run", "team.yaml", "Do both").ends(0)
	x := p.lostAfter(t, 2, "hung")
	warned := 0
	for _, e := range p.events(t, string(x.ID)) {
		if _, ok := e.Body.(event.Warned); ok && e.Agent == "other" {
			warned++
		}
	}
	if warned != 2 {
		t.Errorf("it was warned %d times", warned)
	}
}

// A member that stops with its task open is reminded, and the leader is told if that
// does not help: what is done is what was reported.
//
// SR-08
func TestTeamMemberStopsEarly(t *testing.T) {
	t.Parallel()
	p := pair(t, "max_idle: 2", `
steps:
  - when: {reply: 1, sees: "(?s)has not been reported.*has not been reported|(?s)notice.*notice"}
    do: [{tool: {name: write, input: {path: two.md, content: two}}}, {tool: {name: report, input: {state: done, summary: At last., files: [two.md]}}}]
  - do: [{say: I think I am done.}]
`)
	p.start(t, "team", "run", "team.yaml", "Do both").ends(0)
	x := p.team(t, "team-")
	if x.Ended == nil || x.Ended.Status != event.StatusSuccess || len(x.Ended.Deliverables) != 2 {
		t.Errorf("ended %+v", x.Ended)
	}
	pending := 0
	for _, e := range p.events(t, string(x.ID)) {
		if b, ok := e.Body.(event.Notified); ok && b.Code == event.NoticePending && b.To == "other" {
			pending++
		}
	}
	if pending != 2 {
		t.Errorf("it was reminded %d times", pending)
	}
	p.sound(t)
}

// The time of the whole session is over: the leader is warned before, then everything
// is stopped and what there is is kept.
//
// SR-06
func TestTeamTimeIsOver(t *testing.T) {
	t.Parallel()
	p := pair(t, "session_timeout: 5s, warn_before: 2s", "steps: [{do: [{say: Let me see.}, hang]}]\n")
	p.start(t, "team", "run", "team.yaml", "Do both").ends(3)
	x := p.team(t, "team-")
	if x.Ended == nil || x.Ended.Status != event.StatusTimeout || x.Ended.StoppedBy != event.StoppedByDeadline {
		t.Errorf("ended %+v", x.Ended)
	}
	var codes []string
	for _, e := range p.events(t, string(x.ID)) {
		if b, ok := e.Body.(event.Notified); ok && b.To == "leader" {
			codes = append(codes, b.Code)
		}
	}
	if !slices.Contains(codes, event.NoticeTime) {
		t.Errorf("the leader was told %v", codes)
	}
	p.sound(t)
	p.nobodyLeft(t)
}

// A team is stopped at any point, from another process or with Ctrl-C, and nothing of
// it is left: no driver, no command of a member.
//
// SR-07
func TestTeamStopped(t *testing.T) {
	t.Parallel()
	hangs := "steps: [{do: [{say: Let me see.}, hang]}]\n"
	p := pair(t, "", hangs)
	id := strings.TrimSpace(p.output(t, "team", "run", "team.yaml", "--detach", "Do both"))
	f := p.start(t, "log", "--follow", id)
	f.says(f.out, "one done")
	p.start(t, "team", "stop", id, "other").ends(0)
	p.start(t, "team", "wait", id).ends(0)
	f.ends(0)
	x := p.team(t, id)
	if i := slices.IndexFunc(x.Members, func(m view.TeamMember) bool { return m.Agent == "other" }); x.Members[i].State != view.MemberLost {
		t.Errorf("it is %+v", x.Members[i])
	}
	p.nobodyLeft(t)

	q := pair(t, "", hangs)
	a := q.start(t, "team", "run", "team.yaml", "Do both")
	a.says(a.err, "one done")
	b := q.start(t, "team", "stop", "team-")
	b.ends(0)
	a.ends(4)
	q.nobodyLeft(t)
	q.sound(t)

	r := pair(t, "", hangs)
	c := r.start(t, "team", "run", "team.yaml", "Do both")
	c.says(c.err, "one done")
	c.signal(syscall.SIGINT)
	c.ends(4)
	if x := r.team(t, "team-"); x.Ended == nil || x.Ended.Status != event.StatusCancelled {
		t.Errorf("ended %+v", x.Ended)
	}
	r.nobodyLeft(t)
	r.sound(t)
}

// Twice Ctrl-C leaves a team as it is, and it goes on where it was.
//
// SR-07 SR-12
func TestTeamLeftAndResumed(t *testing.T) {
	t.Parallel()
	p := pair(t, "", "steps: [{do: [{say: Let me see.}, hang]}]\n")
	a := p.start(t, "team", "run", "team.yaml", "Do both")
	a.says(a.err, "one done")
	a.signal(syscall.SIGINT)
	a.says(a.err, "press Ctrl-C again")
	a.signal(syscall.SIGINT)
	a.ends(4)
	if x := p.team(t, "team-"); x.Ended != nil {
		t.Fatalf("ended %+v", x.Ended)
	}
	p.nobodyLeft(t)
	p.write(t, "other.yaml", "steps:\n  - when: {result: '^Made '}\n    do: [{say: Done.}]\n  - do: [{tool: {name: write, input: {path: two.md, content: two}}}, {tool: {name: report, input: {state: done, summary: Done., files: [two.md]}}}]\n")
	p.start(t, "resume", "team-").ends(0)
	x := p.team(t, "team-")
	if x.Ended == nil || x.Ended.Status != event.StatusSuccess || len(x.Ended.Deliverables) != 2 {
		t.Errorf("ended %+v", x.Ended)
	}
	settledMail(t, p.events(t, string(x.ID)))
	p.sound(t)
}

// What only a person can mend is asked: the team waits without anybody who drives it,
// and goes on when it is answered.
//
// SR-08
func TestTeamTrouble(t *testing.T) {
	t.Parallel()
	p := pair(t, "max_turns: 2", "steps: [{do: [{tool: {name: report, input: {state: done, summary: Nothing was to be done.}}}, {say: Done.}]}]\n")
	p.write(t, "lead.yaml", strings.ReplaceAll(leadYAML, "deliverables: [one.md, two.md]", "deliverables: [one.md]"))
	p.start(t, "team", "run", "team.yaml", "--ask", "Do both").ends(5)
	p.nobodyLeft(t)
	p.start(t, "team", "wait", "team-").ends(5)
	for range 5 { // each allows as much again
		if p.team(t, "team-").Ended != nil {
			break
		}
		p.start(t, "approve", "team-").ends(0)
		w := p.start(t, "team", "wait", "team-")
		w.readers.Wait()
		_ = w.cmd.Wait()
	}
	if x := p.team(t, "team-"); x.Ended == nil || x.Ended.Status != event.StatusSuccess {
		t.Errorf("ended %+v, %+v", x.Ended, x.Gates)
	}
	p.sound(t)
}
