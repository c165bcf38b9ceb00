package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain is also an owner that starts something and is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_OWNER"); dir != "" {
		own(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

var path = []string{"PATH=" + os.Getenv("PATH")}

func shell(script string) Command { return Command{Argv: []string{"sh", "-c", script}, Env: path} }

// sleeper ends by the first signal; a shell may be busy starting something.
var sleeper = Command{Argv: []string{"sleep", "1000"}, Env: path}

func begin(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// speaks starts a command and returns when it has said a line.
func speaks(t *testing.T, c Command) *Process {
	t.Helper()
	r, w := io.Pipe()
	c.Stdout = w
	p := begin(t, c)
	lines := bufio.NewReader(r)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, lines) }()
	t.Cleanup(func() { p.Stop(); _ = w.Close(); <-drained })
	return p
}

func TestExit(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 42": 42, "kill -9 $$": 137, "kill -TERM $$": 143} {
		if exit, err := begin(t, shell(script)).Wait(); exit != want || err != nil {
			t.Errorf("%q ended with %d, %v; want %d", script, exit, err, want)
		}
	}
	for _, c := range []Command{{}, {Argv: []string{"no-such-program"}, Env: path}, {Argv: []string{"sh"}}, {Argv: []string{"/nowhere"}}} {
		if _, err := Start(t.Context(), c); err == nil {
			t.Errorf("%q started", c.Argv)
		}
	}
}

// The environment is what was given, and the marks.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	k := NewCapture(1<<10, 0)
	p := begin(t, Command{Argv: []string{"env"}, Env: append(path, "A=b"), Stdout: k, Flow: "run-7"})
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	want := path[0] + "\nA=b\nCONCLAVE_FLOW=run-7\nCONCLAVE_PROC=" + p.kin.mark + "\n"
	if got := k.String(); got != want {
		t.Errorf("it is\n%swant\n%s", got, want)
	}
}

// Each step of the ladder is enough for who heeds it.
func TestLadder(t *testing.T) {
	for _, c := range []struct {
		script string
		exit   int
	}{
		{"trap 'exit 7' INT; trap '' TERM; echo up; while :; do sleep 0.01; done", 7},
		{"trap '' INT; trap 'exit 8' TERM; echo up; while :; do sleep 0.01; done", 8},
		{"trap '' INT TERM; echo up; while :; do sleep 0.01; done", 137},
	} {
		cmd := shell(c.script)
		cmd.Grace = 100 * time.Millisecond
		p := speaks(t, cmd)
		p.Stop()
		if exit, err := p.Wait(); exit != c.exit || err != nil {
			t.Errorf("%q ended with %d, %v", c.script, exit, err)
		}
	}
}

// Everyone goes with the first, however far away they have moved.
func TestEveryoneEnds(t *testing.T) {
	for name, script := range map[string]string{
		"child":     "sleep 1000 & echo up; wait",
		"orphan":    "(sleep 1000 & ) ; echo up; sleep 1000",
		"daemon":    "(setsid sleep 1000 & ) ; echo up; sleep 1000",
		"stubborn":  "(trap '' INT TERM; setsid sh -c 'trap \"\" INT TERM; while :; do sleep 1; done' & ) ; echo up; sleep 1000",
		"left over": "(setsid sleep 1000 & ) ; echo up; exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			c := shell(script)
			c.Grace = 50 * time.Millisecond
			p := speaks(t, c)
			if name != "left over" {
				p.Stop()
			}
			if _, err := p.Wait(); err != nil {
				t.Error(err)
			}
			if left := (&kin{mark: p.kin.mark}).members(func(entry) bool { return false }); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := Start(ctx, sleeper)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	cancel(why)
	if exit, err := p.Wait(); !errors.Is(err, why) || exit != 130 {
		t.Errorf("it ended with %d, %v", exit, err)
	}
	if _, err := Start(ctx, shell("exit")); !errors.Is(err, why) {
		t.Errorf("an ended context starts: %v", err)
	}
}

// A record is there from before the process begins until after it has ended.
func TestRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "procs")
	c := shell("cat " + dir + "/*.json; echo; read x")
	c.Records, c.Flow = dir, "run-1"
	r, w := io.Pipe()
	in, write := io.Pipe()
	c.Stdout, c.Stdin = w, in
	p := begin(t, c)
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || !strings.Contains(line, p.kin.mark) || !strings.Contains(line, `"flow":"run-1"`) {
		t.Errorf("the process sees %q (%v) as its record", line, err)
	}
	all, err := records(dir)
	if err != nil || len(all) != 1 || all[0].Child != p.ID() || !p.ID().Alive() {
		t.Fatalf("the records are %v (%v), want one of %v", all, err, p.ID())
	}
	if left, err := Left(dir, nil); err != nil || len(left) > 0 {
		t.Errorf("left are %v (%v) of a living owner", left, err)
	}
	_ = write.Close()
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if all, err := records(dir); err != nil || len(all) > 0 || p.ID().Alive() {
		t.Errorf("the records are %v (%v) after the end", all, err)
	}
}

// own starts a process with a daemon, says so and waits to be killed.
func own(dir string) {
	c := shell("(setsid sleep 1000 & ) ; echo up; sleep 1000")
	c.Records, c.Flow, c.Stdout = dir, "run-9", os.Stdout
	p, err := Start(context.Background(), c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = p.Wait()
}

// A killed owner leaves a daemon behind. It is found and ended by what was
// written down; who has only its pid, or its name, is not touched.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	owner := exec.Command("/proc/self/exe")
	owner.Env = append(os.Environ(), "TEST_OWNER="+dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if left, err := Left(dir, nil); err != nil || len(left) > 0 {
		t.Errorf("left are %v (%v) while the owner lives", left, err)
	}
	_ = owner.Process.Kill()
	_ = owner.Wait()

	bystander := speaks(t, shell("echo up; sleep 1000"))
	reused := &record{path: filepath.Join(dir, "reused.json"), Flow: "run-8", Mark: "1.1.1", Owner: Identity{PID: 1 << 22}, Child: bystander.ID()}
	reused.Owner.Boot, reused.Owner.Space = bystander.ID().Boot, bystander.ID().Space
	reused.Child.Start--
	if err := reused.write(); err != nil {
		t.Fatal(err)
	}
	left, err := Left(dir, nil)
	if err != nil || len(left) == 0 || left[0].Flow != "run-9" {
		t.Fatalf("left are %v (%v)", left, err)
	}
	ended, err := Sweep(dir, nil)
	if err != nil || len(ended) == 0 {
		t.Errorf("ended %v (%v)", ended, err)
	}
	for _, o := range ended {
		if id, err := Of(o.PID); err == nil {
			t.Errorf("%v is still there: %v", o, id)
		}
	}
	if !bystander.ID().Alive() {
		t.Error("a process that only has a pid that was used before was ended")
	}
	if all, err := records(dir); err != nil || len(all) > 0 {
		t.Errorf("records are left: %v (%v)", all, err)
	}
}

// Records of another start of the machine are about nobody; those of another
// namespace are about somebody else.
func TestSweepElsewhere(t *testing.T) {
	dir := t.TempDir()
	p := speaks(t, shell("echo up; sleep 1000"))
	for name, change := range map[string]func(*Identity){
		"boot": func(i *Identity) { i.Boot = "another" }, "space": func(i *Identity) { i.Space = "another" },
	} {
		r := &record{path: filepath.Join(dir, name+".json"), Mark: "1.1.1", Owner: p.ID(), Child: p.ID()}
		change(&r.Owner)
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
	}
	if ended, err := Sweep(dir, func(Identity) bool { return false }); err != nil || len(ended) > 0 || !p.ID().Alive() {
		t.Errorf("ended %v (%v)", ended, err)
	}
	if all, err := records(dir); err != nil || len(all) != 1 || filepath.Base(all[0].path) != "space.json" {
		t.Errorf("the records are %v (%v)", all, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Sweep(dir, nil); err == nil || !strings.Contains(err.Error(), "broken.json") {
		t.Errorf("a broken record is said to be %v", err)
	}
}

func TestSet(t *testing.T) {
	var s Set
	var wg sync.WaitGroup
	var ps [8]*Process
	for i := range ps {
		wg.Go(func() {
			p, err := s.Start(t.Context(), sleeper)
			if err != nil {
				t.Error(err)
			}
			ps[i] = p
		})
	}
	wg.Wait()
	if exit, err := func() (int, error) { ps[0].Stop(); return ps[0].Wait() }(); exit != 128+int(syscall.SIGINT) || err != nil {
		t.Errorf("one ended with %d, %v", exit, err)
	}
	s.Close()
	for _, p := range ps {
		if p.ID().Alive() {
			t.Errorf("%v is alive", p.ID())
		}
	}
	if _, err := s.Start(t.Context(), shell("exit")); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed set starts: %v", err)
	}
	s.Close()
}

// A process that got away with the pipe does not hold up Wait for ever. It is
// lost to proc; it ends when this test closes what it reads.
func TestPipeKept(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	k := NewCapture(1<<10, 0)
	c := shell(`echo said; (env -i setsid "$(command -v cat)" ` + fifo + ` & )`)
	c.Stdout = k
	p := begin(t, c)
	if exit, err := p.Wait(); exit != 0 || err != nil || k.String() != "said\n" {
		t.Errorf("it ended with %d, %v and said %q", exit, err, k)
	}
}
