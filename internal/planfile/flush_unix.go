//go:build !windows

package planfile

import "os"

func flush(dir *os.File) error { return dir.Sync() }
