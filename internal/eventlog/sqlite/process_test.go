package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
	"conclave/internal/eventlog/sqlite"
)

var ctx = context.Background()

// need skips a test that cannot be done here; with CI=true that is a failure.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	switch {
	case ok:
	case os.Getenv("CI") == "true":
		t.Fatal("needs " + what)
	default:
		t.Skip("needs " + what)
	}
}

// A child is this test binary doing one of the jobs in helper.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, job, dir string, set ...func(*exec.Cmd)) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), "EVENTLOG_HELPER="+job, "EVENTLOG_DIR="+dir)
	c.Stderr = os.Stderr
	for _, f := range set {
		f(c.Cmd)
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}

// line returns the next line the child prints.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the helper ended: %v", c.Wait())
	}
	return c.out.Text()
}

func (c *child) say(t *testing.T, s string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, s); err != nil {
		t.Fatal(err)
	}
}

// end waits for a child that ends by itself.
func (c *child) end(t *testing.T) {
	t.Helper()
	c.in.Close()
	for c.out.Scan() {
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("helper: %v", err)
	}
}

const shared = event.FlowID("run-shared")

// helper is what a child does.
func helper(job string) int {
	jobs := map[string]func(*sqlite.Log) error{
		"append": helpAppend, "follow": helpFollow, "drive": helpDrive, "crash": helpCrash, "limit": helpLimit,
	}
	dir := os.Getenv("EVENTLOG_DIR")
	if job == "brief" {
		return helpBrief(dir)
	}
	log, err := sqlite.Open(ctx, dir)
	if job == "open" { // what is said about a log that cannot be opened
		fmt.Println(errors.Is(err, eventlog.ErrUnwritable), err)
		return 0
	}
	if err == nil {
		err = jobs[job](log)
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		return 1
	}
	return 0
}

const appended = 300

func helpAppend(log *sqlite.Log) error {
	l, err := log.Acquire(ctx, shared, false)
	if err != nil {
		return err
	}
	for n := uint64(1); n <= appended; n++ {
		if err := log.Commit(ctx, l, eventlogtest.Sample(shared, n, n)); err != nil {
			return err
		}
	}
	return nil
}

func helpFollow(log *sqlite.Log) error {
	fmt.Println("following")
	for e, err := range log.Follow(ctx, shared, 1) {
		if err != nil {
			return err
		}
		if fmt.Println(e.Seq); e.Seq == appended {
			break
		}
	}
	return nil
}

// Two processes commit at once, to flows of their own, while a third and this
// one follow.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir)
	follower := start(t, "follow", dir)
	if s := follower.line(t); s != "following" {
		t.Fatal(s)
	}
	appender := start(t, "append", dir)
	l := acquire(t, log, "run-own")
	want := uint64(1)
	for e, err := range log.Follow(ctx, shared, 1) {
		if err != nil || e.Seq != want {
			t.Fatalf("event %d, %v, want %d", e.Seq, err, want)
		}
		// Commits of two processes at once.
		if err := log.Commit(ctx, l, eventlogtest.Sample("run-own", want, want)); err != nil {
			t.Fatal(err)
		}
		if want++; want > appended {
			break
		}
	}
	for n := 1; n <= appended; n++ {
		if s := follower.line(t); s != strconv.Itoa(n) {
			t.Fatalf("the other follower has %s, want %d", s, n)
		}
	}
	appender.end(t)
	follower.end(t)
	log.Close()
	sound(t, dir)
}

// helpBrief opens the log, writes and closes it, again and again.
func helpBrief(dir string) int {
	f := event.FlowID(fmt.Sprint("run-", os.Getpid()))
	for n := uint64(1); n <= 15; n++ {
		log, err := sqlite.Open(ctx, dir)
		if err == nil {
			var l eventlog.Lease
			if l, err = log.Acquire(ctx, f, false); err == nil {
				err = log.Commit(ctx, l, eventlogtest.Sample(f, n, n))
			}
			err = errors.Join(err, log.Send(ctx, shared, event.Fact{ID: fmt.Sprint(f, n), Body: event.Settled{}}), log.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "helper:", err)
			return 1
		}
	}
	return 0
}

// Processes that come and go, so that one opens while another closes last.
func TestBriefProcesses(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir)
	if err := log.Commit(ctx, acquire(t, log, shared), eventlogtest.Sample(shared, 1, 1)); err != nil {
		t.Fatal(err)
	}
	log.Close()
	var children []*child
	for range 4 {
		children = append(children, start(t, "brief", dir))
	}
	for _, c := range children {
		c.end(t)
	}
	sound(t, dir)
	log = open(t, dir)
	if list, err := log.Flows(ctx); err != nil || len(list) != 5 {
		t.Fatalf("Flows: %v, %v", list, err)
	}
	n := 0
	for _, err := range log.Inbox(ctx, shared) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 4*15 {
			break
		}
	}
}

// helpDrive commits an event for every line it is given and prints how that
// went.
func helpDrive(log *sqlite.Log) error {
	l, err := log.Acquire(ctx, shared, false)
	if err != nil {
		return err
	}
	fmt.Println("driving")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		n, err := strconv.ParseUint(in.Text(), 10, 64)
		if err != nil {
			return err
		}
		switch err := log.Commit(ctx, l, eventlogtest.Sample(shared, n, n)); {
		case errors.Is(err, eventlog.ErrSuperseded):
			fmt.Println("superseded")
		default:
			fmt.Println(err)
		}
	}
	return in.Err()
}

// A driver that hangs is superseded, and cannot write when it goes on.
func TestStoppedDriver(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir)
	driver := start(t, "drive", dir)
	driver.line(t)
	driver.say(t, "1")
	if s := driver.line(t); s != "<nil>" {
		t.Fatalf("commit: %s", s)
	}
	if err := driver.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(driver.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the driver has not stopped: %v, %v", status, err)
	}
	var held *eventlog.HeldError
	if _, err := log.Acquire(ctx, shared, false); !errors.As(err, &held) || held.Holder.PID != driver.Process.Pid {
		t.Fatalf("Acquire: %v, want held by %d", err, driver.Process.Pid)
	}
	l, err := log.Acquire(ctx, shared, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Commit(ctx, l, eventlogtest.Sample(shared, 2, 2)); err != nil {
		t.Fatal(err)
	}
	driver.say(t, "2") // what it was about to write
	if err := driver.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if s := driver.line(t); s != "superseded" {
		t.Fatalf("the commit of the superseded driver: %s", s)
	}
	driver.end(t)
	if h, ok, err := log.Holder(ctx, shared); err != nil || !ok || h.PID != os.Getpid() {
		t.Fatalf("Holder after the old driver's end: %v, %v, %v", h, ok, err)
	}
	if err := log.Commit(ctx, l, eventlogtest.Sample(shared, 3, 3)); err != nil {
		t.Fatal(err)
	}
}

// helpCrash commits for ever, many events at a time, and prints the number of
// the last one after every commit.
func helpCrash(log *sqlite.Log) error {
	log.CoverEvery(50)
	l, err := log.Acquire(ctx, shared, false)
	if err != nil {
		return err
	}
	last := uint64(0)
	list, err := log.Flows(ctx)
	if err != nil {
		return err
	}
	for _, f := range list {
		last = f.Last.Seq
	}
	for {
		n := last + 1 + rand.Uint64N(8)
		if err := log.Commit(ctx, l, eventlogtest.Sample(shared, last+1, n)); err != nil {
			return err
		}
		last = n
		fmt.Println(last)
	}
}

// A process that is killed has lost nothing it was told is committed.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		c := start(t, "crash", dir)
		for range 1 + rnd.IntN(60) {
			c.line(t)
		}
		if err := c.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		acknowledged := c.out.Text()
		for c.out.Scan() {
			acknowledged = c.out.Text()
		}
		c.Wait()
		want, err := strconv.ParseUint(acknowledged, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		log := open(t, dir)
		last := uint64(0)
		for e, err := range log.Read(ctx, shared, 1) {
			if err != nil || e.Seq != last+1 {
				t.Fatalf("round %d: event %d after %d, %v", round, e.Seq, last, err)
			}
			last = e.Seq
		}
		if last < want {
			t.Fatalf("round %d: the last event is %d, %d was acknowledged", round, last, want)
		}
		if _, held, err := log.Holder(ctx, shared); held || err != nil {
			t.Fatalf("round %d: a dead process drives: %v, %v", round, held, err)
		}
		log.Close()
	}
	sound(t, dir)
}

// helpLimit meets an I/O error in the middle of a COMMIT: writes beyond a size
// fail. What the log says then has to be true, and it must go on afterwards.
func helpLimit(log *sqlite.Log) error {
	l, err := log.Acquire(ctx, shared, false)
	if err != nil {
		return err
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 200_000, Max: was.Max}); err != nil {
		return err
	}
	n := uint64(1)
	for ; err == nil; n++ {
		err = log.Commit(ctx, l, eventlogtest.Sample(shared, n, n))
	}
	n--
	fmt.Println(errors.Is(err, eventlog.ErrUnknown), strings.Contains(err.Error(), "conclave.db"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	for ; n < 1000; n++ {
		if err := log.Commit(ctx, l, eventlogtest.Sample(shared, n, n)); err != nil {
			return fmt.Errorf("the second try of %d: %w", n, err)
		}
	}
	return nil
}

func TestUnknown(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "limit", dir)
	if s := c.line(t); s != "true true" {
		t.Fatalf("the error is ErrUnknown and names the file: %s", s)
	}
	c.end(t)
	sound(t, dir)
	log := open(t, dir)
	if list, err := log.Flows(ctx); err != nil || len(list) != 1 || list[0].Last.Seq != 999 {
		t.Fatalf("Flows: %v, %v", list, err)
	}
}
