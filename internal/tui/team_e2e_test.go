package tui_test

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
	"conclave/internal/view"
)

// crewFile is a team whose leader has a page specified, and brings it in.
const crewFile = `
name: crew
title: A small crew
about: A leader and somebody who writes.
leader: {name: lead, avatar: "★", agent: boss}
roles:
  - {name: pm, title: Product manager, avatar: P, about: Writes it down., agent: writer}
phases:
  - {name: write, roles: [pm]}
`

// crewAgents play it.
const crewAgents = `
agents:
  - {id: boss, backend: {type: script, script: boss.yaml}}
  - {id: writer, backend: {type: script, script: writer.yaml}}
`

// bossScript brings a member in, waits for it, merges what it made, and finishes.
const bossScript = `
name: boss
steps:
  - when: {reply: 1, said: '(?m)^- \[done\] spec, '}
    do:
      - tool: {name: merge, input: {member: pm}}
      - tool: {name: read, input: {path: spec.md}}
      - tool: {name: finish, input: {summary: It is written down., deliverables: [spec.md]}}
  - when: {reply: 1, said: '(?m)^- \[open\] spec, '}
    do: [{tool: {name: wait_for, input: {members: [pm]}}}]
  - when: {reply: 1}
    do:
      - say: I need it written down first.
      - tool: {name: list, input: {path: "."}}
      - tool: {name: spawn_member, input: {role: pm, task: spec, title: Write it down, detail: Write spec.md.}}
      - tool: {name: wait_for, input: {members: [pm]}}
  - do: [{say: Well.}]
`

// writerScript looks about until it is told what it wants to know.
const writerScript = `
name: writer
steps:
  - when: {result: "^(Made|Replaced) "}
    do: [{say: That is all.}]
  - when: {said: 'in blue'}
    do:
      - tool: {name: write, input: {path: spec.md, content: "A blue page.\n"}}
      - tool: {name: report, input: {task: spec, state: done, summary: "It is in spec.md, in **blue**.", files: [spec.md]}}
  - do: [{delay: 100ms}, {tool: {name: list, input: {path: "."}}}]
`

// hangingWriter works until it is stopped.
const hangingWriter = "name: writer\nsteps:\n  - do: [{say: I write}, hang]\n"

// crewFiles are a project with that team.
func crewFiles(writer string) map[string]string {
	return map[string]string{".conclave/teams/crew.yaml": crewFile, "boss.yaml": bossScript, "writer.yaml": writer}
}

// A team is set to work in the window, followed, answered, and its work read, with
// every message shown from queued to delivered. SR-01 SR-02 SR-05
func TestTeamStory(t *testing.T) {
	p := stage(t, crewAgents, crewFiles(writerScript))
	c := &clock{}
	r := robot.Open(t, c.options(p), 110, 36)
	r.See("agent")
	press := func(keys ...string) *robot.Robot { // a moment later, as people do
		c.pass(1e9)
		return r.Press(keys...)
	}
	r.Type("/team run crew A blue page").Press("enter")
	r.See("Team: A blue page", "★ lead: waits for pm", "◐ write 0/1", "▸ ★ lead listed 1 folder", "▸ P pm listed 1 folder")
	press("2", "m").See("To pm (Enter sends").Type("Make it in blue, please").Press("enter")
	r.See("The team is done: success", "It is written down.", "● write", "✓ spec: Write it down", "⋈ pm, 1 file")
	press("0", "tab").See("you → P pm", "Make it in blue, please", "delivered to pm")
	press("tab").See("★ spec.md", "+1 -0")
	press("home", "enter").See("A blue page.").Press("esc")
	press("tab").See("team ended: success")
	press("esc").See("What do you want done")
	press("alt+p").See("Teams", "success").Press("esc")
	press("f3").See("A blue page", "success").Press("enter").See("Team: A blue page")
	flows, err := p.Flows(t.Context())
	if err != nil || len(flows) != 1 || flows[0].Kind != view.KindTeam || flows[0].Status != event.StatusSuccess {
		t.Errorf("%+v, %v", flows, err)
	}
}

// A team that goes on is stopped from a window that was opened for it, which then
// says how to come back.
func TestTeamStopped(t *testing.T) {
	p := stage(t, crewAgents, crewFiles(hangingWriter))
	c := &clock{}
	r := robot.Open(t, c.options(p), 100, 30)
	r.Type("/team run crew A page").Press("enter").See("P pm: thinks", "I write")
	flows, err := p.Flows(t.Context())
	if err != nil || len(flows) != 1 {
		t.Fatalf("%+v, %v", flows, err)
	}
	o := c.options(p)
	o.Team = flows[0].ID
	other := robot.Open(t, o, 100, 30)
	other.See("Team: A page", "★ lead: waits for pm")
	c.pass(1e9)
	other.Press("x").See("Stop the team?").Press("y").See("Cancelled")
	r.See("Cancelled")
	c.pass(1e9)
	other.Press("q")
	if !other.Settles(5*time.Second, other.Closed) || !strings.Contains(other.Model().Parting(), "conclave team show "+string(o.Team)) {
		t.Errorf("the window is closed: %v, and says %q", other.Closed(), other.Model().Parting())
	}
}
