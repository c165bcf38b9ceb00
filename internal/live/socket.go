package live

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A Server offers a hub on a unix socket that only this user can open.
type Server struct {
	ln  net.Listener
	hub *Hub
	wg  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once closed
}

// Serve opens a socket in a directory that only this user can enter, and removes
// those that servers which were killed have left there. Its path is short: the
// kernel takes no more than about a hundred bytes.
func Serve(hub *Hub) (*Server, error) {
	dir, err := privateDir()
	if err != nil {
		return nil, fmt.Errorf("live socket: %w", err)
	}
	sweep(dir)
	path := filepath.Join(dir, rand.Text()[:10])
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("live socket: %w", err)
	}
	s := &Server{ln: ln, hub: hub, conns: map[net.Conn]bool{}}
	s.wg.Go(s.accept)
	return s, nil
}

// privateDir makes sure of a directory that is ours alone. In a shared place
// somebody else may have made one of that name: then it is not used.
func privateDir() (string, error) {
	dir := filepath.Join(runtimeDir(), fmt.Sprintf("conclave-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !ok || int(st.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a private directory of this user", dir)
	}
	return dir, nil
}

// sweep removes sockets that nobody listens on: a killed process leaves its own.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			_ = c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path)
		}
	}
}

func runtimeDir() string {
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		if i, err := os.Stat(d); err == nil && i.IsDir() {
			return d
		}
	}
	return os.TempDir()
}

// Addr is what Dial takes.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Close ends every listener, which tells them that the driver is gone.
func (s *Server) Close() error {
	err := s.ln.Close()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.wg.Wait()
	return err
}

func (s *Server) accept() {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.conns == nil {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.conns[c] = true
		s.mu.Unlock()
		s.wg.Go(func() { s.send(c) })
	}
}

// stall is how long a listener may take to accept a delta before it is dropped.
const stall = 5 * time.Second

func (s *Server) send(c net.Conn) {
	deltas, stop := s.hub.Listen()
	// A listener never speaks: a read returns when either side closes.
	s.wg.Go(func() {
		_, _ = io.Copy(io.Discard, c)
		stop()
	})
	enc := json.NewEncoder(c)
	for d := range deltas {
		_ = c.SetWriteDeadline(time.Now().Add(stall))
		if enc.Encode(d) != nil {
			break
		}
	}
	stop()
	_ = c.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// maxLine bounds what Dial takes for one delta.
const maxLine = 1 << 20

// Dial listens to a server until ctx ends, the server is gone or f returns
// false. It returns nil in each of these cases; an error means that there was
// nobody to listen to or that what came made no sense.
func Dial(ctx context.Context, addr string, f func(Delta) bool) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", addr)
	if ctx.Err() != nil {
		if err == nil {
			_ = c.Close()
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen to the driver: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer c.Close()
	sc := bufio.NewScanner(c)
	sc.Buffer(nil, maxLine)
	sc.Split(wholeLines)
	for sc.Scan() {
		var d Delta
		if err := json.Unmarshal(sc.Bytes(), &d); err != nil {
			return fmt.Errorf("listen to the driver: %w", err)
		}
		if !f(d) {
			return nil
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("listen to the driver: %w", sc.Err())
	}
	return nil
}

// wholeLines is a bufio.SplitFunc that leaves out a last line without an end:
// its writer went away in the middle of it.
func wholeLines(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}
