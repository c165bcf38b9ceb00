package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"conclave/internal/policy"
	"conclave/internal/sandbox"
)

var groups = []group{
	{"commands", commands},
	{"endings", endings},
	{"files", fileCases},
	{"protected", protectedCases},
	{"outside", outsideCases},
	{"limits", limitCases},
}

func confined(t Traits) bool { return t.Unconfined }

// world is what one test has: an engine and a place on disk.
//
//	base/work       writable, where commands start
//	base/work-evil  outside, with a name that begins the same
//	base/ro         a read-only mount
//	base/tool       a read-only mount with the helper
//	base/outside    outside, with a secret
type world struct {
	*testing.T
	engine sandbox.Engine
	traits Traits
	made   sync.Once
	base   string
}

const secret = "the secret nobody in the box may see"

// path is a path in the place, made when it is first asked for.
func (w *world) path(elem ...string) string {
	w.Helper()
	w.made.Do(func() {
		base, err := filepath.EvalSymlinks(w.TempDir())
		w.check(err)
		w.base = base
		for name, text := range map[string]string{
			"work/file": "inside", "work/dir/file": "deeper", "work-evil/file": secret,
			"ro/file": "read only", "ro/dir/file": "read only", "outside/file": secret,
		} {
			w.file(filepath.Join(base, name), text)
		}
		w.check(os.Mkdir(filepath.Join(base, "tool"), 0o755))
		w.tool(filepath.Join(base, "tool", "helper"))
	})
	return filepath.Join(append([]string{w.base}, elem...)...)
}

func (w *world) tool(to string) {
	self := Program(w.T, w.traits.Static)
	if os.Link(self, to) == nil {
		return
	}
	in, err := os.Open(self)
	w.check(err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	w.check(err)
	_, err = io.Copy(out, in)
	w.check(errors.Join(err, out.Close()))
}

func (w *world) file(path, text string) {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// spec is the usual box.
func (w *world) spec() sandbox.Spec {
	return sandbox.Spec{
		Flow: "run-1", Owner: "agent1",
		Place: policy.Place{Dir: w.path("work"), Mounts: []policy.Mount{
			{Path: w.path("work"), Write: true}, {Path: w.path("ro")}, {Path: w.path("tool")},
		}},
	}
}

// open opens the usual box after changes to its spec, and closes it at the end.
func (w *world) open(change ...func(*sandbox.Spec)) sandbox.Box {
	w.Helper()
	box, err := w.try(change...)
	if err != nil {
		w.Fatalf("open a box: %v", err)
	}
	return box
}

func (w *world) try(change ...func(*sandbox.Spec)) (sandbox.Box, error) {
	s := w.spec()
	for _, f := range change {
		f(&s)
	}
	if w.traits.Adjust != nil {
		w.traits.Adjust(w.T, &s)
	}
	box, err := w.engine.Open(w.Context(), s)
	if err == nil {
		w.Cleanup(func() { w.check(box.Close()) })
	}
	return box, err
}

// helper is the command that does something in a box.
func (w *world) helper(op string, args ...string) []string {
	return append([]string{w.path("tool", "helper"), helperArg, op}, args...)
}

// result is how a command went.
type result struct {
	exit     int
	out, err string
}

func (w *world) run(box sandbox.Box, c sandbox.Command) result {
	w.Helper()
	r, err := w.wait(w.Context(), box, c)
	if err != nil {
		w.Fatalf("%q failed: %v\n%s%s", c.Argv, err, r.out, r.err)
	}
	return r
}

func (w *world) wait(ctx context.Context, box sandbox.Box, c sandbox.Command) (result, error) {
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	p, err := box.Start(ctx, c)
	if err != nil {
		return result{exit: -1}, err
	}
	exit, err := p.Wait()
	return result{exit, out.String(), errs.String()}, err
}

// does runs the helper, which must succeed, and returns what it printed.
func (w *world) does(box sandbox.Box, op string, args ...string) string {
	w.Helper()
	r := w.run(box, sandbox.Command{Argv: w.helper(op, args...)})
	if r.exit != 0 {
		w.Fatalf("%s %q was to work in the box; it ended with %d: %s%s", op, args, r.exit, r.out, r.err)
	}
	return r.out
}

// refused runs the helper, which must try and be refused.
func (w *world) refused(box sandbox.Box, op string, args ...string) {
	w.Helper()
	r := w.run(box, sandbox.Command{Argv: w.helper(op, args...)})
	if r.exit != denied {
		w.Errorf("%s %q was to be refused; it ended with %d: %s%s", op, args, r.exit, r.out, r.err)
	}
}

// holds reports whether a file still has its text.
func (w *world) holds(path, text string) {
	w.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		w.Errorf("%s holds %q (%v), want %q", path, got, err, text)
	}
}

// absent is that nothing is at a path, outside the box.
func (w *world) absent(path string) {
	w.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		w.Errorf("%s is there (%v)", path, err)
	}
}

// free is that nobody holds a lock any more: whoever did is dead. It is the one
// thing that can be seen from outside whatever a process does to hide.
func (w *world) free(lock string) {
	w.Helper()
	f, err := os.Open(lock)
	w.check(err)
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		w.Errorf("a process of the box is still alive: it holds %s (%v)", lock, err)
	}
}

// taken is the opposite.
func (w *world) taken(lock string) {
	w.Helper()
	f, err := os.Open(lock)
	w.check(err)
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		w.Fatalf("nobody holds %s", lock)
	}
}

// signalWriter tells when a line was written to it.
type signalWriter struct {
	mu   sync.Mutex
	text strings.Builder
	line chan struct{}
	once sync.Once
}

func newSignalWriter() *signalWriter { return &signalWriter{line: make(chan struct{})} }

func (s *signalWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	if bytes.ContainsRune(b, '\n') {
		s.once.Do(func() { close(s.line) })
	}
	return len(b), nil
}

// up starts the helper and returns when it has written a line.
func (w *world) up(ctx context.Context, box sandbox.Box, op string, args ...string) sandbox.Process {
	w.Helper()
	out := newSignalWriter()
	p, err := box.Start(ctx, sandbox.Command{Argv: w.helper(op, args...), Stdout: out, Stderr: out})
	w.check(err)
	ended := make(chan string, 1)
	go func() {
		exit, err := p.Wait()
		ended <- fmt.Sprint(exit, " ", err)
	}()
	select {
	case <-out.line:
	case how := <-ended:
		w.Fatalf("%s %q ended with %s: %s", op, args, how, out.text.String())
	}
	return p
}

func mount(m policy.Mount) func(*sandbox.Spec) {
	return func(s *sandbox.Spec) {
		for i, have := range s.Place.Mounts {
			if have.Path == m.Path {
				s.Place.Mounts[i] = m
				return
			}
		}
		s.Place.Mounts = append(s.Place.Mounts, m)
	}
}

// exit is how a command ended, and not 0 if it could not begin.
func (w *world) exit(box sandbox.Box, argv []string) int {
	w.Helper()
	r, err := w.wait(w.Context(), box, sandbox.Command{Argv: argv})
	if err != nil {
		return -1
	}
	return r.exit
}

func (w *world) tryRead(box sandbox.Box, path string) string {
	return w.run(box, sandbox.Command{Argv: w.helper("read", path)}).out
}

func (w *world) tryList(box sandbox.Box, path string) string {
	return w.run(box, sandbox.Command{Argv: w.helper("list", path)}).out
}
