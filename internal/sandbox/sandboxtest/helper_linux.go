package sandboxtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// denied is how the helper ends when what it tried was refused, so that a test
// can tell this from a helper that could not even begin.
const denied = 3

// ops are what the helper can do, by name.
var ops = map[string]func(args []string) error{
	"read":    read,
	"write":   func(a []string) error { return put(a[0], a[1], os.O_CREATE|os.O_TRUNC) },
	"append":  func(a []string) error { return put(a[0], a[1], os.O_APPEND) },
	"openw":   func(a []string) error { return put(a[0], "", 0) },
	"list":    list,
	"stat":    func(a []string) error { _, err := os.Lstat(a[0]); return err },
	"mkdir":   func(a []string) error { return os.Mkdir(a[0], 0o755) },
	"remove":  func(a []string) error { return os.RemoveAll(a[0]) },
	"unlink":  func(a []string) error { return os.Remove(a[0]) },
	"rename":  func(a []string) error { return os.Rename(a[0], a[1]) },
	"symlink": func(a []string) error { return os.Symlink(a[0], a[1]) },
	"link": func(a []string) error {
		return unix.Linkat(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.AT_SYMLINK_FOLLOW)
	},
	"trunc":  func(a []string) error { return os.Truncate(a[0], 0) },
	"chmod":  chmod,
	"touch":  func(a []string) error { return os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) },
	"env":    func([]string) error { _, err := fmt.Println(strings.Join(os.Environ(), "\n")); return err },
	"cwd":    func([]string) error { return show2(os.Getwd()) },
	"echo":   func(a []string) error { _, err := fmt.Println(strings.Join(a, " ")); return err },
	"cat":    func([]string) error { _, err := io.Copy(os.Stdout, os.Stdin); return err },
	"both":   func([]string) error { fmt.Print("to out"); _, err := fmt.Fprint(os.Stderr, "to err"); return err },
	"exit":   func(a []string) error { os.Exit(number(a[0])); return nil },
	"die":    die,
	"flood":  flood,
	"fds":    fds,
	"tree":   tree,
	"middle": middle,
	"hold":   hold,
	"wait":   func([]string) error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	"dial":   dial,
	"listen": listen,
	"kill":   func(a []string) error { return unix.Kill(number(a[0]), 0) },
	"mem":    mem,
	"alloc":  alloc,
	"procs":  procs,
	"call":   call,
	"locked": locked,
	"push":   push,
}

// help does one thing and says how it went by the exit code.
func help(op string, args []string) int {
	f := ops[op]
	if f == nil {
		fmt.Fprintln(os.Stderr, "no such helper:", op)
		return 2
	}
	if err := f(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return denied
	}
	return 0
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func show(b []byte, err error) error {
	if err == nil {
		_, err = os.Stdout.Write(b)
	}
	return err
}

func show2(s string, err error) error { return show([]byte(s), err) }

func put(path, text string, flags int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func list(a []string) error {
	entries, err := os.ReadDir(a[0])
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	return err
}

// read shows a file. A descriptor of the runtime's own, by which it learns how
// many processors it has, is none of the machine's.
func read(a []string) error {
	if to, err := os.Readlink(a[0]); err == nil && strings.HasPrefix(to, "/sys/fs/cgroup/") {
		return fmt.Errorf("%s is the runtime's own", a[0])
	}
	return show(os.ReadFile(a[0]))
}

// chmod by the call itself: os.Chmod has other names for the bits.
func chmod(a []string) error {
	mode, err := strconv.ParseUint(a[1], 8, 32)
	if err != nil {
		return err
	}
	return unix.Chmod(a[0], uint32(mode))
}

func die(a []string) error {
	// The runtime takes some signals to mean something else.
	return errors.Join(unix.Kill(os.Getpid(), syscall.Signal(number(a[0]))), forever())
}

// forever waits where the runtime does not mistake it for a deadlock.
func forever() error {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return err
	}
	for {
		if _, err := unix.Read(p[0], make([]byte, 1)); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func flood(a []string) error {
	n, err := strconv.ParseInt(a[0], 10, 64)
	if err != nil {
		return err
	}
	block := []byte(strings.Repeat("All work and no play makes Jack a dull boy.\n", 24*1024))
	for n > 0 && err == nil {
		var did int
		did, err = os.Stdout.Write(block[:min(int64(len(block)), n)])
		n -= int64(did)
	}
	return err
}

// fds lists what is open besides the three that have to be.
func fds([]string) error {
	entries, err := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || number(e.Name()) < 3 || strings.Contains(to, "eventpoll") || strings.Contains(to, "eventfd") || strings.HasPrefix(to, "/sys/fs/cgroup/") {
			continue // the runtime's, or the one that was listing
		}
		fmt.Println(e.Name(), to)
	}
	return err
}

// tree makes descendants that are hard to find: a[0] is a file the last of them
// locks, a[1] is plain, setsid or bare, a[2] is stay or leave.
func tree(a []string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	mid := exec.Command("/proc/self/exe", helperArg, "middle", a[0], a[1])
	mid.ExtraFiles = []*os.File{w}
	if err := errors.Join(mid.Start(), w.Close()); err != nil {
		return err
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the last descendant did not come up: %w", err)
	}
	fmt.Print(line)
	if a[2] == "leave" {
		return nil
	}
	return forever()
}

// middle starts the last one and ends, so that it has lost its parent.
func middle(a []string) error {
	last := exec.Command("/proc/self/exe", helperArg, "hold", a[0])
	last.ExtraFiles = []*os.File{os.NewFile(3, "ready")}
	switch a[1] {
	case "setsid":
		last.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "bare":
		last.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		last.Env = []string{}
	}
	return last.Start()
}

// hold locks a file, ignores what can be ignored, says so and stays.
func hold(a []string) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	f, err := os.OpenFile(a[0], os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	ready := os.NewFile(3, "ready")
	fmt.Fprintln(ready, "up")
	_ = ready.Close()
	return errors.Join(forever(), f.Close())
}

// dial sends a word and wants it back.
func dial(a []string) error {
	c, err := net.DialTimeout(a[0], a[1], 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Write([]byte("ping")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 4))
	return err
}

// listen is both sides of a connection in the box.
func listen(a []string) error {
	l, err := net.Listen(a[0], a[1])
	if err != nil {
		return err
	}
	defer l.Close()
	go echo(l)
	return dial([]string{a[0], l.Addr().String()})
}

func echo(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.CopyN(c, c, 4)
		_ = c.Close()
	}
}

// mem reads a little of another process.
func mem(a []string) error {
	maps, err := os.ReadFile(filepath.Join("/proc", a[0], "maps"))
	if err != nil {
		return err
	}
	from, _, _ := strings.Cut(string(maps), "-")
	at, err := strconv.ParseInt(from, 16, 64)
	if err != nil {
		return fmt.Errorf("no maps: %w", err)
	}
	f, err := os.Open(filepath.Join("/proc", a[0], "mem"))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(make([]byte, 8), at)
	return err
}

func alloc(a []string) error {
	b, err := unix.Mmap(-1, 0, number(a[0]), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return nil
}

// procs starts so many processes at once.
func procs(a []string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close() // ends them all
	for range number(a[0]) {
		c := exec.Command("/proc/self/exe", helperArg, "wait")
		c.Stdin = r
		if err := c.Start(); err != nil {
			return err
		}
	}
	return nil
}
