package confine

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

const nowait = 0

// links is how many names an open file has.
func links(f *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}

// linksAt is how many names a file in a folder has.
func linksAt(dir *os.Root, name string, _ fs.FileInfo) (uint64, error) {
	f, err := openFile(dir, name, name, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return links(f)
}

// keep gives a new file the mode of an old one.
func keep(f *os.File, old fs.FileInfo) error { return f.Chmod(old.Mode().Perm()) }

// rename moves a name within a mount. Folders on the way are opened once more,
// inside the mount; there is no call that takes two open folders.
func rename(src, dst *spot) error {
	if src.mount != dst.mount {
		return refused(dst.abs, "%s is in another place than %s. Copy it instead.", dst.abs, src.abs)
	}
	from, err := filepath.Rel(src.mount.Path, src.abs)
	if err != nil {
		return err
	}
	to, err := filepath.Rel(dst.mount.Path, dst.abs)
	if err != nil {
		return err
	}
	return src.mount.root.Rename(from, to)
}
