package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"conclave/internal/control"
	"conclave/internal/event"
)

// Background implements [control.Control]: the program starts itself again, in a
// session of its own, to drive the flow, and hears through a pipe when it does.
func (a *App) Background(ctx context.Context, id event.FlowID, fresh *control.Run) (int, error) {
	a.brood.reap()
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("start a background process: %w", err)
	}
	dir := a.state("runs", string(id))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("start a background process: %w", err)
	}
	out, err := os.OpenFile(filepath.Join(dir, "driver.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("start a background process: %w", err)
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("start a background process: %w", err)
	}
	defer r.Close()
	// It must outlive this command, so it is not tied to ctx.
	cmd := exec.Command(self, "--directory", a.project, "drive", string(id))
	if fresh != nil {
		run, err := json.Marshal(fresh)
		if err != nil {
			return 0, fmt.Errorf("start a background process: %w", err)
		}
		cmd.Args = append(cmd.Args, "--new")
		cmd.Stdin = bytes.NewReader(run)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = []*os.File{w} // is number 3 there
	cmd.Env = append(os.Environ(), readyFD+"=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return 0, fmt.Errorf("start a background process: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	said, err := io.ReadAll(io.LimitReader(r, 4096))
	if string(said) == ready {
		pid := cmd.Process.Pid // which releasing it forgets
		return pid, a.brood.leave(cmd.Process)
	}
	if err != nil { // it may be at work all the same
		if ctx.Err() != nil { // that the pipe was closed says nothing
			err = context.Cause(ctx)
		}
		return 0, errors.Join(fmt.Errorf("hear from the background process: %w", err), a.brood.leave(cmd.Process))
	}
	_ = cmd.Wait()
	return 0, control.Usagef("the background process could not take up %s: %s", id,
		cmp.Or(string(said), "it ended without a word; see "+out.Name()))
}

// A brood are the background processes that this one has started. They outlive it,
// so nobody waits for them; those that have ended are taken note of now and then,
// or the system would keep them. The zero value is ready.
type brood struct {
	mu   sync.Mutex
	pids []int
}

// leave lets a process go on alone.
func (b *brood) leave(p *os.Process) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pids = append(b.pids, p.Pid)
	return p.Release()
}

// reap takes note of those that have ended. The number of one that was not taken
// note of is nobody else's.
func (b *brood) reap() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pids = slices.DeleteFunc(b.pids, func(pid int) bool {
		got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		return got == pid || err != nil && !errors.Is(err, syscall.EINTR)
	})
}

// A background process tells the one that started it, through the file named by
// readyFD, that it has recorded something in the flow: ready. Or it tells why it
// could not, since the disk that its own words go to may be the reason.
const (
	ready   = "ready"
	readyFD = "CONCLAVE_READY_FD"
)

var tellOnce sync.Once

// tell is heard once; later there is nobody to hear it.
func tell(word string) {
	tellOnce.Do(func() {
		fd, err := strconv.Atoi(os.Getenv(readyFD))
		if err != nil || fd < 3 {
			return
		}
		_ = os.Unsetenv(readyFD)
		f := os.NewFile(uintptr(fd), "ready")
		_, _ = f.WriteString(word)
		_ = f.Close()
	})
}
