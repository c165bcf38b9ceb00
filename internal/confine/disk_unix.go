//go:build unix

package confine

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nowait keeps opening from waiting, and from taking a terminal.
const nowait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// links is how many names an open file has.
func links(f *os.File) (uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return linksOf(info)
}

// linksAt is how many names a file in a folder has.
func linksAt(_ *os.Root, _ string, info fs.FileInfo) (uint64, error) { return linksOf(info) }

func linksOf(info fs.FileInfo) (uint64, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("the number of its names cannot be told")
	}
	return uint64(st.Nlink), nil
}

// keep gives a new file the mode of an old one, and its owner if we may.
func keep(f *os.File, old fs.FileInfo) error {
	if st, ok := old.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(old.Mode().Perm())
}

// rename moves a name from one open folder to another.
func rename(src, dst *spot) error {
	from, err := src.dir.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.dir.Open(".")
	if err != nil {
		return err
	}
	defer to.Close()
	err = unix.Renameat(int(from.Fd()), src.base, int(to.Fd()), dst.base)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: src.abs, New: dst.abs, Err: err}
	}
	return nil
}
