package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// A terminal is a program on a pseudo terminal.
type terminal struct {
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{}

	mu    sync.Mutex
	out   bytes.Buffer
	last  time.Time
	heard chan struct{} // holds a value when something has come
}

func openTerminal(prog, dir string, width, height uint16, args ...string) (*terminal, error) {
	cmd := exec.Command(prog, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: width, Rows: height})
	if err != nil {
		return nil, err
	}
	t := &terminal{cmd: cmd, tty: f, done: make(chan struct{}), heard: make(chan struct{}, 1)}
	go t.read()
	return t, nil
}

func (t *terminal) read() {
	defer close(t.done)
	p := make([]byte, 64<<10)
	for {
		n, err := t.tty.Read(p)
		if err != nil {
			return
		}
		t.mu.Lock()
		t.out.Write(p[:n])
		t.last = time.Now()
		t.mu.Unlock()
		select {
		case t.heard <- struct{}{}:
		default:
		}
	}
}

// said is everything that was written so far.
func (t *terminal) said() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.out.Bytes())
}

// until waits until the program has written some words.
func (t *terminal) until(words string) error {
	late := time.After(20 * time.Second)
	for {
		if bytes.Contains(t.said(), []byte(words)) {
			return nil
		}
		select {
		case <-t.heard:
		case <-t.done:
			return fmt.Errorf("the program ended without %q: %s", words, t.said())
		case <-late:
			return fmt.Errorf("waited in vain for %q in %q", words, t.said())
		}
	}
}

// settle waits until the program has read all there is to read: its processor
// time grows no faster than the streaming alone takes.
func (t *terminal) settle() {
	for before := t.cpu(); ; {
		<-time.After(2 * time.Second)
		now := t.cpu()
		if now-before < 1500*time.Millisecond {
			return
		}
		before = now
	}
}

func (t *terminal) kill() {
	_ = t.cmd.Process.Kill()
	_ = t.cmd.Wait()
	_ = t.tty.Close()
	<-t.done
}

func (t *terminal) proc(name string) string {
	p, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(t.cmd.Process.Pid), name))
	return string(p)
}

// cpu is the processor time used so far.
func (t *terminal) cpu() time.Duration {
	_, rest, _ := strings.Cut(t.proc("stat"), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a hundred ticks a second
}

// wakeups is how often any thread has been woken.
func (t *terminal) wakeups() int {
	tasks, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(t.cmd.Process.Pid), "task/*/status"))
	n := 0
	for _, task := range tasks {
		p, _ := os.ReadFile(task)
		for line := range strings.Lines(string(p)) {
			if v, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				k, _ := strconv.Atoi(strings.TrimSpace(v))
				n += k
			}
		}
	}
	return n
}

// resident is the memory in use, in MB.
func (t *terminal) resident() float64 {
	for line := range strings.Lines(t.proc("status")) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			k, _ := strconv.Atoi(strings.Fields(v)[0])
			return float64(k) / 1024
		}
	}
	return 0
}
