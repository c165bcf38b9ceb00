package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

// commands: what running something in a box is.
var commands = []testcase{
	{"output and exit code", nil, func(w *world) {
		box := w.open()
		if got := w.does(box, "echo", "hello", "box"); got != "hello box\n" {
			w.Errorf("it printed %q", got)
		}
		for _, code := range []string{"0", "1", "42", "255"} {
			if r := w.run(box, sandbox.Command{Argv: w.helper("exit", code)}); fmt.Sprint(r.exit) != code {
				w.Errorf("exit %s arrived as %d", code, r.exit)
			}
		}
	}},
	{"a signal is 128 and its number", nil, func(w *world) {
		box := w.open()
		for _, sig := range []int{9, 15} {
			if r := w.run(box, sandbox.Command{Argv: w.helper("die", fmt.Sprint(sig))}); r.exit != 128+sig {
				w.Errorf("signal %d arrived as %d", sig, r.exit)
			}
		}
	}},
	{"input, and output kept apart", nil, func(w *world) {
		box := w.open()
		text := strings.Repeat("naïve – 日本語\n", 20_000)
		if r := w.run(box, sandbox.Command{Argv: w.helper("cat"), Stdin: strings.NewReader(text)}); r.out != text || r.exit != 0 {
			w.Errorf("%d bytes of input came back as %d", len(text), len(r.out))
		}
		if r := w.run(box, sandbox.Command{Argv: w.helper("cat")}); r.out != "" || r.exit != 0 {
			w.Errorf("no input came back as %q", r.out)
		}
		if r := w.run(box, sandbox.Command{Argv: w.helper("both")}); r.out != "to out" || r.err != "to err" {
			w.Errorf("out is %q, err is %q", r.out, r.err)
		}
		both := proc.NewCapture(1<<10, 0)
		p, err := box.Start(w.Context(), sandbox.Command{Argv: w.helper("both"), Stdout: both, Stderr: both})
		w.check(err)
		_, err = p.Wait()
		w.check(err)
		if got := both.String(); !strings.Contains(got, "to out") || !strings.Contains(got, "to err") {
			w.Errorf("together they are %q", got)
		}
	}},
	{"input that nobody reads", nil, func(w *world) {
		box := w.open()
		in := strings.NewReader(strings.Repeat("x", 1<<20))
		if r := w.run(box, sandbox.Command{Argv: w.helper("exit", "7"), Stdin: in}); r.exit != 7 {
			w.Errorf("it ended with %d", r.exit)
		}
	}},
	{"no program", nil, func(w *world) {
		box := w.open()
		for _, name := range []string{"no-such-program-anywhere", w.path("work", "nothing")} {
			if r, err := w.wait(w.Context(), box, sandbox.Command{Argv: []string{name}}); err == nil && r.exit == 0 {
				w.Errorf("%s ran", name)
			}
		}
		if _, err := w.wait(w.Context(), box, sandbox.Command{}); err == nil {
			w.Error("a command without a program ran")
		}
		w.does(box, "echo")
	}},
	{"directory", nil, func(w *world) {
		box := w.open()
		if got := w.does(box, "cwd"); got != w.path("work") {
			w.Errorf("it starts in %s", got)
		}
		if r := w.run(box, sandbox.Command{Argv: w.helper("cwd"), Dir: w.path("work", "dir")}); r.out != w.path("work", "dir") {
			w.Errorf("it starts in %s", r.out)
		}
		if got := w.does(box, "read", "dir/file"); got != "deeper" {
			w.Errorf("a relative path reads %q", got)
		}
	}},
	{"environment", nil, environment},
	{"nothing is left open", nil, func(w *world) {
		if got := w.does(w.open(), "fds"); got != "" {
			w.Errorf("descriptors of ours are open in the box:\n%s", got)
		}
	}},
	{"writing the place", nil, func(w *world) {
		box := w.open()
		w.does(box, "write", "new", "made inside")
		w.holds(w.path("work", "new"), "made inside")
		w.does(box, "rename", "new", "dir/moved")
		w.does(box, "mkdir", "folder")
		w.does(box, "link", "dir/moved", "folder/linked")
		w.does(box, "chmod", "folder/linked", "755")
		w.does(box, "unlink", "dir/moved")
		w.holds(w.path("work", "folder", "linked"), "made inside")
		w.does(box, "remove", "folder")
		w.absent(w.path("work", "folder"))
		if got := w.does(box, "read", w.path("ro", "dir", "file")); got != "read only" {
			w.Errorf("the read-only mount reads %q", got)
		}
	}},
	{"home and temporary files outlive a command", nil, func(w *world) {
		box := w.open()
		for _, v := range []string{"HOME", "TMPDIR"} {
			dir := value(w.does(box, "env"), v)
			w.does(box, "write", filepath.Join(dir, "kept"), "still there")
			if got := w.does(box, "read", filepath.Join(dir, "kept")); got != "still there" {
				w.Errorf("%s holds %q", v, got)
			}
		}
	}},
	{"two gigabytes of output", nil, func(w *world) {
		box := w.open()
		const much = 2 << 30
		keep := proc.NewCapture(1<<10, 1<<10)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := box.Start(w.Context(), sandbox.Command{Argv: w.helper("flood", fmt.Sprint(much)), Stdout: keep})
		w.check(err)
		exit, err := p.Wait()
		w.check(err)
		runtime.ReadMemStats(&after)
		if exit != 0 || keep.Total() != much {
			w.Errorf("%d bytes of %d arrived, exit %d", keep.Total(), much, exit)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
			w.Errorf("it cost %d bytes of memory", grown)
		}
	}},
	{"many at once", nil, func(w *world) {
		box := w.open()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				want := fmt.Sprint("number ", i)
				r, err := w.wait(w.Context(), box, sandbox.Command{Argv: w.helper("echo", want)})
				if err != nil || r.out != want+"\n" {
					w.Errorf("%s answered %q (%v)", want, r.out, err)
				}
			})
		}
		wg.Wait()
	}},
	{"opening again replaces", nil, func(w *world) {
		w.open()
		w.does(w.open(), "echo")
	}},
}

// environment: nothing of ours is passed on, and what is given is.
func environment(w *world) {
	w.Setenv("ANTHROPIC_API_KEY", secret)
	w.Setenv("CONCLAVE_TEST_VARIABLE", secret)
	w.Setenv("LD_PRELOAD_TEST", secret)
	box := w.open(func(s *sandbox.Spec) { s.Env = []string{"OF_BOX=one", "BOTH=box"} })
	r := w.run(box, sandbox.Command{Argv: w.helper("env"), Env: []string{"OF_COMMAND=two words", "BOTH=command"}})
	if strings.Contains(r.out, secret) {
		w.Errorf("a variable of ours is in the box:\n%s", r.out)
	}
	for name, want := range map[string]string{"OF_BOX": "one", "OF_COMMAND": "two words", "BOTH": "command"} {
		if got := value(r.out, name); got != want {
			w.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	usual := []string{"PATH", "HOME", "TMPDIR", "LANG", "TERM"}
	for _, name := range usual {
		if value(r.out, name) == "" {
			w.Errorf("%s is not set", name)
		}
	}
	// A shell's own, the container's and the marks of the process.
	usual = append(usual, "OF_BOX", "OF_COMMAND", "BOTH", "PWD", "HOSTNAME", "SHLVL", "_", proc.FlowVar, proc.MarkVar)
	for line := range strings.Lines(r.out) {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(usual, name) {
			w.Errorf("%s has no business in the box", name)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && value(r.out, "HOME") == home {
		w.Error("the home in the box is ours")
	}
}

// value is a variable in the output of env.
func value(env, name string) string {
	for line := range strings.Lines(env) {
		if v, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+"="); ok {
			return v
		}
	}
	return ""
}
