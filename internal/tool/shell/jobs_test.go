//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"conclave/internal/tool"
	"conclave/internal/tool/shell"
	"conclave/internal/tool/tooltest"
)

// open is the tools for jobs, by name.
func open(t *testing.T, box acted) (map[string]tool.Tool, *shell.Jobs) {
	t.Helper()
	jobs := shell.NewJobs(t.Context(), shell.Options{Box: box})
	t.Cleanup(jobs.Close)
	out := map[string]tool.Tool{}
	for _, x := range jobs.Tools() {
		out[x.Name()] = x
	}
	return out, jobs
}

// says fails unless a result is no error and has all these parts.
func says(t *testing.T, res tool.Result, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if res.Error || !strings.Contains(res.Text, p) {
			t.Errorf("%q is not in %+v", p, res)
		}
	}
}

// slow prints the line and waits for the number of seconds in it, then prints
// that it is done.
func slow(ctx context.Context, line string, out io.Writer) (int, error) {
	var seconds int
	_, _ = fmt.Sscan(line, &seconds)
	fmt.Fprintln(out, "begin", line)
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "ended early")
		return 143, nil
	case <-time.After(time.Duration(seconds) * time.Second):
	}
	fmt.Fprintln(out, "end", line)
	return seconds, nil
}

func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, jobs := open(t, slow)
		defer jobs.Close()
		says(t, call(t, x["shell_list"], m{}), "no background jobs")
		says(t, call(t, x["shell_start"], m{"command": "5"}), "job1")
		says(t, call(t, x["shell_start"], m{"command": "60"}), "job2")
		synctest.Wait()
		says(t, call(t, x["shell_output"], m{"id": "job1"}), "job1 is running for 0s.", "begin 5\n")
		says(t, call(t, x["shell_output"], m{"id": "job1", "wait_seconds": 2}), "job1 is running for 2s.", "Nothing new")
		began := time.Now()
		says(t, call(t, x["shell_output"], m{"id": "job1", "wait_seconds": 600}), "job1 is ended with exit code 5 after 5s.\nend 5\n")
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("waited %s for a job that ended after 3s", took)
		}
		says(t, call(t, x["shell_list"], m{}), "job1 is ended with exit code 5 after 5s: 5\njob2 is running for 5s: 60\n")
		says(t, call(t, x["shell_stop"], m{"id": "job2"}), "job2 is stopped after 5s.", "begin 60\nended early\n")
		says(t, call(t, x["shell_stop"], m{"id": "job2"}), "stopped after 5s", "Nothing new")
	})
}

func TestUnknownJob(t *testing.T) {
	x, _ := open(t, slow)
	for _, name := range []string{"shell_output", "shell_stop"} {
		if res := call(t, x[name], m{"id": "job7"}); !res.Error || !strings.Contains(res.Text, `no job "job7"`) {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

// Sixteen run at once; those that have ended make room, the oldest first.
func TestSixteenJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, jobs := open(t, slow)
		defer jobs.Close()
		for i := range 16 {
			says(t, call(t, x["shell_start"], m{"command": fmt.Sprint(i + 10)}), fmt.Sprint("job", i+1))
		}
		if res := call(t, x["shell_start"], m{"command": "1"}); !res.Error || !strings.Contains(res.Text, "16 jobs are running") {
			t.Errorf("a seventeenth: %+v", res)
		}
		says(t, call(t, x["shell_output"], m{"id": "job2", "wait_seconds": 600}), "ended")
		says(t, call(t, x["shell_start"], m{"command": "1"}), "job17")
		if res := call(t, x["shell_output"], m{"id": "job1"}); !res.Error {
			t.Errorf("the oldest is still there: %+v", res)
		}
		says(t, call(t, x["shell_output"], m{"id": "job2"}), "ended")
	})
}

// Close ends every job and waits for it; afterwards none is taken.
func TestClose(t *testing.T) {
	ended := make(chan string, 2)
	x, jobs := open(t, func(ctx context.Context, line string, _ io.Writer) (int, error) {
		<-ctx.Done()
		ended <- line
		return 0, ctx.Err()
	})
	call(t, x["shell_start"], m{"command": "a"})
	call(t, x["shell_start"], m{"command": "b"})
	jobs.Close()
	if len(ended) != 2 {
		t.Errorf("%d of 2 jobs have ended", len(ended))
	}
	if res := call(t, x["shell_start"], m{"command": "c"}); !res.Error || !strings.Contains(res.Text, "work is over") {
		t.Errorf("%+v", res)
	}
	jobs.Close() // again is nothing
}

// A call that waits ends with its context; the job goes on.
func TestWaitIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x, _ := open(t, func(ctx context.Context, _ string, _ io.Writer) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
	call(t, x["shell_start"], m{"command": "a"})
	go cancel()
	_, err := x["shell_output"].Run(ctx, json.RawMessage(`{"id":"job1","wait_seconds":600}`))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	says(t, call(t, x["shell_output"], m{"id": "job1"}), "running")
}

// A job that prints without end costs a bounded amount of memory.
func TestTwoGigabytesInTheBackground(t *testing.T) {
	before := heap()
	x, _ := open(t, flood)
	call(t, x["shell_start"], m{"command": "flood"})
	res := call(t, x["shell_output"], m{"id": "job1", "wait_seconds": 600})
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("%d bytes more are in use", grown)
	}
	says(t, res, "ended with exit code 0", "bytes of it were not kept]", "last line\n")
	if len(res.Text) > 300<<10 {
		t.Errorf("%d bytes", len(res.Text))
	}
}

// The real thing: a job's children end with it.
func TestStopEndsTheTree(t *testing.T) {
	dir := t.TempDir()
	jobs := shell.NewJobs(t.Context(), shell.Options{Box: onHost(t, dir), Dir: dir})
	defer jobs.Close()
	x := jobs.Tools()
	call(t, x[0], m{"command": "sleep 1000 & echo child $!; wait"})
	var child int
	for child == 0 {
		_, said, _ := strings.Cut(call(t, x[1], m{"id": "job1"}).Text, "child ")
		_, _ = fmt.Sscan(said, &child)
		runtime.Gosched()
	}
	says(t, call(t, x[2], m{"id": "job1"}), "job1 is stopped")
	if err := syscall.Kill(child, 0); err == nil && !zombie(child) {
		t.Errorf("process %d is still there", child)
	}
}

// zombie reports whether a process has ended and nobody has taken note yet.
func zombie(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(stat), ") Z ")
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		o := shell.Options{Dir: t.TempDir(), Box: acted(func(_ context.Context, line string, out io.Writer) (int, error) {
			_, err := io.WriteString(out, line)
			return 0, err
		})}
		jobs := shell.NewJobs(t.Context(), o)
		t.Cleanup(jobs.Close)
		return append(jobs.Tools(), shell.New(o))
	})
}

// A person ends a job at once, by its id; its agent finds out when it looks, and
// what is recorded of the calls says how it stands.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools, jobs := open(t, slow)
		run := func(name, input string) tool.Result {
			res, err := tools[name].Run(t.Context(), json.RawMessage(input))
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		if res := run("shell_start", `{"command":"1000 seconds"}`); res.Job == nil || *res.Job != (tool.Job{ID: "job1"}) {
			t.Fatalf("started %+v", res)
		}
		<-time.After(time.Minute)
		if res := run("shell_output", `{"id":"job1"}`); res.Job == nil || res.Job.Ended != "" {
			t.Errorf("while it runs: %+v", res.Job)
		}
		if how, err := jobs.End(t.Context(), "job1"); err != nil || how != "stopped by the user after 1m0s" {
			t.Errorf("ended %q, %v", how, err)
		}
		res := run("shell_output", `{"id":"job1"}`)
		says(t, res, "job1 is stopped by the user after 1m0s.")
		if res.Job == nil || *res.Job != (tool.Job{ID: "job1", Ended: "stopped by the user after 1m0s"}) {
			t.Errorf("after it: %+v", res.Job)
		}
		if _, err := jobs.End(t.Context(), "job7"); err == nil {
			t.Error("a job that is not there was ended")
		}
	})
}
