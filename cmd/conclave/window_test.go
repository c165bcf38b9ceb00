//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// window opens the program's window on a terminal.
func (p *project) window(t *testing.T, set func(*process), args ...string) *process {
	t.Helper()
	x := p.onTerminal(t, 80, 24, set, args...)
	x.says(x.out, `\x1b\[\?1049h`)
	return x
}

// atWork opens a window on a run that hangs.
func (p *project) atWork(t *testing.T, set func(*process)) *process {
	t.Helper()
	x := p.window(t, set, "--config", "stuck.yaml", "think about it")
	x.says(x.out, "A first answer")
	return x
}

// sh has a shell start the program, whose command line is "$@" in its script.
func sh(t *testing.T, script string) func(*process) {
	t.Helper()
	return func(x *process) {
		x.cmd.Args = append([]string{"sh", "-c", script, "sh"}, append([]string{x.cmd.Path}, x.cmd.Args[1:]...)...)
		x.cmd.Path = "/bin/sh"
	}
}

// child is the only child of a process.
func child(t *testing.T, pid int) string {
	t.Helper()
	p, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil || len(strings.Fields(string(p))) != 1 {
		t.Fatalf("children of %d: %q, %v", pid, p, err)
	}
	return strings.TrimSpace(string(p))
}

// termios is how the process's terminal is set.
func (x *process) termios() unix.Termios {
	x.t.Helper()
	io, err := unix.IoctlGetTermios(int(x.tty.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return *io
}

// cooked checks that the terminal is left as programs expect one.
func (x *process) cooked() {
	x.t.Helper()
	io := x.termios()
	if want := uint32(unix.ICANON | unix.ECHO | unix.ISIG); io.Lflag&want != want {
		x.t.Errorf("the terminal is not in its ordinary mode: %x", io.Lflag)
	}
	if on := leftOn(x.out.String()); len(on) > 0 {
		x.t.Errorf("the terminal is left with %v", on)
	}
}

// leftOn is what a program has turned on and not off again.
func leftOn(s string) []string {
	modes := map[string]bool{}
	kitty := 0
	parser := ansi.NewParser()
	var state byte
	for len(s) > 0 {
		seq, _, n, next := ansi.DecodeSequence(s, state, parser)
		state, s = next, s[n:]
		if !strings.HasPrefix(seq, "\x1b[") || len(seq) < 3 {
			continue
		}
		params, final := seq[2:len(seq)-1], seq[len(seq)-1]
		switch {
		case strings.HasPrefix(params, "?") && (final == 'h' || final == 'l'):
			for m := range strings.SplitSeq(params[1:], ";") {
				modes[m] = final == 'h'
			}
		case strings.HasPrefix(params, ">") && final == 'm':
			modes["keys "+params] = strings.Contains(params, ";")
			if !strings.Contains(params, ";") {
				for k := range modes {
					if strings.HasPrefix(k, "keys "+params) {
						modes[k] = false
					}
				}
			}
		case strings.HasPrefix(params, ">") && final == 'u':
			kitty++
		case strings.HasPrefix(params, "<") && final == 'u':
			kitty--
		}
	}
	var on []string
	for m, is := range modes {
		if is != (m == "25" || m == "7") {
			on = append(on, m)
		}
	}
	if kitty > 0 {
		on = append(on, fmt.Sprint("kitty keys ", kitty))
	}
	slices.Sort(on)
	return on
}

// free checks that nobody drives the run any more and that it can be resumed.
func (p *project) free(t *testing.T) {
	t.Helper()
	if s := p.status(t); s != "unfinished" {
		t.Errorf("the run is %s", s)
	}
	p.sound(t)
	p.heal(t)
	x := p.start(t, "resume")
	x.ends(0)
	if !strings.Contains(x.everything(), "The final answer to: think about it") {
		t.Errorf("it cannot be gone on with:\n%s", x.everything())
	}
}

// A signal ends the window, and the run can be gone on with.
func TestWindowSignals(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(unix.SignalName(s), func(t *testing.T) {
			t.Parallel()
			p := newTeam(t)
			x := p.atWork(t, nil)
			x.signal(s)
			x.ends(4)
			x.cooked()
			x.says(x.out, `conclave resume `)
			p.free(t)
		})
	}
}

// A terminal that goes away ends the window, also one that was told to outlive
// it, and the run can be gone on with.
func TestWindowTerminalCloses(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"hangup": `exec "$@"`, "nohup": `trap "" HUP; exec "$@"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTeam(t)
			x := p.atWork(t, sh(t, script))
			x.tty.Close()
			x.readers.Wait()
			_ = x.cmd.Wait()
			if code := x.cmd.ProcessState.ExitCode(); code != 4 {
				t.Errorf("it ended with %v", x.cmd.ProcessState)
			}
			p.free(t)
		})
	}
}

// Ctrl+Z and the signal for it give the terminal back to the shell, and fg the
// window to the person.
func TestWindowStops(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.atWork(t, sh(t, `set -m; "$@"; echo stopped $?; stty -a; fg >/dev/null; echo ended $?`))
	x.press("\x1a")
	x.says(x.out, `stopped 147`)
	x.says(x.out, ` icanon`)
	x.says(x.out, `taken up again`)
	pid := child(t, x.cmd.Process.Pid)
	kill(t, pid, syscall.SIGTERM)
	x.says(x.out, `ended 4`)
	x.ends(0)
	x.cooked()
	p.free(t)
}

// Without a shell to go back to nothing is stopped: nobody could let it go on.
func TestWindowDoesNotStopForGood(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.atWork(t, nil)
	x.press("\x1a")
	x.says(x.out, "no shell to go back to")
	x.signal(syscall.SIGTSTP)
	x.press("\x0c")
	x.says(x.out, "Drawn anew")
	x.signal(syscall.SIGTERM)
	x.ends(4)
	x.cooked()
}
