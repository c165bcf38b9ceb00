package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are system calls that nothing in a box has any business with. Each is
// made so that it would succeed, or fail for another reason, if it got through.
var calls = map[string]func(pid int) error{
	"unshare":    func(int) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"unshare fs": func(int) error { return unix.Unshare(unix.CLONE_NEWNS) },
	"clone":      cloneUser,
	"setns":      func(int) error { return raw(unix.SYS_SETNS, ^uintptr(0), 0, 0) },
	"mount":      func(int) error { return unix.Mount("none", "/", "tmpfs", 0, "") },
	"remount":    func(int) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") },
	"umount":     func(int) error { return unix.Unmount("/", unix.MNT_DETACH) },
	"pivot_root": func(int) error { return unix.PivotRoot("/", "/") },
	"chroot":     func(int) error { return unix.Chroot("/") },
	"fsopen":     func(int) error { _, err := unix.Fsopen("tmpfs", 0); return err },
	"open_tree":  func(int) error { _, err := unix.OpenTree(unix.AT_FDCWD, "/", 1); return err },
	"bpf":        func(int) error { return raw(unix.SYS_BPF, 0, 0, 0) },
	"keyctl":     func(int) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
	"add_key": func(int) error {
		_, err := unix.AddKey("user", "x", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	},
	"io_uring":     func(int) error { return raw(unix.SYS_IO_URING_SETUP, 1, 0, 0) },
	"perf":         func(int) error { return raw(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0) },
	"userfaultfd":  func(int) error { return raw(unix.SYS_USERFAULTFD, ^uintptr(0), 0, 0) },
	"ptrace":       func(pid int) error { return raw(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0) },
	"process_vm":   func(pid int) error { return raw(unix.SYS_PROCESS_VM_READV, uintptr(pid), 0, 0) },
	"open_handle":  func(int) error { return raw(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(0), 0, 0) },
	"kexec":        func(int) error { return raw(unix.SYS_KEXEC_LOAD, 0, 0, 0) },
	"init_module":  func(int) error { return raw(unix.SYS_INIT_MODULE, 0, 0, 0) },
	"settime":      func(int) error { return raw(unix.SYS_CLOCK_SETTIME, ^uintptr(0), 0, 0) },
	"swapon":       func(int) error { return raw(unix.SYS_SWAPON, 0, 0, 0) },
	"packet":       func(int) error { return socket(unix.AF_PACKET, unix.SOCK_RAW) },
	"vsock":        func(int) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM) },
	"alg":          func(int) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET) },
	"raw socket":   func(int) error { return socket(unix.AF_INET, unix.SOCK_RAW) },
	"mknod device": func(int) error { return unix.Mknod("device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1))) },
}

// callNames are all calls in a fixed order.
func callNames() []string {
	var out []string
	for name := range calls {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// refusals are the errors of a call that did not get through.
var refusals = []error{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT}

// call makes one of the calls and is refused only by a refusal.
func call(a []string) error {
	err := calls[a[0]](number(a[1]))
	if err != nil && !slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }) {
		fmt.Fprintf(os.Stderr, "%s got through and failed with: %v\n", a[0], err)
		return nil
	}
	return err
}

func raw(nr, a, b, c uintptr) error {
	if _, _, e := unix.Syscall6(nr, a, b, c, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

func socket(family, kind int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// cloneUser starts a process in a user namespace of its own.
func cloneUser(int) error {
	c := exec.Command("/proc/self/exe", helperArg, "echo")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return c.Run()
}

// locked is that nothing can be gained: no capabilities, and none by a program
// with a setuid bit.
func locked([]string) error {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for _, want := range []string{"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(string(b), want+"\n") {
			return fmt.Errorf("%q does not hold: %s", want, b)
		}
	}
	return nil
}

// push puts a character into the terminal it has as its input, as if typed.
func push([]string) error {
	c := byte('x')
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&c))); e != 0 {
		return e
	}
	return nil
}
