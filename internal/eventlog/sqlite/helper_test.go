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
