//go:build linux

package tui_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"conclave/internal/event"
	"conclave/internal/tui"
)

// fault is a program with a fault in it, hit when the window shows what was said,
// which is too long for an event.
type fault struct{ *program }

func (fault) Text(context.Context, event.Content) (string, error) { panic("a fault") }

// A fault of the window leaves the terminal in order and says how to go on. The
// window is a process of its own here: what it says of the fault goes to the
// standard error output.
func TestWindowFails(t *testing.T) {
	if os.Getenv("CONCLAVE_TEST_FAULT") != "" {
		p := stage(t, "agents:\n  - {id: ada, backend: {type: script, script: agent.yaml}}\n", nil)
		err := tui.Run(t.Context(), tui.Options{Program: fault{p}, Config: p.config, Task: strings.Repeat("a task ", 1000), In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
		_, _ = os.Stderr.WriteString("ended with: " + err.Error() + "\n")
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWindowFails$")
	cmd.Env = append(os.Environ(), "CONCLAVE_TEST_FAULT=1", "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, _ = io.Copy(&out, tty) // ends with EIO
	// After a panic the library closes its reader while that still reads, which the
	// race detector takes for a failure now and then.
	if err := cmd.Wait(); err != nil && !strings.Contains(out.String(), "cancelreader.(*epollCancelReader).Close") {
		t.Errorf("%v\n%s", err, out.String())
	}
	s := out.String()
	at := strings.LastIndex(s, "\x1b[?1049l")
	if at < 0 {
		t.Fatalf("the window was not left:\n%s", s)
	}
	for _, want := range []string{"a fault", "fault of this program", "Go on with: conclave resume session-"} {
		if !strings.Contains(s[at:], want) {
			t.Errorf("it does not say %q:\n%s", want, s[at:])
		}
	}
	if after, err := term.GetState(int(tty.Fd())); err != nil || *after != *before {
		t.Errorf("the terminal is not as it was: %v", err)
	}
}

// A hangup that arrives after reading has found the terminal gone ends nothing.
// The window is a process of its own here, whose terminal ends without one.
func TestHangupAfterTheEnd(t *testing.T) {
	if os.Getenv("CONCLAVE_TEST_HANGUP") != "" {
		p := stage(t, "agents:\n  - {id: ada, backend: {type: script, script: agent.yaml}}\n", nil)
		err := tui.Run(t.Context(), tui.Options{Program: p, Config: p.config, In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		t.Log("ended with: ", err)
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHangupAfterTheEnd$", "-test.v")
	cmd.Env = append(os.Environ(), "CONCLAVE_TEST_HANGUP=1", "TERM=xterm-256color")
	cmd.Stdin = io.MultiReader() // a pipe that is at an end from the start
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the terminal is gone") {
		t.Errorf("%v\n%s", err, out)
	}
}
