package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// On a terminal one sees the agents at work, and afterwards what has happened
// and the answer, with nothing left of the display.
func TestDisplay(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ width, height int }{{100, 30}, {40, 24}, {80, 5}, {20, 3}, {0, 0}} {
		t.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(t *testing.T) {
			t.Parallel()
			p := talkative(t)
			x := p.terminal(t, size.width, size.height, "run", "--config", "talk.yaml", "a task")
			x.ends(0)
			if size.width == 0 { // a terminal that does not say
				size.width, size.height = 80, 24
			}
			checkDisplay(t, x, size.width, size.height)
		})
	}
}

func checkDisplay(t *testing.T, x *process, width, height int) {
	t.Helper()
	m := newEmulator(width, height)
	text := x.out.String()
	// The summary and the answer below it may be wider than the terminal.
	end := strings.LastIndex(text, "won the vote, ")
	if end < 0 {
		t.Fatalf("nobody won:\n%s", text)
	}
	m.play(text[:strings.LastIndex(text[:end], "\n")])
	for _, w := range m.wrong {
		t.Errorf("unexpected: %s", w)
	}
	want := []string{`● agent\d `, `\d:\d\d  `}
	if width > 60 {
		want = append(want, `  \d:\d\d  (Two|One|No) answers?.*`)
	}
	if width > 60 && height > 10 {
		want = append(want, `● agent1 +(ada|bob) +round 1  .*word`, `Ctrl-C cancels · Ctrl-C twice leaves it resumable`)
	}
	if height == 3 { // no room for agents
		want = want[1:]
	}
	if !m.shows(want...) {
		t.Errorf("no frame shows all of %q; the last but one was\n%s", want, m.frames[max(0, len(m.frames)-2)])
	}
	if all := m.all(); strings.Contains(all, "●") || strings.Contains(all, "Ctrl-C") {
		t.Errorf("something of the display is left:\n%s", all)
	}
	for i, l := range strings.Split(strings.TrimSpace(m.all()), "\n") {
		if i > 0 && !regexp.MustCompile(`^\d\d:\d\d:\d\d  \w`).MatchString(l) {
			t.Errorf("line %d is %q", i+1, l)
		}
	}
	if n := strings.Count(m.all(), "answers, rev"); width > 30 && n != 2 {
		t.Errorf("%d answers have scrolled by:\n%s", n, m.all())
	}
	if last := lastLine(text); last != "The final answer, red." {
		t.Errorf("the last line is %q", last)
	}
}

// What agents say cannot do anything to the terminal.
func TestDisplayIsSafe(t *testing.T) {
	t.Parallel()
	p := talkative(t)
	for _, args := range [][]string{
		{"run", "--config", "talk.yaml", "a \x1b[2Jtask"}, {"log"}, {"log", "--follow"}, {"runs"}, {"runs", "show"},
	} {
		x := p.terminal(t, 80, 24, args...)
		x.ends(0)
		bad := regexp.MustCompile(`\x1b[^\[]|\x1b\[(2J|31;1m|5m)|\x07|\x{202e}|\x{9b}`)
		if got := bad.FindString(x.out.String()); got != "" {
			t.Errorf("%q: the terminal got %q", args, got)
		}
		if !strings.Contains(x.out.String(), "task") {
			t.Errorf("%q: there is nothing about the task:\n%s", args, x.out)
		}
	}
}

// Without colours there is nothing but the movement of the display.
func TestNoColor(t *testing.T) {
	t.Parallel()
	colour := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for name, set := range map[string]func(*process){
		"in colour":  nil,
		"--no-color": func(x *process) { x.cmd.Args = append(x.cmd.Args, "--no-color") },
		"NO_COLOR":   func(x *process) { x.cmd.Env = append(x.cmd.Env, "NO_COLOR=1") },
		"TERM=dumb":  func(x *process) { x.cmd.Env = append(x.cmd.Env, "TERM=dumb") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTeam(t)
			x := p.onTerminal(t, 80, 24, set, "run", "--config", "two.yaml", "a task")
			x.ends(0)
			if got := colour.MatchString(x.out.String()); got != (set == nil) {
				t.Errorf("colours: %v\n%q", got, x.out)
			}
			if name == "TERM=dumb" && strings.Contains(x.out.String(), "\x1b") {
				t.Errorf("a terminal that can do nothing got %q", x.out)
			}
		})
	}
}

// talkative is a project whose agents talk for a while, and badly.
func talkative(t *testing.T) *project {
	t.Helper()
	p := newTeam(t)
	for name, text := range map[string]string{"talk.yaml": talkYAML, "talker.yaml": talkerYAML} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

const talkYAML = `
agents:
  - {id: ada, backend: {type: script, script: talker.yaml}}
  - {id: bob, backend: {type: script, script: talker.yaml}}
orchestrator:
  defer_voting_until_all_answered: true
`

const talkerYAML = `
word: 10ms
steps:
  - when: {presenting: true}
    do: [{say: "The final \e]0;owned\a\e[2Janswer, \e[31;1mred."}]
  - when: {own: 0}
    do: [{say: '{{repeat 40 "word 言葉 \u202e\u009b5m"}}'}, {say: "\e[2J\e]52;c;aGk=\a a\u202e b\u009b5m"}, {answer: "A first \e[2J\e[31;1manswer."}]
  - do: [{think: A thought of a few words.}, {vote: {for: first, reason: "It \e]0;owned\acame first."}}]
`
