//go:build linux

package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/client"
	"go.uber.org/goleak"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/docker/dockertest"
)

// spec is a box in a workspace of its own.
func spec(t testing.TB, mounts ...policy.Mount) sandbox.Spec {
	t.Helper()
	dir := real(t, t.TempDir())
	return sandbox.Spec{Flow: "run-1", Owner: "agent1", Place: policy.Place{Dir: dir, Mounts: append([]policy.Mount{{Path: dir, Write: true}}, mounts...)}}
}

func real(t testing.TB, dir string) string {
	t.Helper()
	out, err := filepath.EvalSymlinks(dir)
	check(t, err)
	return out
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a box that is closed at the end.
func open(t testing.TB, e *Engine, s sandbox.Spec) *box {
	t.Helper()
	b, err := e.Open(t.Context(), s)
	check(t, err)
	t.Cleanup(func() { check(t, b.Close()) })
	return b.(*box)
}

// sh runs a line in a box and returns all it said and how it ended.
func sh(t testing.TB, b sandbox.Box, line string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	p, err := b.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", line}, Stdout: &out, Stderr: &out})
	check(t, err)
	exit, err := p.Wait()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, &out)
	}
	return out.String(), exit
}

// must is what a line says that has to succeed.
func must(t testing.TB, b sandbox.Box, line string) string {
	t.Helper()
	out, exit := sh(t, b, line)
	if exit != 0 {
		t.Fatalf("%s ended with %d: %s", line, exit, out)
	}
	return out
}

// began runs a line and returns when it has written one.
func began(t testing.TB, b sandbox.Box, line string) sandbox.Process {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	p, err := b.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", line}, Stdout: w})
	check(t, err)
	_, err = bufio.NewReader(r).ReadString('\n')
	check(t, err)
	return p
}

// TM-12.1, TM-12.2: what is read-only in one box is writable in the next, which
// is another container; between the two there is none.
func TestRightsChangeByANewContainer(t *testing.T) {
	e := engine(t)
	project := real(t, t.TempDir())
	s := spec(t, policy.Mount{Path: project})
	before := open(t, e, s)
	write := "echo new > " + project + "/file"
	if out, exit := sh(t, before, write); exit == 0 || !strings.Contains(out, "Read-only file system") {
		t.Errorf("writing to a read-only mount ended with %d: %s", exit, out)
	}
	must(t, before, "touch /tmp/kept")

	events := watchEvents(t, e)
	s.Place.Mounts[1].Write = true
	after := open(t, e, s)
	must(t, after, write)
	if got, err := os.ReadFile(filepath.Join(project, "file")); err != nil || string(got) != "new\n" {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	if out, exit := sh(t, after, "ls /tmp/kept"); exit == 0 {
		t.Errorf("temporary files came along: %s", out)
	}
	if before.id == after.id {
		t.Error("it is the same container")
	}
	want := []string{"destroy " + before.id, "create " + after.id, "start " + after.id}
	if diff := cmp.Diff(want, events(len(want))); diff != "" {
		t.Errorf("containers came and went in another order (-want +got):\n%s", diff)
	}
	if _, err := before.Start(t.Context(), sandbox.Command{Argv: []string{"true"}}); err == nil {
		t.Error("the box that was replaced runs commands")
	}
}

// watchEvents returns a function that returns the next so many comings and
// goings of containers.
func watchEvents(t *testing.T, e *Engine) func(int) []string {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	stream := e.shared.api.Events(ctx, client.EventsListOptions{Filters: client.Filters{}.Add("event", "create", "start", "destroy").Add("type", "container")})
	return func(n int) []string {
		var out []string
		for range n {
			select {
			case m := <-stream.Messages:
				out = append(out, string(m.Action)+" "+m.Actor.ID)
			case err := <-stream.Err:
				t.Fatal(err)
			}
		}
		return out
	}
}

func TestDaemonDiesWhileACommandRuns(t *testing.T) {
	host(t) // or skip
	d, err := dockertest.Start()
	check(t, err)
	t.Cleanup(func() { check(t, d.Stop()) })
	e := New(Options{Host: d.Host(), Image: dockertest.Image})
	defer e.Close()
	s := spec(t)
	b, err := e.Open(t.Context(), s)
	check(t, err)
	p := began(t, b, "echo up; sleep 1000")
	d.Kill()
	if exit, err := p.Wait(); err == nil || exit >= 0 || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("it ended with %d and %v", exit, err)
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "docker rm -f") {
		t.Errorf("closing the box says %v", err)
	}
	if err := e.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "start it") {
		t.Errorf("probing says %v", err)
	}
	check(t, d.Again())
	again, err := e.Open(t.Context(), s)
	check(t, err)
	must(t, again, "true")
	check(t, again.Close())
	check(t, b.Close())
	if left, err := d.Left(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("containers are left: %q (%v)", left, err)
	}
}

func TestDaemonHangsWhileACommandRuns(t *testing.T) {
	host(t) // or skip
	d, err := dockertest.Start()
	check(t, err)
	t.Cleanup(func() { check(t, d.Stop()) })
	e := New(Options{Host: d.Host(), Image: dockertest.Image})
	defer e.Close()
	opened, err := e.Open(t.Context(), spec(t))
	check(t, err)
	b := opened.(*box)
	b.clocks = clocks{answer: 2 * time.Second, removal: 50 * time.Millisecond, watch: 50 * time.Millisecond, settle: 50 * time.Millisecond}
	check(t, d.Pause(true))
	_, err = b.Start(t.Context(), sandbox.Command{Argv: []string{"true"}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("starting a command says %v", err)
	}
	check(t, d.Pause(false))
	p := began(t, b, "echo up; sleep 1000")
	check(t, d.Pause(true))
	if exit, err := p.Wait(); exit >= 0 || err == nil || !strings.Contains(err.Error(), "may still run") {
		t.Errorf("it ended with %d and %v", exit, err)
	}
	if err := b.Close(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing the box says %v", err)
	}
	check(t, d.Pause(false))
	b.clocks = usual
	check(t, b.Close())
}

// leave is what the test binary does when it is to be killed with a box open.
func leave(host, dir string) {
	e := New(Options{Host: host, Image: dockertest.Image, Boxes: filepath.Join(dir, "boxes")})
	_, err := e.Open(context.Background(), sandbox.Spec{Flow: "run-left", Owner: "agent1", Place: policy.Place{
		Dir: dir, Mounts: []policy.Mount{{Path: dir, Write: true, Protected: []string{filepath.Join(dir, ".git")}}}}})
	fmt.Println("open", err)
	select {}
}

func TestSweepOfWhatADeadProcessLeft(t *testing.T) {
	dir := real(t, t.TempDir())
	c := exec.Command("/proc/self/exe", leaveArg, host(t), dir)
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "open <nil>\n" {
		t.Fatalf("it says %q (%v)", line, err)
	}
	e := New(Options{Host: host(t), Image: dockertest.Image, Boxes: filepath.Join(dir, "boxes")})
	defer e.Close()
	nobody := func(event.FlowID) bool { return false }
	ours := open(t, engine(t), spec(t))
	left := func(alive func(event.FlowID) bool) int {
		t.Helper()
		all, err := e.Left(t.Context(), alive)
		check(t, err)
		n := 0
		for _, s := range all {
			if strings.HasPrefix(s, "container ") {
				n++
			}
		}
		return n
	}
	if n := left(nobody); n != 0 {
		t.Errorf("%d containers of living processes are listed", n)
	}
	check(t, c.Process.Kill())
	_ = c.Wait()
	if n := left(func(f event.FlowID) bool { return f == "run-left" }); n != 0 {
		t.Errorf("%d containers of a flow that somebody drives are listed", n)
	}
	if n := left(nobody); n != 1 {
		t.Errorf("%d containers are listed", n)
	}
	swept, err := e.Sweep(t.Context(), nobody)
	check(t, err)
	if len(swept) != 2 || !strings.HasPrefix(swept[0], "container ") || !strings.Contains(swept[0], "agent1 of run-left") {
		t.Errorf("swept: %q", swept)
	}
	if n := left(nobody); n != 0 {
		t.Errorf("%d containers are left", n)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what kept .git from being made is still there: %v", err)
	}
	must(t, ours, "true")
}

func TestEveryoneKilledFromInside(t *testing.T) {
	b := open(t, engine(t), spec(t))
	p, err := b.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", "kill -9 -1; sleep 1000"}})
	check(t, err)
	if exit, err := p.Wait(); err == nil && exit == 0 {
		t.Error("it ended well")
	}
	must(t, b, "true")
}

// A command that kills the script above it is not followed any more; it ends all
// the same, with what it started.
func TestScriptKilledFromInside(t *testing.T) {
	b := open(t, engine(t), spec(t))
	p := began(t, b, `read -r a b c script rest < /proc/$PPID/stat; sleep 4321 & echo up; kill -9 $script; wait`)
	if exit, err := p.Wait(); err != nil || exit != 137 {
		t.Errorf("it ended with %d (%v)", exit, err)
	}
	if got := must(t, b, "ps"); strings.Contains(got, "4321") {
		t.Errorf("somebody is left:\n%s", got)
	}
}

func TestFilesBelongToTheUser(t *testing.T) {
	e := engine(t)
	e.shared.user = &user{id: "4321:1234"}
	s := spec(t)
	check(t, os.Chown(s.Place.Dir, 4321, 1234))
	for dir := filepath.Dir(s.Place.Dir); dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		check(t, os.Chmod(dir, 0o755))
	}
	b := open(t, e, s)
	if got := must(t, b, "id -u; id -g; touch $HOME/a /tmp/b made; echo done"); got != "4321\n1234\ndone\n" {
		t.Errorf("it says %q", got)
	}
	info, err := os.Stat(filepath.Join(s.Place.Dir, "made"))
	check(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 4321 || st.Gid != 1234 {
		t.Errorf("the file belongs to %d:%d", st.Uid, st.Gid)
	}
}

// A protected folder that somebody outside replaces takes its mount with it.
func TestProtectedFolderReplacedOutside(t *testing.T) {
	s := spec(t)
	git := filepath.Join(s.Place.Dir, ".git")
	s.Place.Mounts[0].Protected = []string{git}
	b := open(t, engine(t), s)
	first := b.id
	if _, exit := sh(t, b, "touch .git/x"); exit == 0 {
		t.Error("what is protected was written")
	}
	check(t, os.Remove(git))
	check(t, os.Mkdir(git, 0o755))
	if _, exit := sh(t, b, "touch .git/x"); exit == 0 {
		t.Error("what is protected was written after it was replaced")
	}
	if b.id == first {
		t.Error("it is the same container")
	}
}

func TestMountInsideAReadOnlyMount(t *testing.T) {
	project := real(t, t.TempDir())
	e := engine(t)
	inner := filepath.Join(project, "inner")
	check(t, os.Mkdir(inner, 0o755))
	check(t, syscall.Mount("none", inner, "tmpfs", 0, ""))
	t.Cleanup(func() { check(t, syscall.Unmount(inner, syscall.MNT_DETACH)) })
	b := open(t, e, spec(t, policy.Mount{Path: project}))
	if out, exit := sh(t, b, "touch "+inner+"/made"); exit == 0 {
		t.Errorf("what is mounted inside a read-only mount was written: %s", out)
	}
}

func TestDockersOwnSocketIsNotMounted(t *testing.T) {
	e := engine(t)
	s := spec(t, policy.Mount{Path: real(t, filepath.Dir(strings.TrimPrefix(e.options.Host, "unix://")))})
	if b, err := e.Open(t.Context(), s); err == nil || !strings.Contains(err.Error(), "Docker's own socket") {
		t.Errorf("opening a box with the socket says %v", err)
		if err == nil {
			check(t, b.Close())
		}
	}
}

func TestWhatIsMissing(t *testing.T) {
	e := New(Options{Host: host(t), Image: "conclave/none:1"})
	defer e.Close()
	if err := e.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "docker pull conclave/none:1") {
		t.Errorf("probing without the image says %v", err)
	}
	if _, err := e.Open(t.Context(), spec(t)); err == nil || !strings.Contains(err.Error(), "docker pull conclave/none:1") {
		t.Errorf("opening without the image says %v", err)
	}
	s := spec(t)
	s.Image = "conclave/other:1"
	if _, err := e.Open(t.Context(), s); err == nil || !strings.Contains(err.Error(), "docker pull conclave/other:1") {
		t.Errorf("opening without the box's image says %v", err)
	}
	nowhere := New(Options{Host: "unix://" + filepath.Join(t.TempDir(), "none")})
	if err := nowhere.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "set DOCKER_HOST") {
		t.Errorf("probing without Docker says %v", err)
	}
}

func TestHowAContainerIsMade(t *testing.T) {
	s := spec(t)
	s.Limits = sandbox.Limits{Memory: 64 << 20, CPUs: 0.5, Procs: 77}
	b := open(t, engine(t), s)
	info, err := b.api.ContainerInspect(t.Context(), b.id, client.ContainerInspectOptions{})
	check(t, err)
	h := info.Container.HostConfig
	got := fmt.Sprint(info.Container.Name, h.ReadonlyRootfs, h.CapDrop, h.SecurityOpt, h.NetworkMode, h.Memory, h.MemorySwap, h.NanoCPUs, *h.PidsLimit, *h.Init, h.Privileged, h.RestartPolicy.Name)
	if want := fmt.Sprint("/conclave-run-1-agent1", true, []string{"ALL"}, []string{"no-new-privileges:true"}, "none", 64<<20, 64<<20, 500_000_000, 77, true, false, "no"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := must(t, b, "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us || cat /sys/fs/cgroup/cpu.max"); !strings.HasPrefix(got, "50000") {
		t.Errorf("half a CPU is %q", got)
	}
	if got := must(t, b, "ls /sys/class/net"); got != "lo\n" {
		t.Errorf("without a network there is %q", got)
	}
	s.Owner, s.Network = "agent2", true
	if got := must(t, open(t, engine(t), s), "ls /sys/class/net"); got == "lo\n" {
		t.Errorf("with a network there is %q", got)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	e := engine(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b, err := e.Open(t.Context(), spec(t))
	check(t, err)
	must(t, b, "true")
	began(t, b, "echo up; sleep 1000").Stop()
	began(t, b, "echo up; sleep 1000")
	check(t, b.Close())
	check(t, e.Close())
}
