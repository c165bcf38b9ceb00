// Package clitest helps to test backends that are programs: a [Room] on the host,
// a steward that keeps what it is told, and the programs themselves as npm has
// them ([Installed]).
package clitest

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/proc"
)

// A Room is a folder on the host with nothing around it. What runs in it is marked,
// so that what is left of it can be found.
type Room struct {
	dir, home string
	flow      event.FlowID
	set       proc.Set

	mu       sync.Mutex
	name     string
	readOnly bool
	started  []*proc.Process
}

// NewRoom makes a room. When the test is over, whatever runs in it is stopped, and
// it fails if something had to be that was not the backend's to keep.
func NewRoom(t testing.TB) *Room {
	t.Helper()
	r := &Room{dir: t.TempDir(), home: t.TempDir(), flow: event.FlowID("test-" + rand.Text()), name: "room"}
	t.Cleanup(func() {
		r.set.Close()
		r.NoneLeft(t)
	})
	return r
}

func (r *Room) Key() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.name
}

func (r *Room) Dir() string  { return r.dir }
func (r *Room) Home() string { return r.home }
func (r *Room) Boxed() bool  { return false }

func (r *Room) ReadOnly() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.readOnly
}

// Become makes it another room in the same place.
func (r *Room) Become(key string, readOnly bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name, r.readOnly = key, readOnly
}

// Start begins a program with the PATH of the test and nothing else of its
// environment.
func (r *Room) Start(ctx context.Context, c backend.Start) (backend.Running, error) {
	p, err := r.set.Start(ctx, proc.Command{
		Argv: c.Argv, Dir: r.dir, Env: append([]string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}, c.Env...),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Flow: r.flow,
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, p)
	return p, nil
}

// Starts are the pids of all programs that were begun in the room, in order.
func (r *Room) Starts() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []int
	for _, p := range r.started {
		out = append(out, p.ID().PID)
	}
	return out
}

// Left are the processes that carry the room's mark, however they were started.
func (r *Room) Left() []int {
	mark := []byte(proc.FlowVar + "=" + string(r.flow))
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range dirs {
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, mark) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if _, err := proc.Of(pid); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// NoneLeft fails the test if a process of the room is still there.
func (r *Room) NoneLeft(t testing.TB) {
	t.Helper()
	for _, pid := range r.Left() {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		t.Errorf("process %d is left behind: %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
}
