package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"

	"conclave/internal/eventlog"
	"conclave/internal/eventlog/eventlogtest"
)

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
