package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long somebody at a terminal looks for something.
const patience = 20 * time.Second

// A pane is the program on a real terminal, with a person who types and looks.
type pane struct {
	t    *testing.T
	home string // of the terminal: its socket, and who runs in it
	log  string // every byte the program has written
}

// tmux opens a terminal of that size and starts the program in it. Once the
// program has ended the terminal says with which code, and stays.
func (p *project) tmux(t *testing.T, width, height int, args ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is not installed")
		}
		t.Skip("tmux is not installed")
	}
	home, err := os.MkdirTemp("", "tmux") // short, for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	x := &pane{t: t, home: home, log: filepath.Join(home, "log")}
	cmd := p.command(args...)
	var words []string
	for _, a := range cmd.Args {
		words = append(words, quoted(a))
	}
	script := "cd " + quoted(p.dir) + "\n"
	for _, v := range append(cmd.Env, "TERM=xterm-256color", "COLORTERM=", "TMUX=") {
		if name, value, _ := strings.Cut(v, "="); name != "TMUX_PANE" {
			script += "export " + name + "=" + quoted(value) + "\n"
		}
	}
	script += "unset TMUX TMUX_PANE\necho $$ >" + home + "/pid.new; mv " + home + "/pid.new " + home + "/pid\nexec " + strings.Join(words, " ") + "\n"
	conf := "set -s escape-time 0\nset -g status off\nset -g focus-events on\nset -g default-terminal xterm-256color\n"
	for name, text := range map[string]string{"run": script, "conf": conf} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_ = x.command("kill-server").Run()
		_ = os.RemoveAll(home)
	})
	// It waits for a line until all that it writes is taken down.
	x.tmux("new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", "/", "read go; sh "+home+`/run; echo "[exit $?]"; exec cat`)
	x.tmux("pipe-pane", "cat >"+x.log)
	return x.press("Enter")
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (x *pane) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", filepath.Join(x.home, "s"), "-f", filepath.Join(x.home, "conf")}, args...)...)
}

func (x *pane) tmux(args ...string) string {
	x.t.Helper()
	out, err := x.command(args...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// press presses keys by tmux's names for them: Enter, Escape, C-r, M-x, F1, Up.
func (x *pane) press(keys ...string) *pane {
	x.t.Helper()
	x.tmux(append([]string{"send-keys"}, keys...)...)
	return x
}

// types types a text.
func (x *pane) types(s string) *pane {
	x.t.Helper()
	x.tmux("send-keys", "-l", s)
	return x
}

// click presses and releases the left button on a text, as a terminal tells it.
func (x *pane) click(s string) *pane {
	x.t.Helper()
	x.see(s)
	for y, line := range strings.Split(x.screen(), "\n") {
		before, _, found := strings.Cut(line, s)
		if !found {
			continue
		}
		at := fmt.Sprintf("0;%d;%d", len([]rune(before))+1, y+1)
		return x.types("\x1b[<" + at + "M\x1b[<" + at + "m")
	}
	return x
}

func (x *pane) screen() string { return x.tmux("capture-pane", "-p") }

// see waits until every text is on the screen.
func (x *pane) see(texts ...string) *pane {
	x.t.Helper()
	return x.until(fmt.Sprintf("see %q", texts), func(s string) bool {
		for _, w := range texts {
			if !strings.Contains(s, w) {
				return false
			}
		}
		return true
	})
}

// gone waits until a text is not on the screen.
func (x *pane) gone(text string) *pane {
	x.t.Helper()
	return x.until(fmt.Sprintf("not see %q", text), func(s string) bool { return !strings.Contains(s, text) })
}

func (x *pane) until(what string, holds func(screen string) bool) *pane {
	x.t.Helper()
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		s := x.screen()
		if holds(s) {
			return x
		}
		select {
		case <-tick.C:
		case <-late:
			x.t.Fatalf("waited in vain to %s; the terminal shows\n%s", what, s)
		}
	}
}

// pid is the program's.
func (x *pane) pid() string {
	x.t.Helper()
	out, err := os.ReadFile(filepath.Join(x.home, "pid"))
	if err != nil {
		x.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// ends waits for the end of the program, and looks whether the terminal is as it
// was before.
func (x *pane) ends(code int) *pane {
	x.t.Helper()
	x.see(fmt.Sprintf("[exit %d]", code))
	x.restored()
	return x
}

// restored fails unless the terminal is an ordinary one.
func (x *pane) restored() {
	x.t.Helper()
	const asked = "alternate #{alternate_on}, cursor #{cursor_flag}, mouse #{mouse_any_flag}, keypad #{keypad_flag}"
	if got := strings.TrimSpace(x.tmux("display-message", "-p", asked)); got != "alternate 0, cursor 1, mouse 0, keypad 0" {
		x.t.Errorf("the terminal is left with %s", got)
	}
}

// written is every byte the program has written so far.
func (x *pane) written() string {
	x.t.Helper()
	out, err := os.ReadFile(x.log)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(out)
}
