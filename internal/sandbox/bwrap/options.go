//go:build linux

package bwrap

import (
	"io/fs"
	"os"
	"strings"

	"conclave/internal/sandbox/internal/layout"
	"conclave/internal/sandbox/internal/system"
)

// kernel are parts of /proc that are the machine's and not a process's.
var kernel = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/mtrr", "/proc/driver", "/proc/fs"}

const (
	home = "/home/agent"
	tmp  = "/tmp"
)

// arguments are the options of bwrap for a layout.
func arguments(items []layout.Item, empty string) []string {
	var out, after []string
	for _, i := range items {
		switch i.What {
		case layout.Pin, layout.Write:
			out = append(out, "--bind", i.Path, i.Path)
		case layout.Read:
			out = append(out, "--ro-bind", i.Path, i.Path)
		case layout.Blank:
			out = append(out, "--ro-bind", empty, i.Path)
		case layout.Conceal:
			// Made read-only when all that is brought back has its place in it.
			out = append(out, "--tmpfs", i.Path)
			after = append(after, "--remount-ro", i.Path)
		}
	}
	return append(out, after...)
}

// machine are the options of bwrap for what every box has.
func machine() []string {
	var out []string
	for _, path := range system.Paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if to, err := os.Readlink(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !strings.HasPrefix(path, "/etc/") {
			out = append(out, "--symlink", to, path)
			continue
		}
		out = append(out, "--ro-bind-try", path, path)
	}
	out = append(out, "--proc", "/proc", "--dev", "/dev")
	// Settings of the kernel belong to whoever is root outside, by name alone.
	for _, path := range kernel {
		out = append(out, "--ro-bind-try", path, path)
	}
	return out
}
