package workspace

import (
	"io/fs"
	"syscall"
)

// nonblock opens a pipe without waiting for its other end.
const nonblock = syscall.O_NONBLOCK

func statOf(info fs.FileInfo) stat {
	s := stat{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.ctime, s.inode = sys.Ctimespec.Nano(), sys.Ino
	}
	return s
}

func flush(string) error {
	syscall.Sync()
	return nil
}
