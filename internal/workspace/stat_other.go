//go:build !linux && !darwin

package workspace

import "io/fs"

const nonblock = 0

// statOf takes the time of writing for that of changing, where there is no other.
func statOf(info fs.FileInfo) stat {
	m := info.ModTime().UnixNano()
	return stat{size: info.Size(), mtime: m, ctime: m}
}

func flush(string) error { return nil }
