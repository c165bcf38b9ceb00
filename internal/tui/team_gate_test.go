package tui_test

import (
	"testing"

	"conclave/internal/event"
	"conclave/internal/tui/robot"
)

// waryAgents are a leader that has to be helped on, and a writer that has to ask.
const waryAgents = `
agents:
  - {id: boss, backend: {type: script, script: boss.yaml}}
  - {id: writer, backend: {type: script, script: writer.yaml, permissions: {rules: {ask: ["write_file(*.md)"]}}}}
`

// helplessBoss does not know what to do with what it has, until it is told.
const helplessBoss = `
name: boss
steps:
  - when: {reply: 1, said: 'That will do'}
    do:
      - tool: {name: merge, input: {member: pm}}
      - tool: {name: finish, input: {summary: It is written down., deliverables: [spec.md]}}
  - when: {reply: 1, said: '(?m)^- \[done\] spec, '}
    do: [{say: What now?}]
  - when: {reply: 1}
    do:
      - tool: {name: spawn_member, input: {role: pm, task: spec, title: Write it down, detail: Write spec.md.}}
      - tool: {name: wait_for, input: {members: [pm]}}
  - do: [{say: Well.}]
`

// waryWriter writes what it may write, and reports.
const waryWriter = `
name: writer
steps:
  - when: {result: "^(Made|Replaced) "}
    do: [{tool: {name: report, input: {task: spec, state: done, summary: It is in spec.md., files: [spec.md]}}}]
  - when: {reply: 1}
    do: [{tool: {name: write, input: {path: spec.md, content: "A page.\n"}}}]
  - do: [{say: That is all.}]
`

// A member that needs permission waits for it, and a team that does not know how to
// go on is helped: both are seen, answered with a key, and go on. SR-05 SR-08
func TestTeamAsks(t *testing.T) {
	files := crewFiles(waryWriter)
	files["boss.yaml"] = helplessBoss
	p := stage(t, waryAgents, files)
	c := &clock{}
	r := robot.Open(t, c.options(p), 110, 36)
	r.See("agent")
	r.Type("/team run crew A page").Press("enter")
	press := func(keys ...string) *robot.Robot {
		c.pass(1e9)
		return r.Press(keys...)
	}
	r.See("Team: A page · asks you", "(p answers)", "P pm: asks")
	press("p").See("spec.md", "Allow it once", "Allow it in this team").Press("enter")
	r.See("Team: A page · cannot go on", "The team cannot go on by itself.", "a go on")
	press("a").See("Go on?", "nobody works").Type("That will do").Press("enter")
	r.See("Team: A page · success", "It is written down.")
	flows, err := p.Flows(t.Context())
	if err != nil || len(flows) != 1 || flows[0].Status != event.StatusSuccess {
		t.Errorf("%+v, %v", flows, err)
	}
}
