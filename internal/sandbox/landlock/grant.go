//go:build linux

package landlock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"conclave/internal/policy"
	"conclave/internal/sandbox/internal/system"
)

// devices are what every command may use of /dev.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// restrict gives up all rights but those of an order. Nothing is done by best
// effort: a kernel that cannot hold it fails.
func restrict(o order) error {
	g := granter{place: o.Place}
	defer g.close()
	for _, path := range slices.Concat(system.Paths, []string{"/proc"}) {
		g.known(path, false)
	}
	for _, path := range devices {
		g.known(path, true)
	}
	for _, path := range o.Own {
		g.known(path, true)
	}
	for _, m := range o.Place.Mounts {
		if err := g.mount(m); err != nil {
			return err
		}
	}
	if !o.Network {
		if err := landlock.V6.Restrict(g.rules...); err != nil {
			return fmt.Errorf("give up rights: %w", err)
		}
		return nil
	}
	if err := errors.Join(landlock.V6.RestrictPaths(g.rules...), landlock.V6.RestrictScoped()); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	return nil
}

// granter turns a place into rules about open files: a name could lead
// elsewhere by the time the kernel looks at it.
type granter struct {
	place policy.Place
	open  []int
	rules []landlock.Rule
}

func (g *granter) close() {
	for _, fd := range g.open {
		_ = unix.Close(fd)
	}
}

// known grants a path that nobody in a box can change, if it exists.
func (g *granter) known(path string, write bool) {
	if fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
		g.open = append(g.open, fd)
		_ = g.grant(fd, write)
	}
}

// grant adds a rule about an open file or folder. Links are nobody's.
func (g *granter) grant(fd int, write bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at what is granted: %w", err)
	}
	name := fmt.Sprintf("/proc/self/fd/%d", fd)
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
	case kind == unix.S_IFDIR && write:
		g.rules = append(g.rules, landlock.RWDirs(name).WithRefer())
	case kind == unix.S_IFDIR:
		g.rules = append(g.rules, landlock.RODirs(name))
	case write:
		g.rules = append(g.rules, landlock.RWFiles(name))
	default:
		g.rules = append(g.rules, landlock.ROFiles(name))
	}
	return nil
}

// mount grants what a mount consists of.
func (g *granter) mount(m policy.Mount) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, m.Path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return fmt.Errorf("put %s into the box, through no link: %w", m.Path, err)
	}
	g.open = append(g.open, fd)
	return g.below(fd, m.Path, m)
}

// below grants an open file or folder of a mount. Rights of a folder hold for
// all below it, so where something inside has fewer, its children are granted
// one by one.
func (g *granter) below(fd int, path string, m policy.Mount) error {
	fewer := g.fewer(m)
	inside := func(e exception) bool { return strings.HasPrefix(e.path, path+"/") }
	if !slices.ContainsFunc(fewer, inside) {
		return g.grant(fd, m.Write)
	}
	if !slices.ContainsFunc(fewer, func(e exception) bool { return inside(e) && !e.read }) {
		// All inside can be read at least.
		if err := g.grant(fd, false); err != nil {
			return err
		}
	}
	names, err := children(fd)
	if err != nil {
		return fmt.Errorf("list %s: %w", path, err)
	}
	for _, name := range names {
		child := filepath.Join(path, name)
		if slices.ContainsFunc(fewer, func(e exception) bool { return e.path == child && !e.read }) {
			continue
		}
		one := m
		if slices.ContainsFunc(fewer, func(e exception) bool { return e.path == child }) {
			one.Write = false
		}
		at, err := unix.Openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", child, err)
		}
		g.open = append(g.open, at)
		if err := g.below(at, child, one); err != nil {
			return err
		}
	}
	return nil
}

// exception is a path inside a mount that has fewer rights than the mount.
type exception struct {
	path string
	read bool // it can be read
}

func (g *granter) fewer(m policy.Mount) []exception {
	var out []exception
	for _, path := range m.Hidden {
		// What is not there needs no hiding, and would cost the listing of its
		// folder. Nobody in the box can make it: that is for Protected to say.
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			out = append(out, exception{path: path})
		}
	}
	if !m.Write {
		return out
	}
	for _, path := range m.Protected {
		out = append(out, exception{path: path, read: true})
	}
	for _, other := range g.place.Mounts {
		if !other.Write && strings.HasPrefix(other.Path, m.Path+"/") {
			out = append(out, exception{path: other.Path, read: true})
		}
	}
	return out
}

// children are the names in an open folder.
func children(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	d := os.NewFile(uintptr(again), "folder")
	defer d.Close()
	return d.Readdirnames(-1)
}
