package tui_test

import (
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/tui"
	"conclave/internal/tui/robot"
)

// host is talked to: it answers, or launches a run and tells of it.
const host = `
name: host
steps:
  - when: {result: "status"}
    do: [{say: "The run says: {{field ` + "`final_answer`" + ` .Result}}"}]
  - when: {reply: 1, said: "(?i)compare"}
    do: [{say: "I launch a run."}, {tool: {name: launch_run, input: {task: "Compare the sorts"}}}]
  - do: [{say: "You said {{.Said}}."}]
`

// waits works until it is told something.
const waits = `
name: waits
steps:
  - when: {sees: "go on"}
    do: [{answer: "Merge sort."}]
  - do: [{say: looking}, {delay: 20ms}, {tool: {name: nothing, input: {}}}]
`

func talkTeam(more string) string {
	return `
agents:
  - {id: ada, backend: {type: script, script: agent.yaml}}
orchestrator:
  agent_mode: single
  max_attempts_per_round: 1000
  interactive_mode: {backend: {type: script, script: host.yaml}, require_approval: false` + more + `}
`
}

func talkSeat(t *testing.T, p *program, change func(*tui.Options)) *robot.Robot {
	t.Helper()
	c := &clock{}
	o := c.options(p)
	o.Interactive = true
	if change != nil {
		change(&o)
	}
	return robot.Open(t, o, 100, 30)
}

// A conversation from its first word: it is begun, answered, launches a run whose
// card stands in it, holds what is said meanwhile, and is there with all of it
// when the window is opened again.
//
// IM-01.1 IM-06.3 IM-13.1 IM-14.1 IM-14.2 IM-14.4
func TestTalkStory(t *testing.T) {
	p := stage(t, talkTeam(""), map[string]string{"host.yaml": host, "agent.yaml": waits})
	r := talkSeat(t, p, nil)
	r.See("you talk to", "○ ada", "No project · Idle", "[Coordinate]")
	r.Type("Hello").Press("enter").See("Hello ┃", "• You said Hello.")
	for e, err := range p.Read(t.Context(), sessionOf(t, p)) {
		if b, ok := e.Body.(event.SessionStarted); err != nil || !ok || b.Kind != event.SessionInteractive {
			t.Errorf("what was begun is %#v, %v", e.Body, err)
		}
		break
	}
	r.Type("Compare them").Press("enter").See("I launch a run.", "● Run: Compare the sorts", "Running: Compare the sorts", "[Cancel]")
	r.Type("And afterwards?").Press("enter").See("✉ And afterwards? – held until the run ends")
	r.Click("[Open]").See("Run: Compare the sorts", "[Back]")
	r.Type("go on").Press("enter")
	r.Press("esc").See("✓ Run: Compare the sorts", "The run says: Merge sort.", "And afterwards? ┃")
	r.Gone("✉")
	r.Close()

	r = talkSeat(t, p, nil)
	r.See("I launch a run.", "✓ Run: Compare the sorts", "And afterwards? ┃", "Idle")
	r.Close()
	talkSeat(t, p, func(o *tui.Options) { o.Fresh = true }).See("you talk to").Close()
}

// Esc asks about the run, and what it has by then is told to the agent.
func TestTalkCancelsARun(t *testing.T) {
	p := stage(t, talkTeam(", input_during_run: disabled"), map[string]string{"host.yaml": host, "agent.yaml": hangScript})
	r := talkSeat(t, p, nil)
	r.Type("Compare them").Press("enter").See("● Run: Compare the sorts", "Closed while a run goes on")
	r.Type("More").Press("enter").See("Closed while a run goes on", "❯ More").Press("ctrl+c")
	r.Press("esc").See("Cancel the run?").Press("y").See("■ Run: Compare the sorts", "cancelled")
	r.Type("Hello again").Press("enter").See("You said Hello again.")
}

// The same as lines.
func TestTalkPlain(t *testing.T) {
	p := stage(t, talkTeam(""), map[string]string{"host.yaml": host})
	c := &clock{}
	o := c.options(p)
	var out strings.Builder
	o.Interactive, o.Look.Plain = true, true
	o.In, o.Out = strings.NewReader("Hello\nCompare them\n"), &out
	done := time.AfterFunc(time.Minute, func() { panic("the window does not end") })
	defer done.Stop()
	if err := tui.Run(t.Context(), o); err != nil && !strings.Contains(err.Error(), "conclave resume") {
		t.Fatal(err)
	}
	if s := out.String(); strings.Index(s, "The run has ended") > strings.Index(s, "The run says: ") {
		t.Errorf("the run has ended after it was told of:\n%s", s)
	}
	for _, s := range []string{"You: Hello", "You: Compare them", "I launch a run.", "Run: Compare the sorts", "The run has ended: done", "The run says: "} {
		if n := strings.Count(out.String(), s); n != 1 {
			t.Errorf("%q is printed %d times:\n%s", s, n, out.String())
		}
	}
}
