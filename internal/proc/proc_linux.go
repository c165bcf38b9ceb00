package proc

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// polite are the signals that ask before KILL tells.
var polite = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}

func attributes(death syscall.Signal) *syscall.SysProcAttr {
	if death == 0 {
		death = syscall.SIGKILL
	}
	keepOurs()
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: death}
}

// keepOurs sees to it that no descriptor this process was itself started with
// is handed on; those that Go opens never are.
var keepOurs = sync.OnceFunc(func() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) })

// Of is who has a pid now.
func Of(pid int) (Identity, error) {
	e, ok := readEntry(pid)
	if !ok {
		return Identity{}, fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	boot, space, err := machine()
	return Identity{PID: pid, Start: e.start, Boot: boot, Space: space}, err
}

// Self is who this process is.
func Self() (Identity, error) { return self() }

var self = sync.OnceValues(func() (Identity, error) { return Of(os.Getpid()) })

func machine() (boot, space string, err error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", "", fmt.Errorf("which start of the machine: %w", err)
	}
	space, err = os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", "", fmt.Errorf("which pid namespace: %w", err)
	}
	return strings.TrimSpace(string(b)), space, nil
}

// readEntry reads /proc/<pid>/stat. Who has ended is not there, even if its
// parent has yet to wait for it.
func readEntry(pid int) (entry, bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return entry{}, false
	}
	// The second field is a name in parentheses and may hold anything.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return entry{}, false
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 20 {
		return entry{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	// Its first thread may have ended before the others, which still hold what
	// it has open.
	if threads := num(17); f[0] == "X" || f[0] == "Z" && threads <= 1 {
		return entry{}, false
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	return entry{pid: pid, parent: num(1), group: num(2), session: num(3), start: start}, err == nil
}

// processes are all there are.
func processes() []entry {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var out []entry
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if e, ok := readEntry(pid); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

// marked reports whether a process was started with a mark.
func marked(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	want := MarkVar + "=" + mark
	return slices.Contains(strings.Split(string(b), "\x00"), want)
}

// members are the processes that root names, that carry the mark or that were
// among them before, and all their descendants; never this process. Who is dying
// has lost its mark already, and still holds what it has open.
func (k *kin) members(root func(entry) bool) []entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := processes()
	me := os.Getpid()
	in := map[int]bool{}
	for _, e := range all {
		if e.pid != me && (root(e) || k.seen[e.pid] == e.start || marked(e.pid, k.mark)) {
			in[e.pid] = true
		}
	}
	for more := true; more; {
		more = false
		for _, e := range all {
			if !in[e.pid] && in[e.parent] && e.pid != me {
				in[e.pid], more = true, true
			}
		}
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return !in[e.pid] })
	for _, e := range all {
		k.add(e.pid, e.start)
	}
	return all
}

// members are everyone the process started and, if wanted, itself. Nobody else
// can have its pid as group or session: it has not been waited for.
func (p *Process) members(itself bool) []entry {
	pid := p.cmd.Process.Pid
	all := p.kin.members(func(e entry) bool { return e.pid == pid || e.group == pid || e.session == pid })
	if itself {
		return all
	}
	return slices.DeleteFunc(all, func(e entry) bool { return e.pid == pid })
}

// tell sends a signal to a process that is still who it was.
func tell(e entry, sig syscall.Signal) bool {
	h, err := os.FindProcess(e.pid) // holds on to the process, not to the pid
	if err != nil {
		return false
	}
	defer h.Release()
	now, ok := readEntry(e.pid)
	return ok && now.start == e.start && h.Signal(sig) == nil
}

// awaitExit returns when the process has ended and leaves it to be waited for,
// so that its pid and its group stay its own until everyone in it is gone.
func (p *Process) awaitExit() (reap func() error) {
	for {
		if err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return p.cmd.Wait
		}
	}
}
