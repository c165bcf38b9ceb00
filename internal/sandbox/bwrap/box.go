//go:build linux

package bwrap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/layout"
	"conclave/internal/sandbox/internal/scratch"
)

type box struct {
	engine  *Engine
	program string
	filter  []byte
	spec    sandbox.Spec
	dir     *scratch.Dir
	hold    *layout.Hold
	set     proc.Set
}

// Descriptors that bwrap is started with.
const (
	argsFD = 3 + iota
	filterFD
	statusFD
	goFD
)

func (b *box) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	p, err := b.start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start a command in bwrap: %w", err)
	}
	return p, nil
}

func (b *box) start(ctx context.Context, c sandbox.Command) (*process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("there is no command")
	}
	options, err := b.options(c)
	if err != nil {
		return nil, err
	}
	var files closers
	defer files.close()
	args := files.memory("args", []byte(options))
	filter := files.memory("filter", b.filter)
	status, told := files.pipe()
	wait, let := files.pipe()
	if files.err != nil {
		return nil, files.err
	}
	// Options go by a descriptor, so that values of variables are in nobody's list
	// of processes; the environment of bwrap itself is not the command's to choose.
	argv := append(b.scope(), append([]string{b.program, "--args", fmt.Sprint(argsFD), "--"}, c.Argv...)...)
	said := proc.NewCapture(1<<10, 0)
	stdout, stderr := tee(c.Stdout, c.Stderr, said)
	p, err := b.set.Start(ctx, proc.Command{
		Argv: argv, Dir: "/", Stdin: c.Stdin, Stdout: stdout, Stderr: stderr,
		Files: []*os.File{args, filter, told, wait},
		Flow:  b.spec.Flow, Records: b.engine.Procs, Keeper: true,
	})
	if err != nil {
		return nil, err
	}
	_ = told.Close()
	out := &process{Process: p, name: c.Argv[0], status: bufio.NewReader(status), file: status, said: said}
	files.keep(status)
	if err := out.begin(b.spec.Limits); err != nil {
		p.Stop()
		return nil, errors.Join(err, status.Close())
	}
	_, _ = let.Write([]byte{1})
	return out, nil
}

// scope is what bwrap is started by. A bwrap that gets its rights from its file
// would not get them then.
func (b *box) scope() []string {
	if info, err := os.Stat(b.program); !b.spec.Network || err != nil || info.Mode()&os.ModeSetuid != 0 {
		return nil
	}
	return slices.Clone(b.engine.Scope)
}

// options are all options of bwrap, each ended by a zero.
func (b *box) options(c sandbox.Command) (string, error) {
	// The place is looked at again for each command: what it names may have been
	// made or replaced meanwhile.
	items, err := b.hold.Take(b.spec.Place)
	if err != nil {
		return "", err
	}
	empty := filepath.Join(filepath.Dir(b.dir.Home()), "empty")
	if err := os.WriteFile(empty, nil, 0o400); err != nil && !errors.Is(err, os.ErrPermission) {
		return "", fmt.Errorf("make an empty file: %w", err)
	}
	dir := c.Dir
	if dir == "" {
		dir = b.spec.Place.Dir
	}
	out := []string{"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "box", "--clearenv",
		"--seccomp", fmt.Sprint(filterFD), "--json-status-fd", fmt.Sprint(statusFD), "--block-fd", fmt.Sprint(goFD)}
	if b.spec.Network {
		out = append(out, "--share-net")
	}
	out = append(out, machine()...)
	out = append(out, "--bind", b.dir.Tmp(), tmp, "--bind", b.dir.Home(), home)
	out = append(out, arguments(items, empty)...)
	for _, v := range sandbox.Env(home, tmp, b.spec.Env, c.Env) {
		name, value, _ := strings.Cut(v, "=")
		out = append(out, "--setenv", name, value)
	}
	out = append(out, "--remount-ro", "/", "--chdir", dir)
	if slices.ContainsFunc(slices.Concat(out, c.Argv), func(s string) bool { return strings.ContainsRune(s, 0) }) {
		return "", errors.New("an argument, a variable or a path holds a zero byte")
	}
	return strings.Join(out, "\x00") + "\x00", nil
}

func (b *box) Close() error {
	b.set.Close()
	b.hold.Give()
	return b.dir.Remove()
}

// process is a bwrap that runs.
type process struct {
	*proc.Process
	name   string
	status *bufio.Reader // what bwrap tells about the command, as JSON
	file   *os.File
	said   *proc.Capture // the beginning of its error output
	once   sync.Once
	ran    bool // the command was run
}

// begin takes note of the first process of the box, which waits for that before
// it starts the command, and limits it. A bwrap that never gets there says why
// itself.
func (p *process) begin(l sandbox.Limits) error {
	var told struct {
		PID int `json:"child-pid"`
	}
	line, err := p.status.ReadBytes('\n')
	if err != nil {
		return nil
	}
	if err := json.Unmarshal(line, &told); err != nil {
		return fmt.Errorf("read what bwrap tells: %w", err)
	}
	p.Adopt(told.PID) // whose end is the end of everyone in the box
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.Memory > 0 {
		limits[unix.RLIMIT_DATA] = uint64(l.Memory)
	}
	if l.Procs > 0 {
		limits[unix.RLIMIT_NPROC] = uint64(l.Procs)
	}
	for which, n := range limits {
		if err := unix.Prlimit(told.PID, which, &unix.Rlimit{Cur: n, Max: n}, nil); err != nil {
			return fmt.Errorf("limit the box: %w", err)
		}
	}
	return nil
}

// Wait tells a command that failed from a bwrap that did not get to run it.
func (p *process) Wait() (int, error) {
	exit, err := p.Process.Wait()
	p.once.Do(func() {
		rest, _ := io.ReadAll(p.status)
		p.ran = bytes.Contains(rest, []byte(`"exit-code"`))
		_ = p.file.Close()
	})
	if err == nil && !p.ran && exit < 128 {
		err = fmt.Errorf("bwrap did not get to run %s: %s", p.name, strings.TrimSpace(p.said.String()))
	}
	return exit, err
}

// tee has the error output written to said as well. What is one writer stays
// one: nobody writes to it from two sides.
func tee(stdout, stderr, said io.Writer) (io.Writer, io.Writer) {
	switch {
	case stderr == nil:
		return stdout, said
	case same(stdout, stderr):
		both := io.MultiWriter(stdout, said)
		return both, both
	}
	return stdout, io.MultiWriter(stderr, said)
}

func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // of types that cannot be compared
	return a == b
}

// closers are files to be closed when bwrap has them.
type closers struct {
	files []*os.File
	err   error
}

func (c *closers) close() {
	for _, f := range c.files {
		_ = f.Close()
	}
}

// keep takes a file out of those to be closed.
func (c *closers) keep(f *os.File) {
	c.files = slices.DeleteFunc(c.files, func(o *os.File) bool { return o == f })
}

func (c *closers) pipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	c.err = errors.Join(c.err, err)
	c.files = append(c.files, r, w)
	return r, w
}

// memory is a file that holds some bytes and has no name.
func (c *closers) memory(name string, content []byte) *os.File {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		c.err = errors.Join(c.err, fmt.Errorf("make a file in memory: %w", err))
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	c.files = append(c.files, f)
	_, err = f.Write(content)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	c.err = errors.Join(c.err, err)
	return f
}
