//go:build unix

package confine_test

import (
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Pipes, sockets and devices are never opened: opening alone may wait for ever
// or do something.
func TestSpecialFiles(t *testing.T) {
	w := newWorld(t)
	if err := syscall.Mkfifo(w.path("ws/fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(w.path("ws")) // the name of a socket must be short
	l, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	special := map[string]string{"fifo": "a named pipe", "sock": "a socket"}
	if err := unix.Mknod("null", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		special["null"] = "a device"
	}
	for name, kind := range special {
		_, err := w.ReadFile(name, 10)
		for what, err := range map[string]error{"read": err, "write": w.WriteFile(name, nil), "copy": w.Copy(name, "copy"), "copy over": w.Copy("a.txt", name)} {
			if err == nil || !strings.Contains(err.Error(), kind) {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
		if info, err := w.Lstat(name); err != nil || info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// While a folder and a link out are swapped again and again under the same name,
// nothing outside changes, nor does anything that is protected, and nothing from
// there is read. The swap is one step, so both are met.
func TestSwappedFolders(t *testing.T) {
	for _, to := range []string{"../out", "keep", "hidden", ".git", "inner"} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("out/x.txt", "outside")
			for _, dir := range []string{"ws/keep", "ws/hidden", "ws/.git", "ws/inner"} {
				w.put(dir+"/x.txt", "outside")
			}
			w.put("ws/d/x.txt", "inside")
			w.link(to, "ws/e")
			stop := make(chan struct{})
			end := sync.OnceFunc(func() { close(stop) })
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if err := exchange(w.path("ws/d"), w.path("ws/e")); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
			defer wg.Wait()
			defer end()
			rounds, written := 500, 0
			if to == "../out" && !raced {
				rounds = 5_000 // of two writes and more
			}
			for i := range rounds {
				if w.WriteFile("d/x.txt", []byte("inside")) == nil {
					written++
				}
				w.WriteFile("d/new.txt", []byte("inside"))
				w.MkdirAll("d/deep/er")
				w.Rename("d/new.txt", "d/moved.txt")
				w.Remove("d/moved.txt")
				w.RemoveAll(t.Context(), "d/deep")
				got, err := w.ReadFile("d/x.txt", 100)
				// What is protected may be read.
				if err == nil && string(got) != "inside" && to != "keep" && to != ".git" {
					t.Fatalf("round %d read %q", i, got)
				}
			}
			end()
			wg.Wait()
			if written == 0 {
				t.Error("nothing was ever written")
			}
			at := strings.TrimPrefix(to, "../")
			if at != "out" {
				at = "ws/" + at
			}
			w.holds(at+"/x.txt", "outside")
			entries, err := os.ReadDir(w.path(at))
			if err != nil || len(entries) != 2 {
				t.Errorf("%s holds %v, %v", at, entries, err)
			}
		})
	}
}
