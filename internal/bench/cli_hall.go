package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/proc"
)

// installed is where a CLI agent is: as make deps has installed it, or in the
// PATH. It is empty if there is none.
func installed(program, inside string) string {
	lock, err := os.ReadFile("internal/backend/cli/npm/package-lock.json")
	cache, cacheErr := os.UserCacheDir()
	if err == nil && cacheErr == nil {
		sum := sha256.Sum256(lock)
		found, _ := filepath.Glob(filepath.Join(cache, "conclave-test", "agents-"+hex.EncodeToString(sum[:])[:12], "node_modules", inside))
		if len(found) == 1 {
			return found[0]
		}
	}
	name, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return name
}

// A hall is a room on the host with nothing around it, so that what is measured
// is the backend and not a sandbox. What runs in it carries its mark.
type hall struct {
	dir, home string
	flow      event.FlowID
	set       proc.Set

	mu   sync.Mutex
	last backend.Start
}

func newHall(dir string) (*hall, error) {
	sub, err := os.MkdirTemp(dir, "hall-")
	h := &hall{dir: filepath.Join(sub, "work"), home: filepath.Join(sub, "home"), flow: event.FlowID("bench-" + rand.Text())}
	for _, d := range []string{h.dir, h.home} {
		if err == nil {
			err = os.Mkdir(d, 0o700)
		}
	}
	return h, err
}

func (h *hall) Key() string    { return "hall" }
func (h *hall) Dir() string    { return h.dir }
func (h *hall) Home() string   { return h.home }
func (h *hall) ReadOnly() bool { return false }
func (h *hall) Boxed() bool    { return false }

func (h *hall) Start(ctx context.Context, c backend.Start) (backend.Running, error) {
	h.mu.Lock()
	h.last = c
	h.mu.Unlock()
	return h.set.Start(ctx, proc.Command{
		Argv: c.Argv, Dir: h.dir, Env: append(common(), c.Env...),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Flow: h.flow,
	})
}

// common is what every room has in its environment.
func common() []string { return []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"} }

// started is how the program was started last.
func (h *hall) started() backend.Start {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// marked are the processes that carry the mark of a flow, however they were
// started.
func marked(id event.FlowID) []int {
	mark := []byte(proc.FlowVar + "=" + string(id))
	var out []int
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, mark) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if _, err := proc.Of(pid); err == nil { // it is no zombie
			out = append(out, pid)
		}
	}
	return out
}

func killAll(pids []int) {
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// residentOf is the memory the kernel counts for a process.
func residentOf(pid int) int64 {
	p, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(p))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
