package sqlite

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked")

// lock takes the lock of the open file, which the kernel frees when the last
// descriptor of this opening is closed: by us, or by the end of the process.
// Descriptors are not inherited by the programs we start.
func lock(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errLocked
	}
	return err
}

// locked reports whether somebody has the lock, without touching it.
func locked(f *os.File) (bool, error) {
	q := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &q)
	return q.Type != unix.F_UNLCK, err
}
