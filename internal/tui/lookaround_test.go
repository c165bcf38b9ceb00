package tui_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/control"
	"conclave/internal/tui"
	"conclave/internal/tui/robot"
)

// agreed are two agents who agree, and nobody is asked about it.
const agreed = pair + "orchestrator: {override: off, final_answer_strategy: winner_present}\n"

// Everything there is to look at after a run of the real program.
func TestLookAround(t *testing.T) {
	r, _ := sit(t, stage(t, agreed, nil))
	r.Type("Which sort?").Press("enter").See("Final answer", "Final:")
	r.Press("alt+a").See("Answers", "the final answer", "An answer to Which sort?", "2 votes")
	r.Click("agent2.1").See("Answer agent2.1, by").Click("agent2.1").See("y copy").Press("esc", "esc")
	r.Press("alt+v").See("Votes", "→", "it came first", "was chosen").Press("esc")
	r.Press("alt+o").See("Costs", "agent1", "This conversation").Press("esc")
	r.Press("alt+m").See("Tools and MCP servers").Press("esc")
	r.Press("alt+j").See("Background commands").Press("esc")
	r.Press("f4").See("Task plans").Press("esc")
	r.Press("f5").See("Status", "driven by this window").Press("esc")
	r.Press("f7").See("Said before", "Which sort?").Press("enter").See("❯ Which sort?").Press("ctrl+c")
	r.Type("/copy").Press("enter").See("Copied.")
	if got := r.Copied(); !strings.HasPrefix(got, "Final:") {
		t.Errorf("copied %q", got)
	}
	dir := t.TempDir()
	r.Type("/export " + dir + "/log.ndjson").Press("enter").See("Written: ")
	if p, err := os.ReadFile(filepath.Join(dir, "log.ndjson")); err != nil || !strings.Contains(string(p), "run_started") {
		t.Errorf("exported %d bytes, %v", len(p), err)
	}
	r.Press("f6", "v").See("Votes").Press("esc", "i")
}

// One window goes from one conversation to another and back, and begins a new
// one; each is as it was left.
func TestConversations(t *testing.T) {
	a := stage(t, agreed, nil)
	r, _ := sit(t, a)
	r.Type("First question").Press("enter").See("Final answer", "First question", "success")
	r.Type("/rename Sorting").Press("enter").See("This conversation is called Sorting now.")
	r.Until("hear the name", func() bool {
		flows, err := a.Flows(t.Context())
		return err == nil && slices.ContainsFunc(flows, func(f control.Flow) bool { return f.Task.Text == "Sorting" })
	})
	r.Type("/new").Press("enter").See("A new conversation.").Gone("Final answer")
	r.Type("Second question").Press("enter").See("Final answer", "Second question", "success")
	r.Press("f3").See("Runs and conversations", "Sorting", "Second question")
	r.Type("sorting").Gone("Second question").See("First question").Press("enter")
	r.Gone("Runs and conversations").See("First question", "Final answer")
	r.Type("And then?").Press("enter").See("turn 2", "And then?", "Final answer")
}

// A window that keeps a run going does not turn away from it.
func TestRunKeepsWindow(t *testing.T) {
	a := stage(t, agreed, map[string]string{"agent.yaml": hangScript})
	r, _ := sit(t, a)
	r.Type("Never ending").Press("enter").See("works")
	r.Type("/new").Press("enter").See("This window keeps a run going.")
	r.Press("f3").See("Runs and conversations", "Never ending").Press("enter").See("That is what this window shows.")
}

// `conclave resume` begins with the list.
func TestPickAtStart(t *testing.T) {
	a := stage(t, agreed, nil)
	first, c := sit(t, a)
	first.Type("Which sort?").Press("enter").See("Final answer")
	first.Close()
	o := c.options(a)
	o.Pick = true
	r := robot.Open(t, o, 100, 30)
	r.See("Runs and conversations", "Which sort?", "Final:").Press("enter").See("Final answer").Gone("Runs and conversations")
}

// Files of agents, now and with each answer, and what the user's own became. TM-13
func TestWorkspaces(t *testing.T) {
	const script = `
name: agent
steps:
  - when: {presenting: true}
    do: [{say: "Final: {{.Own}}"}]
  - when: {own: 0}
    do: [{tool: {name: write, input: {path: notes.md, content: "# Notes"}}}, {answer: "See notes.md"}]
  - do: [{vote: {for: first, reason: it came first}}]
`
	a := stage(t, strings.ReplaceAll(agreed, "script: agent.yaml", "script: agent.yaml, files: true"), map[string]string{"agent.yaml": script})
	r, _ := sit(t, a)
	r.Type("Take notes").Press("enter").See("Final answer")
	r.Press("alt+w").See("Workspaces and snapshots", "workspace now", "with answer agent1.1", "with answer agent2.1", "notes.md")
	r.Press("enter").See("# Notes").Press("d").See("Compare notes.md with that of").Press("enter").See("They say the same.")
	r.Press("esc", "o").See("Copied: ")
	if got := r.Copied(); filepath.Base(got) != "notes.md" {
		t.Errorf("copied %q", got)
	}
}

// A shell line goes along as a chip, and can be looked at.
func TestShellLine(t *testing.T) {
	r, _ := sit(t, stage(t, agreed, nil))
	r.Type("!echo hello").Press("enter").See("\nhello").Press("esc").See("$ echo hello, 1 line")
}

// Keys of one's own are keys everywhere.
func TestOwnKeys(t *testing.T) {
	a := stage(t, agreed, nil)
	r := robot.Open(t, tui.Options{Program: a, Look: control.Look{Theme: "none", Keys: map[string][]string{"palette": {"f11"}}}}, 100, 30)
	r.See("F11 commands").Press("f11").See("search:").Press("esc").Press("f1").See("Keys and commands")
	r.Type("/Everything that can be done now").Press("enter").See("F11, /palette")
}
