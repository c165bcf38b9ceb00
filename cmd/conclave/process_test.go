package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// limit is when a process that should have ended long ago is killed, so that
// whoever waits for it sees what it printed and fails.
const limit = time.Minute

// newTeam is a project with the configurations of testdata/script/team in it.
func newTeam(t *testing.T) *project {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/script/team")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endDrivers(dir) }) // of a test that has failed
	return &project{dir: dir}
}

// heal gives an agent that hangs another script, for whoever loads it next.
func (p *project) heal(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "agent.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, "hanging.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A process is the program at work and everything it has printed so far.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err *transcript // the same on a terminal
	tty      *os.File    // nil without one
	readers  sync.WaitGroup
}

// start runs the program with pipes for its output.
func (p *project) start(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, p.command(args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	x := &process{t: t, cmd: cmd, out: newTranscript(), err: newTranscript()}
	out, errs := x.pipe(cmd.StdoutPipe), x.pipe(cmd.StderrPipe)
	x.begin(cmd.Start)
	x.readers.Go(func() { x.out.read(out) })
	x.readers.Go(func() { x.err.read(errs) })
	return x
}

// terminal runs the program on a terminal of that size.
func (p *project) terminal(t *testing.T, width, height int, args ...string) *process {
	t.Helper()
	return p.onTerminal(t, width, height, nil, args...)
}

// onTerminal is terminal for a program that set, if any, changes first.
func (p *project) onTerminal(t *testing.T, width, height int, set func(*process), args ...string) *process {
	t.Helper()
	x := &process{t: t, cmd: p.command(args...), out: newTranscript()}
	x.err = x.out
	x.cmd.Env = append(x.cmd.Env, "TERM=xterm-256color", "NO_COLOR=")
	x.cmd.SysProcAttr = nil // the terminal's own session
	if set != nil {
		set(x)
	}
	x.begin(func() (err error) {
		x.tty, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
		return err
	})
	t.Cleanup(func() { x.tty.Close() })
	x.readers.Go(func() { x.out.read(x.tty) })
	return x
}

func (x *process) pipe(open func() (io.ReadCloser, error)) io.Reader {
	x.t.Helper()
	r, err := open()
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

func (x *process) begin(start func() error) {
	x.t.Helper()
	if err := start(); err != nil {
		x.t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { _ = x.cmd.Process.Kill() })
	x.t.Cleanup(func() {
		timer.Stop()
		_ = x.cmd.Process.Kill() // of a test that has failed
	})
}

// signal sends a signal to the process.
func (x *process) signal(s syscall.Signal) {
	x.t.Helper()
	if err := x.cmd.Process.Signal(s); err != nil {
		x.t.Fatal(err)
	}
}

// freeze stops the process and waits until it stands still.
func (x *process) freeze() {
	x.t.Helper()
	x.signal(syscall.SIGSTOP)
	if err := unix.Waitid(unix.P_PID, x.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		x.t.Fatal(err)
	}
}

// press types on the process's terminal.
func (x *process) press(keys string) {
	x.t.Helper()
	if _, err := x.tty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the end of the process and checks its exit code.
func (x *process) ends(code int) {
	x.t.Helper()
	x.readers.Wait()
	_ = x.cmd.Wait()
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("conclave %s: %s, not exit code %d\n%s", strings.Join(x.cmd.Args[1:], " "), x.cmd.ProcessState, code, x.everything())
	}
}

func (x *process) everything() string {
	if x.tty != nil {
		return x.out.String()
	}
	return "standard output:\n" + x.out.String() + "standard error:\n" + x.err.String()
}

// says waits until one of the outputs has what the expression asks for.
func (x *process) says(to *transcript, expr string) []string {
	x.t.Helper()
	m := to.await(regexp.MustCompile("(?m)" + expr))
	if m == nil {
		x.t.Fatalf("conclave %s never said %q\n%s", strings.Join(x.cmd.Args[1:], " "), expr, x.everything())
	}
	return m
}

// comes waits for word of something that has to happen, and fails the test with what
// processes have said if there is none.
func comes[T any](t *testing.T, word <-chan T, xs ...*process) {
	t.Helper()
	select {
	case <-word:
	case <-time.After(limit):
		said := ""
		for _, x := range xs {
			said += "\n" + x.everything()
		}
		t.Fatalf("it never came to that%s", said)
	}
}

// A transcript is what a process prints.
type transcript struct {
	mu   sync.Mutex
	more *sync.Cond
	text bytes.Buffer
	end  bool
}

func newTranscript() *transcript {
	tr := &transcript{}
	tr.more = sync.NewCond(&tr.mu)
	return tr
}

func (tr *transcript) read(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		tr.mu.Lock()
		tr.text.Write(buf[:n])
		tr.end = err != nil
		tr.mu.Unlock()
		tr.more.Broadcast()
		if err != nil {
			return // a terminal ends with EIO
		}
	}
}

// await waits until the expression matches, and returns nil if the process has
// ended before.
func (tr *transcript) await(re *regexp.Regexp) []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for {
		if m := re.FindStringSubmatch(tr.text.String()); m != nil || tr.end {
			return m
		}
		tr.more.Wait()
	}
}

func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.String()
}

// lastLine is the last line that has something on it.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// kill sends a signal to a process that is not our child.
func kill(t *testing.T, pid string, s syscall.Signal) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err == nil {
		err = syscall.Kill(n, s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// awaitGone waits for the end of a process that is not our child.
func awaitGone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(n, 0)
	if err != nil {
		return // gone already
	}
	defer unix.Close(fd)
	// EINTR is Go's own preemption.
	for {
		got, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(limit.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if got != 1 {
			t.Errorf("process %s is still there (%v)", pid, err)
		}
		return
	}
}

// status is how the newest run stands.
func (p *project) status(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`"state":"(\w+)"`).FindStringSubmatch(p.output(t, "runs", "--json"))
	if m == nil {
		t.Fatal("no run is listed")
	}
	return m[1]
}

// sound checks what must hold of every log.
func (p *project) sound(t *testing.T) {
	t.Helper()
	if out := p.output(t, "log", "check"); !strings.HasPrefix(out, "sound") {
		t.Errorf("log check: %s", out)
	}
}
