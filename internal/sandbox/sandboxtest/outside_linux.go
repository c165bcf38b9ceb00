package sandboxtest

import (
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"github.com/creack/pty"

	"conclave/internal/proc"
	"conclave/internal/sandbox"
)

// outsideCases: what is not a file.
var outsideCases = []testcase{
	{"no network", confined, func(w *world) {
		box := w.open()
		for _, s := range servers(w) {
			w.refused(box, "dial", s.network, s.address)
		}
	}},
	{"network", func(t Traits) bool { return t.OwnLoopback }, func(w *world) {
		box := w.open(func(s *sandbox.Spec) { s.Network = true })
		for _, s := range servers(w) {
			if s.network == "tcp" || s.network == "udp" {
				w.does(box, "dial", s.network, s.address)
			}
		}
	}},
	{"sockets among themselves", func(t Traits) bool { return t.Unconfined || t.NoUnix }, func(w *world) {
		box := w.open()
		w.does(box, "listen", "unix", "s")
		w.does(box, "listen", "tcp", "127.0.0.1:0")
	}},
	{"other processes", confined, func(w *world) {
		pid := victim(w)
		box := w.open()
		w.refused(box, "kill", pid)
		w.refused(box, "kill", strconv.Itoa(os.Getpid()))
		w.refused(box, "mem", pid)
		for _, p := range []string{"/environ", "/mem", "/maps", "/root" + w.path("outside", "file"), "/cwd/file"} {
			w.refused(box, "read", "/proc/"+pid+p)
		}
	}},
	{"system calls", confined, func(w *world) {
		pid := victim(w)
		for _, network := range []bool{false, true} {
			box := w.open(func(s *sandbox.Spec) { s.Network = network })
			for _, name := range callNames() {
				if !slices.Contains(w.traits.Calls, name) {
					w.refused(box, "call", name, pid)
				}
			}
		}
	}},
	{"nothing can be gained", confined, func(w *world) {
		box := w.open()
		w.does(box, "locked")
		w.does(box, "write", "program", "#!/bin/sh\n")
		for _, mode := range []string{"4755", "2755", "6755"} {
			if !slices.Contains(w.traits.Calls, "setuid") {
				w.refused(box, "chmod", "program", mode)
			}
		}
		w.does(box, "chmod", "program", "755")
	}},
	{"the terminal", confined, func(w *world) {
		ours, theirs, err := pty.Open()
		w.check(err)
		defer ours.Close()
		defer theirs.Close()
		box := w.open()
		keep := proc.NewCapture(1<<10, 0)
		p, err := box.Start(w.Context(), sandbox.Command{Argv: w.helper("push"), Stdin: theirs, Stderr: keep})
		w.check(err)
		if exit, err := p.Wait(); err != nil || exit != denied {
			w.Errorf("typing into the terminal ended with %d (%v): %s", exit, err, keep)
		}
	}},
}

// limitCases: what is bounded.
var limitCases = []testcase{
	{"memory", func(t Traits) bool { return t.NoMemory }, func(w *world) {
		box := w.open(func(s *sandbox.Spec) { s.Limits.Memory = 256 << 20 })
		w.does(box, "alloc", strconv.Itoa(16<<20))
		if exit := w.exit(box, w.helper("alloc", strconv.Itoa(1<<30))); exit == 0 {
			w.Error("a process got four times its memory")
		}
		w.does(box, "echo")
	}},
	{"processes", func(t Traits) bool { return t.NoProcs }, func(w *world) {
		box := w.open(func(s *sandbox.Spec) { s.Limits.Procs = 40 })
		w.does(box, "procs", "1")
		if exit := w.exit(box, w.helper("procs", "60")); exit == 0 {
			w.Error("sixty processes were started where forty may be")
		}
		w.does(box, "echo")
	}},
	{"what cannot be held is refused", nil, func(w *world) {
		for _, limit := range []struct {
			not bool
			set func(*sandbox.Limits)
		}{
			{w.traits.NoMemory, func(l *sandbox.Limits) { l.Memory = 1 << 30 }},
			{w.traits.NoProcs, func(l *sandbox.Limits) { l.Procs = 100 }},
		} {
			_, err := w.try(func(s *sandbox.Spec) { limit.set(&s.Limits) })
			if (err != nil) != limit.not {
				w.Errorf("a limit that is not held: %v; opening a box says %v", limit.not, err)
			}
		}
	}},
}

type server struct{ network, address string }

// servers listen outside the box and give back what they get.
func servers(w *world) []server {
	var out []server
	for _, s := range []server{{"tcp", "127.0.0.1:0"}, {"unix", "@conclave-test-" + strconv.Itoa(os.Getpid())}} {
		l, err := net.Listen(s.network, s.address)
		w.check(err)
		w.Cleanup(func() { _ = l.Close() })
		go echo(l)
		out = append(out, server{s.network, l.Addr().String()})
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	w.check(err)
	w.Cleanup(func() { _ = u.Close() })
	go func() {
		b := make([]byte, 64)
		for {
			n, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = u.WriteTo(b[:n], from)
		}
	}()
	return append(out, server{"udp", u.LocalAddr().String()})
}

// victim is a process outside the box.
func victim(w *world) string {
	c := exec.Command(w.path("tool", "helper"), helperArg, "cat")
	c.Dir = w.path("outside")
	c.Env = []string{"SECRET=" + secret}
	in, err := c.StdinPipe()
	w.check(err)
	out, err := c.StdoutPipe()
	w.check(err)
	w.check(c.Start())
	w.Cleanup(func() {
		w.check(in.Close())
		w.check(c.Wait())
	})
	_, err = io.WriteString(in, "up")
	w.check(err)
	_, err = io.ReadFull(out, make([]byte, 2))
	w.check(err)
	return strconv.Itoa(c.Process.Pid)
}
