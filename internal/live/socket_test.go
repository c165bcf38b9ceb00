package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve is a server with its socket in a directory of the test's.
func serve(t *testing.T, h *Hub) *Server {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s, err := Serve(h)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// join dials and returns once what is published is heard. The function it
// returns waits for Dial to end and gives what was heard.
func join(ctx context.Context, h *Hub, addr string, more func(Delta) bool) (wait func() ([]string, error)) {
	before := listeners(h)
	var got []string
	done := make(chan error, 1)
	go func() {
		done <- Dial(ctx, addr, func(d Delta) bool {
			got = append(got, d.Text)
			return more(d)
		})
	}()
	for listeners(h) == before {
		runtime.Gosched()
	}
	return func() ([]string, error) { err := <-done; return got, err }
}

func listeners(h *Hub) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners)
}

func always(Delta) bool { return true }

// What is published reaches every process that listens, in order and whole.
func TestServeAndDial(t *testing.T) {
	var h Hub
	s := serve(t, &h)
	var waits []func() ([]string, error)
	for range 3 {
		waits = append(waits, join(t.Context(), &h, s.Addr(), func(d Delta) bool { return d.Text != "end" }))
	}
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("%d \n <&> \u2028", i))
	}
	want = append(want, "end")
	for _, text := range want {
		h.Publish(Delta{Flow: "run-1", Agent: "a", Kind: Thinking, Text: text})
	}
	for i, wait := range waits {
		got, err := wait()
		if err != nil {
			t.Errorf("dialer %d: %v", i, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dialer %d: %s", i, diff)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Whoever dials in the middle hears what is being said from its beginning.
func TestDialInTheMiddle(t *testing.T) {
	var h Hub
	s := serve(t, &h)
	defer s.Close()
	for _, text := range []string{"Once ", "upon ", "a "} {
		h.Publish(Delta{Flow: "run-1", Agent: "a", Call: 1, Kind: Text, Text: text})
	}
	h.Publish(Delta{Flow: "run-1", Agent: "b", Call: 1, Kind: Text, Text: "over"})
	h.Publish(Delta{Flow: "run-1", Agent: "b", Call: 1, Kind: End})
	wait := join(t.Context(), &h, s.Addr(), func(d Delta) bool { return d.Text != "time" })
	h.Publish(Delta{Flow: "run-1", Agent: "a", Call: 1, Kind: Text, Text: "time"})
	got, err := wait()
	if diff := cmp.Diff([]string{"Once upon a ", "time"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// The end of the server or of the context ends listening without an error; where
// there is no server there is one.
func TestListeningEnds(t *testing.T) {
	var h Hub
	s := serve(t, &h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := join(ctx, &h, s.Addr(), always)
	stayed := join(t.Context(), &h, s.Addr(), always)
	cancel()
	if _, err := left(); err != nil {
		t.Errorf("after the context ended: %v", err)
	}
	if err := Dial(ctx, s.Addr(), always); err != nil {
		t.Errorf("with a context that has ended: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := stayed(); err != nil {
		t.Errorf("after the server closed: %v", err)
	}
	if err := Dial(t.Context(), s.Addr(), always); err == nil {
		t.Error("there is a server after it was closed")
	}
	if n := listeners(&h); n > 0 {
		t.Errorf("%d listeners are left", n)
	}
}

// The socket is in a directory that nobody else can enter and goes with the
// server, and so do those that killed servers left there; its path is short
// enough for any system.
func TestSocketIsPrivate(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir, err := privateDir()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "killed"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := Serve(&Hub{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s, err := Serve(&Hub{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v", info.Mode())
	}
	if n := len(s.Addr()) - len(os.Getenv("XDG_RUNTIME_DIR")); n > 40 {
		t.Errorf("the socket's own part of its path has %d bytes", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(other.Addr()) {
		t.Errorf("left in the directory: %v %v", left, err)
	}
}

// A directory of somebody else's making is not used.
func TestSocketNotInForeignDirectory(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := os.Mkdir(filepath.Join(runtimeDir(), fmt.Sprintf("conclave-%d", os.Getuid())), 0o777); err != nil {
		t.Fatal(err)
	}
	if s, err := Serve(&Hub{}); err == nil {
		s.Close()
		t.Error("a directory that others can enter was used")
	}
}

// pipes is a listener of connections in memory, on which time can be made up.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// A listener that does not read is dropped after a while; until then it costs
// the others nothing.
func TestSlowListenerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		p := make(pipes)
		s := &Server{ln: p, hub: &h, conns: map[net.Conn]bool{}}
		s.wg.Go(s.accept)
		dial := func() net.Conn {
			ours, theirs := net.Pipe()
			p <- theirs
			synctest.Wait()
			return ours
		}
		deaf, fine := dial(), dial()
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for sc := bufio.NewScanner(fine); sc.Scan(); {
				got = append(got, sc.Text())
			}
		}()
		began := time.Now()
		for range 20 {
			h.Publish(Delta{Text: "x"})
			<-time.After(time.Second)
		}
		// One byte may have been taken; then there is nothing but the end.
		if _, err := io.ReadAll(deaf); err != nil || time.Since(began) != 20*time.Second {
			t.Errorf("the deaf listener's end: %v after %v", err, time.Since(began))
		}
		if n := listeners(&h); n != 1 {
			t.Errorf("%d listeners are left", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
		if len(got) != 20 {
			t.Errorf("the other listener got %d of 20 deltas", len(got))
		}
	})
}

// lines is a server that says what it is told to, whatever that is.
func lines(t *testing.T, text string) string {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := ln.Accept(); err == nil {
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

// What makes no sense is an error. A line that ends with the connection is a
// server that went away in the middle of it.
func TestGarbage(t *testing.T) {
	good := `{"flow":"run-1","agent":"a","text":"x"}` + "\n"
	for _, tt := range []struct {
		name, text string
		heard      int
		ok         bool
	}{
		{"nothing", "", 0, true},
		{"good", good + good, 2, true},
		{"garbage", good + "garbage\n" + good, 1, false},
		{"another kind", "[1]\n", 0, false},
		{"empty line", "\n", 0, false},
		{"no end of a line", strings.Repeat("x", maxLine+1), 0, false},
		{"cut", good + good[:20], 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			heard := 0
			err := Dial(t.Context(), lines(t, tt.text), func(d Delta) bool { heard++; return true })
			if heard != tt.heard || (err == nil) != tt.ok {
				t.Errorf("heard %d deltas, then %v", heard, err)
			}
		})
	}
}
