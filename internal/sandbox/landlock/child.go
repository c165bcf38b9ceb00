//go:build linux

package landlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox/internal/seccomp"
)

// The roles of this program when it is started again.
const (
	keep   = "keep"
	become = "become"
	scope  = "scope"
)

// Descriptors a child is started with.
const (
	orderFD = 3 + iota
	failFD
)

// order is what a child is told to become.
type order struct {
	Argv    []string
	Dir     string
	Env     []string
	Place   policy.Place
	Own     []string // folders of the box's own
	Network bool
	Memory  int64
}

// Child returns at once in a program that was started by somebody. Started by
// this package, it does its part and does not return.
func Child() {
	if len(os.Args) < 3 || os.Args[1] != Arg {
		return
	}
	if os.Args[2] == scope {
		// Nobody but who reads its error output would hear of it.
		fmt.Fprintln(os.Stderr, scopeCommand(os.Args[3:]))
		os.Exit(125)
	}
	var err error
	switch os.Args[2] {
	case keep:
		err = keepCommand()
	case become:
		err = becomeCommand()
	default:
		err = fmt.Errorf("no such role: %q", os.Args[2])
	}
	// Whoever ordered it reads this; there is nobody else to tell.
	fail := os.NewFile(failFD, "fail")
	_, _ = fmt.Fprint(fail, err)
	os.Exit(125)
}

// scopeCommand gives up signals to whoever is outside and abstract unix sockets of
// theirs, and becomes a command. It fails or does not return.
func scopeCommand(argv []string) error {
	if len(argv) == 0 {
		return errors.New("there is no command")
	}
	runtime.LockOSThread()
	if err := landlock.V6.RestrictScoped(); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	return fmt.Errorf("run %s: %w", argv[0], syscall.Exec(argv[0], argv, os.Environ()))
}

// keepCommand keeps the other role, which becomes the command, and ends like it.
// It fails or does not return.
func keepCommand() error {
	exit, err := proc.Keep("/proc/self/exe", []string{os.Args[0], Arg, become}, []uintptr{0, 1, 2, orderFD, failFD}, orderFD, failFD)
	if err != nil {
		return err
	}
	os.Exit(exit)
	return nil
}

// becomeCommand gives up all rights but those of the order and becomes the
// command. It fails or does not return.
func becomeCommand() error {
	// What is given up last is given up by one thread: the one that goes on.
	runtime.LockOSThread()
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(failFD)
	var o order
	if err := json.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	network := seccomp.None
	if o.Network {
		network = seccomp.Internet
	}
	filter, err := seccomp.Program(seccomp.Rules{Sockets: network, Shared: true})
	if err != nil {
		return err
	}
	if err := os.Chdir(o.Dir); err != nil {
		return fmt.Errorf("go where the command starts: %w", err)
	}
	path, err := look(o.Argv[0], o.Env)
	if err != nil {
		return err
	}
	for _, do := range []func() error{
		func() error { return limit(o.Memory) },
		func() error { return restrict(o) },
		dropCapabilities,
		func() error { return seccomp.Load(filter) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	// The marks let the processes be found after the death of their keeper.
	env := append(slices.Clip(o.Env), proc.FlowVar+"="+os.Getenv(proc.FlowVar), proc.MarkVar+"="+os.Getenv(proc.MarkVar))
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, o.Argv, env))
}

// look finds a program in the PATH of the command.
func look(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, v := range slices.Backward(env) {
		dirs, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(dirs) {
			if path := filepath.Join(dir, name); filepath.IsAbs(dir) {
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
					return path, nil
				}
			}
		}
		return "", fmt.Errorf("%s: %w in PATH %q", name, exec.ErrNotFound, dirs)
	}
	return "", fmt.Errorf("%s: there is no PATH", name)
}

func limit(memory int64) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if memory > 0 {
		limits[unix.RLIMIT_DATA] = uint64(memory)
	}
	for which, n := range limits {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("limit the command: %w", err)
		}
	}
	return nil
}

// dropCapabilities leaves nothing to root but its name. No program gives them
// back, because no privilege can be gained any more.
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
