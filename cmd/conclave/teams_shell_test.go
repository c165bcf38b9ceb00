package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
)

// withShell has the other member of a pair run commands, some only with permission.
func withShell(t *testing.T, script string) *project {
	t.Helper()
	needsSandbox(t)
	p := pair(t, "", script)
	team, err := os.ReadFile(filepath.Join(p.dir, "team.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "team.yaml", strings.Replace(string(team), "script: other.yaml",
		`script: other.yaml, shell: {sandbox: bwrap}, permissions: {rules: {ask: ["command(touch *)"]}}`, 1))
	return p
}

// running reports whether a command line with that text runs on this machine.
func running(text string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range files {
		if cmd, err := os.ReadFile(name); err == nil && bytes.Contains(cmd, []byte(text)) {
			return true
		}
	}
	return false
}

// A team that is stopped takes the commands of its members with it, also those that
// went on in the background.
//
// SR-07
func TestTeamStoppedWithCommands(t *testing.T) {
	t.Parallel()
	nap := fmt.Sprintf("8%d", time.Now().UnixNano()%1e9)
	p := withShell(t, "steps: [{do: [{tool: {name: shell_start, input: {command: sleep "+nap+"1}}}, {tool: {name: shell, input: {command: 'setsid sleep "+nap+"2 & sleep "+nap+"3'}}}]}]\n")
	x := p.start(t, "team", "run", "team.yaml", "Do both")
	deadline := time.Now().Add(limit)
	for !running(nap+"1") || !running(nap+"2") || !running(nap+"3") {
		if time.Now().After(deadline) {
			t.Fatalf("the commands do not run\n%s", x.everything())
		}
		<-time.After(20 * time.Millisecond)
	}
	p.start(t, "team", "stop", "team-").ends(0)
	if running(nap) {
		t.Error("a command is left")
	}
	x.ends(4)
	p.sound(t)
	p.nobodyLeft(t)
}

// A permission is waited for and given from another process, or with --yes at once;
// with nobody to ask it is refused, and the member goes on without.
//
// SR-08
func TestTeamPermission(t *testing.T) {
	t.Parallel()
	const script = `
steps:
  - when: {result: "eported|ecorded|eader"}
    do: [{say: Done.}]
  - when: {reply: 1, said: "Your open tasks"}
    do: [{tool: {name: shell, input: {command: touch two.md}}}]
  - when: {refused: true}
    do: [{tool: {name: write, input: {path: two.md, content: without}}}, {tool: {name: report, input: {state: done, summary: Without it., files: [two.md]}}}]
  - when: {reply: "2+"}
    do: [{tool: {name: report, input: {state: done, summary: With it., files: [two.md]}}}]
  - do: [{say: Noted.}]
`
	for _, c := range []struct {
		name   string
		args   []string
		answer []string
		want   string
	}{
		{"asked", []string{"--ask"}, []string{"approve"}, "With it."},
		{"denied", []string{"--ask"}, []string{"deny"}, "Without it."},
		{"yes", []string{"--yes"}, nil, "With it."},
		{"nobody", nil, nil, "Without it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := withShell(t, script)
			x := p.start(t, append([]string{"team", "run", "team.yaml", "Do both"}, c.args...)...)
			if c.answer != nil {
				x.says(x.err, `(?s)touch two\.md.*Allow it with: conclave approve team-`)
				p.start(t, c.answer...).ends(0)
			}
			x.ends(0)
			now := p.team(t, "team-")
			if now.Ended == nil || now.Ended.Status != event.StatusSuccess || now.Tasks[1].Summary.Text != c.want {
				t.Errorf("ended %+v with %q", now.Ended, now.Tasks[1].Summary.Text)
			}
			p.sound(t)
		})
	}
}
