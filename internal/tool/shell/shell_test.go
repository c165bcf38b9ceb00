//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func real(t *testing.T) (tool.Tool, string) {
	t.Helper()
	dir := t.TempDir()
	return shell.New(shell.Options{Box: onHost(t, dir), Dir: dir}), dir
}

func TestShell(t *testing.T) {
	x, dir := real(t)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in    m
		want  []string
		error bool
	}{
		"output and exit":   {m{"command": "echo out; echo err >&2; echo again; exit 3"}, []string{"Exit code 3 after ", "out\nerr\nagain\n"}, true},
		"success":           {m{"command": "true"}, []string{"Exit code 0", "It printed nothing."}, false},
		"quotes and dollar": {m{"command": `x='a "b"'; printf '%s' "$x" '$1'`}, []string{`a "b"$1`}, false},
		"own directory":     {m{"command": "pwd"}, []string{dir + "\n"}, false},
		"relative":          {m{"command": "pwd", "dir": "sub"}, []string{filepath.Join(dir, "sub") + "\n"}, false},
		"absolute":          {m{"command": "pwd", "dir": "/"}, []string{"\n/\n"}, false},
		"signal":            {m{"command": "kill -TERM $$"}, []string{"Exit code 143"}, true},
		"no input":          {m{"command": "cat; echo done"}, []string{"\ndone\n"}, false},
		"not text":          {m{"command": `printf 'a\377\376b'`}, []string{"a?b"}, false},
		"no such directory": {m{"command": "pwd", "dir": "gone"}, []string{"could not be started", "gone"}, true},
		"empty":             {m{"command": " \n"}, []string{"The command is empty."}, true},
		"long":              {m{"command": strings.Repeat("x", 1<<20)}, []string{"Write it to a file"}, true},
		"nul":               {m{"command": "echo \x00"}, []string{"NUL"}, true},
		"negative timeout":  {m{"command": "true", "timeout": -1}, []string{"at least 1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			res := call(t, x, c.in)
			if res.Error != c.error {
				t.Errorf("error is %v", res.Error)
			}
			for _, w := range c.want {
				if !strings.Contains(res.Text, w) {
					t.Errorf("%q is not in %q", w, res.Text)
				}
			}
		})
	}
}

// Where there is bash, its language is understood; where not, that of sh is.
func TestShellIsTheBestThereIs(t *testing.T) {
	x, dir := real(t)
	t.Setenv("PATH", dir)
	for _, name := range []string{"sh", "bash"} {
		path := "/bin/" + name
		if _, err := os.Stat(path); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip("no", path)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"sh": "sh:", "bash": "bash:5"}[name]
		res := call(t, x, m{"command": `printf "%s" "${BASH_VERSION:+ba}sh:"; a=(5) 2>/dev/null; [ -n "$BASH_VERSION" ] && echo ${a[0]}`})
		if name == "sh" {
			res = call(t, x, m{"command": `echo "${BASH_VERSION:+ba}sh:"`})
		}
		if !strings.Contains(res.Text, want) {
			t.Errorf("%s: %q", name, res.Text)
		}
	}
}

func TestAction(t *testing.T) {
	x := shell.New(shell.Options{Box: broken{}, Dir: "/w", Boxed: true})
	input := `{"command":"rm -r x","dir":"a/../b","timeout":5}`
	want := policy.Action{Tool: "shell", Kind: policy.Command, Target: "rm -r x", Dir: "/w/b", Boxed: true, Input: input}
	if diff := cmp.Diff(want, x.(tool.Actor).Action(json.RawMessage(input))); diff != "" {
		t.Error(diff)
	}
	jobs := shell.NewJobs(t.Context(), shell.Options{Box: broken{}, Dir: "/w"})
	defer jobs.Close()
	input = `{"command":"make"}`
	want = policy.Action{Tool: "shell_start", Kind: policy.Command, Target: "make", Dir: "/w", Input: input}
	if diff := cmp.Diff(want, jobs.Tools()[0].(tool.Actor).Action(json.RawMessage(input))); diff != "" {
		t.Error(diff)
	}
}

// A command whose time is up is stopped; what it printed until then is told.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := acted(func(ctx context.Context, _ string, out io.Writer) (int, error) {
			_, _ = io.WriteString(out, "half")
			<-ctx.Done()
			return 0, ctx.Err()
		})
		x := shell.New(shell.Options{Box: box, Timeout: 90 * time.Second, Longest: 5 * time.Minute})
		for _, c := range []struct {
			asked int
			want  time.Duration
		}{{0, 90 * time.Second}, {7, 7 * time.Second}, {1 << 62, 5 * time.Minute}} {
			began := time.Now()
			res := call(t, x, m{"command": "sleep 1000", "timeout": c.asked})
			if !res.Error || !strings.Contains(res.Text, "still running after "+c.want.String()) || !strings.Contains(res.Text, "half") {
				t.Errorf("%d: %q", c.asked, res.Text)
			}
			if took := time.Since(began); took != c.want {
				t.Errorf("%d: took %s, want %s", c.asked, took, c.want)
			}
		}
	})
}

// The end of the turn is not a result, and neither is a sandbox that fails.
func TestNoResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	box := acted(func(ctx context.Context, _ string, _ io.Writer) (int, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	})
	input := json.RawMessage(`{"command":"x"}`)
	if _, err := shell.New(shell.Options{Box: box}).Run(ctx, input); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	lost := errors.New("the daemon is gone")
	box = func(context.Context, string, io.Writer) (int, error) { return 0, lost }
	if _, err := shell.New(shell.Options{Box: box, Sandbox: "docker"}).Run(t.Context(), input); !errors.Is(err, lost) || !strings.HasPrefix(err.Error(), "docker: ") {
		t.Errorf("sandbox failed: %v", err)
	}
	if res := call(t, shell.New(shell.Options{Box: broken{}}), m{"command": "x"}); !res.Error || !strings.Contains(res.Text, "no such directory") {
		t.Errorf("%+v", res)
	}
}

// flood prints 2 GiB between a first and a last line.
func flood(_ context.Context, _ string, out io.Writer) (int, error) {
	_, _ = io.WriteString(out, "first line\n")
	chunk := []byte(strings.Repeat("\xffx", 1<<19))
	for range 2 << 10 {
		if _, err := out.Write(chunk); err != nil {
			return 1, err
		}
	}
	_, _ = io.WriteString(out, "\nlast line\n")
	return 0, nil
}

// heap is how much memory is in use.
func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

func TestTwoGigabytesOfOutput(t *testing.T) {
	before := heap()
	var most uint64
	box := acted(func(ctx context.Context, line string, out io.Writer) (int, error) {
		exit, err := flood(ctx, line, out)
		most = heap() // while all of it is held
		return exit, err
	})
	res := call(t, shell.New(shell.Options{Box: box}), m{"command": "flood"})
	if grown := int64(most) - int64(before); grown > 8<<20 {
		t.Errorf("%d bytes more are in use", grown)
	}
	if len(res.Text) > tool.MaxText || !strings.Contains(res.Text, "first line") || !strings.HasSuffix(res.Text, "last line\n") {
		t.Errorf("%d bytes: %.40q … %q", len(res.Text), res.Text, res.Text[len(res.Text)-40:])
	}
	if want := "[2146697238 bytes left out here]"; !strings.Contains(res.Text, want) {
		i := strings.Index(res.Text, "left out")
		t.Errorf("%q is not in it: %q", want, res.Text[max(i-30, 0):i+20])
	}
}
