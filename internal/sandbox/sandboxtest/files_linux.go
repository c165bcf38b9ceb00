package sandboxtest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"conclave/internal/policy"
	"conclave/internal/sandbox"
)

// fileCases: ways to a file outside the place.
var fileCases = []testcase{
	{"outside cannot be read", confined, func(w *world) {
		box := w.open()
		for _, p := range []string{
			w.path("outside", "file"), "../outside/file", w.path("work") + "/../outside/file", w.path("work-evil", "file"), "../work-evil/file",
			"/proc/self/root" + w.path("outside", "file"), "/proc/self/cwd/../outside/file", "/proc/1/root" + w.path("outside", "file"),
			"/proc/" + strconv.Itoa(os.Getpid()) + "/root" + w.path("outside", "file"), "/proc/" + strconv.Itoa(os.Getpid()) + "/cwd/files_linux.go",
			"/proc/thread-self/root" + w.path("outside", "file"), "/dev/fd/3", "/dev/fd/9", "/etc/shadow",
		} {
			w.refused(box, "read", p)
		}
		w.refused(box, "list", w.path("outside"))
		w.refused(box, "list", w.path("work-evil"))
	}},
	{"outside cannot be written", confined, func(w *world) {
		box := w.open()
		for _, op := range [][]string{
			{"write", w.path("outside", "file"), "x"}, {"append", w.path("outside", "file"), "x"}, {"trunc", w.path("outside", "file")},
			{"write", "../outside/file", "x"}, {"append", w.path("work-evil", "file"), "x"},
			{"append", "/proc/self/root" + w.path("outside", "file"), "x"}, {"append", "/proc/1/root" + w.path("outside", "file"), "x"},
			{"unlink", w.path("outside", "file")}, {"rename", w.path("outside", "file"), "stolen"}, {"rename", "file", w.path("outside", "file")},
			{"openw", "/proc/sys/kernel/core_pattern"}, {"openw", "/proc/sysrq-trigger"}, {"openw", "/usr/bin/env"}, {"openw", "/etc/passwd"},
			{"write", "/usr/conclave-was-here", "x"}, {"write", "/etc/conclave-was-here", "x"},
		} {
			w.refused(box, op[0], op[1:]...)
		}
		w.does(box, "echo")
		w.holds(w.path("outside", "file"), secret)
		w.holds(w.path("work-evil", "file"), secret)
	}},
	{"links lead nowhere", confined, func(w *world) {
		box := w.open()
		w.does(box, "symlink", w.path("outside", "file"), "absolute")
		w.does(box, "symlink", "../outside", "relative")
		w.does(box, "symlink", "/proc/self/root"+w.path("outside"), "magic")
		w.does(box, "symlink", "/", "root")
		for _, p := range []string{"absolute", "relative/file", "magic/file", "root" + w.path("outside", "file")} {
			w.refused(box, "read", p)
			w.refused(box, "append", p, "x")
			w.refused(box, "link", p, "hard")
		}
		w.refused(box, "link", w.path("outside", "file"), "hard")
		w.refused(box, "link", "../outside/file", "hard")
		w.holds(w.path("outside", "file"), secret)
	}},
	{"home cannot be read", confined, func(w *world) {
		home := w.path("outside")
		w.Setenv("HOME", home)
		w.file(filepath.Join(home, ".ssh", "id"), secret)
		box := w.open()
		w.refused(box, "read", filepath.Join(home, ".ssh", "id"))
		if dir, err := os.UserConfigDir(); err == nil {
			w.refused(box, "list", dir)
		}
		w.refused(box, "list", "/root")
	}},
	{"read-only mounts", confined, func(w *world) {
		box := w.open()
		for _, op := range [][]string{
			{"write", w.path("ro", "new"), "x"}, {"append", w.path("ro", "file"), "x"}, {"trunc", w.path("ro", "file")},
			{"unlink", w.path("ro", "file")}, {"remove", w.path("ro", "dir")}, {"mkdir", w.path("ro", "made")},
			{"rename", w.path("ro", "file"), w.path("ro", "other")}, {"rename", "file", w.path("ro", "file")}, {"rename", w.path("ro", "file"), "file"},
			{"link", w.path("ro", "file"), "hard"}, {"link", "file", w.path("ro", "hard")}, {"openw", w.path("tool", "helper")},
			{"append", "/proc/self/root" + w.path("ro", "file"), "x"},
		} {
			w.refused(box, op[0], op[1:]...)
		}
		w.holds(w.path("ro", "file"), "read only")
		w.does(box, "symlink", w.path("ro", "file"), "way")
		w.refused(box, "append", "way", "x")
	}},
	{"modes and times of what is read-only", func(t Traits) bool { return t.Unconfined || t.Modes }, func(w *world) {
		box := w.open()
		w.refused(box, "chmod", w.path("ro", "file"), "777")
		w.refused(box, "chmod", w.path("ro"), "777")
		w.refused(box, "touch", w.path("ro", "file"))
		w.refused(box, "chmod", w.path("outside", "file"), "777")
	}},
	{"a mount that is one file", confined, func(w *world) {
		box := w.open(mount(policy.Mount{Path: w.path("outside", "file")}))
		if got := w.does(box, "read", w.path("outside", "file")); got != secret {
			w.Errorf("it reads %q", got)
		}
		w.refused(box, "append", w.path("outside", "file"), "x")
		w.exit(box, w.helper("write", w.path("outside", "other"), "x")) // its folder may be the box's own
		w.absent(w.path("outside", "other"))
	}},
	{"the innermost mount decides", func(t Traits) bool { return t.Unconfined || t.Crowded }, func(w *world) {
		w.file(w.path("work", "dir", "deep", "file"), "deepest")
		box := w.open(
			mount(policy.Mount{Path: w.path("work", "dir", "deep"), Write: true}),
			mount(policy.Mount{Path: w.path("work", "dir")}))
		w.does(box, "append", "file", "+")
		w.refused(box, "append", "dir/file", "+")
		w.refused(box, "write", "dir/new", "+")
		w.does(box, "append", "dir/deep/file", "+")
		w.refused(box, "rename", "dir", "other")
		w.holds(w.path("work", "dir", "file"), "deeper")
		w.holds(w.path("work", "dir", "deep", "file"), "deepest+")
	}},
	{"a mount that is not there", nil, func(w *world) {
		if _, err := w.try(mount(policy.Mount{Path: w.path("missing"), Write: true})); err == nil {
			w.Error("a box was opened with a mount that does not exist")
		} else if !strings.Contains(err.Error(), w.path("missing")) {
			w.Errorf("the error does not name it: %v", err)
		}
		w.absent(w.path("missing"))
	}},
	{"sockets outside", confined, func(w *world) {
		l, err := net.Listen("unix", shortSocket(w))
		w.check(err)
		defer l.Close()
		go echo(l)
		w.refused(w.open(), "dial", "unix", l.Addr().String())
		w.refused(w.open(func(s *sandbox.Spec) { s.Network = true }), "dial", "unix", l.Addr().String())
	}},
}

// shortSocket is a path outside the place that fits a socket address.
func shortSocket(w *world) string {
	dir, err := os.MkdirTemp("", "s")
	w.check(err)
	w.Cleanup(func() { w.check(os.RemoveAll(dir)) })
	return filepath.Join(dir, "s")
}
