package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"conclave/internal/event"
	"conclave/internal/view"
)

// Every script drives the real program through its real entry point. The
// configurations in testdata/script/team are beside each of them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "../../testdata/script",
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("GORACE", quickExit)
			// Where nothing fails nothing is left to be ended.
			e.Defer(func() { endDrivers(e.WorkDir) })
			return os.CopyFS(e.WorkDir, os.DirFS("../../testdata/script/team"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     code,
			"setid":    setID,
			"result":   result,
			"rebuilds": rebuilds,
			"sql":      sqlCommand,
			"kill-driver": func(ts *testscript.TestScript, _ bool, _ []string) {
				if endDrivers(ts.Getenv("WORK")) == 0 {
					ts.Fatalf("nobody drives")
				}
			},
		},
	})
}

// code N PROGRAM ARGS… runs a program that must end with exit code N.
func code(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM ARGS…")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		got = x.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, not %s", got, args[0])
	}
}

var runID = regexp.MustCompile(`run-\d{8}-\d{6}-\w{4}`)

// setid NAME FILE sets a variable to the first run's id in a file, and others to
// an end and to nearly all of it.
func setID(ts *testscript.TestScript, _ bool, args []string) {
	id := runID.FindString(ts.ReadFile(args[1]))
	if id == "" {
		ts.Fatalf("no id of a run in %s", args[1])
	}
	ts.Setenv(args[0], id)
	ts.Setenv(args[0]+"_END", id[len(id)-4:])
	ts.Setenv(args[0]+"_BEGIN", id[:len(id)-1])
}

// result FILE [PATH=VALUE…] reads what "run --json" prints: events numbered from
// 1 without a gap and the result with all its fields. Without events the file is
// what "runs show --json" prints.
func result(ts *testscript.TestScript, _ bool, args []string) {
	events, r := parseRun(ts, ts.ReadFile(args[0]))
	if n := len(events); n > 0 {
		if _, ok := events[n-1].Body.(event.Finished); !ok && r["status"] != "" {
			ts.Fatalf("the last event is %s", event.Kind(events[n-1].Body))
		}
	}
	for _, f := range []string{
		"run_id", "status", "stopped_by", "final_answer", "workspace_path", "coordination_summary", "answers",
		"files_written", "error", "usage", "started_at", "duration", "down", "resumed",
	} {
		if _, ok := r[f]; !ok {
			ts.Fatalf("the result has no %s", f)
		}
	}
	for _, want := range args[1:] {
		path, value, _ := strings.Cut(want, "=")
		if got := fmt.Sprint(at(r, path)); got != value {
			ts.Fatalf("%s is %q, not %q", path, got, value)
		}
	}
}

// at follows a path such as usage.total.model_calls; what follows a list is its length.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			v = len(x)
		}
	}
	return v
}

// parseRun splits what was printed into events and the result.
func parseRun(ts *testscript.TestScript, text string) (events []event.Event, result map[string]any) {
	for line := range strings.Lines(text) {
		var e event.Event
		switch {
		case result != nil:
			ts.Fatalf("something follows the result: %s", line)
		case strings.HasPrefix(line, `{"run_id"`):
			ts.Check(json.Unmarshal([]byte(line), &result))
		default:
			ts.Check(json.Unmarshal([]byte(line), &e))
			if e.Seq != uint64(len(events)+1) {
				ts.Fatalf("event %d follows event %d", e.Seq, len(events))
			}
			events = append(events, e)
		}
	}
	return events, result
}

// rebuilds LOG RESULT folds an exported log into the result it must come to.
func rebuilds(ts *testscript.TestScript, _ bool, args []string) {
	events, _ := parseRun(ts, ts.ReadFile(args[0]))
	var r view.Result
	for _, e := range events {
		r = r.Apply(e)
	}
	got, err := json.Marshal(r.RunResult())
	ts.Check(err)
	var want bytes.Buffer
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n")
	json.HTMLEscape(&want, []byte(lines[len(lines)-1]))
	if !bytes.Equal(got, want.Bytes()) {
		ts.Fatalf("the log comes to\n%s\nand the result was\n%s", got, want.Bytes())
	}
}

// sql STATEMENT changes the project's database behind the program's back.
func sqlCommand(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(".conclave/conclave.db"))
	ts.Check(err)
	defer db.Close()
	res, err := db.Exec(args[0])
	ts.Check(err)
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("%s: changed nothing (%v)", args[0], err)
	}
}

// endDrivers kills the processes that drive a run of the project, waits until
// their leases are free and tells how many there were.
func endDrivers(dir string) (n int) {
	leases, _ := filepath.Glob(filepath.Join(dir, ".conclave", "leases", "*"))
	for _, name := range leases {
		var holder struct {
			PID int `json:"pid"`
		}
		p, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(p, &holder) != nil || holder.PID == 0 {
			continue
		}
		// A number alone may be another process by now.
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", holder.PID)); err != nil || !strings.HasPrefix(cwd, dir) {
			continue
		}
		if syscall.Kill(holder.PID, syscall.SIGKILL) == nil {
			n++
			awaitLock(name)
		}
	}
	return n
}

// awaitLock waits until nobody has a file locked.
func awaitLock(name string) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLKW, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
}
