package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Server offers a hub on a unix socket that only this user can open.
type Server struct {
	ln  net.Listener
	dir string
	hub *Hub
	wg  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once closed
}

// Serve opens a socket in a private directory of its own. Its path is short:
// the kernel takes no more than about a hundred bytes.
func Serve(hub *Hub) (*Server, error) {
	dir, err := os.MkdirTemp(runtimeDir(), "conclave-")
	if err != nil {
		return nil, fmt.Errorf("live socket: %w", err)
	}
	ln, err := net.Listen("unix", filepath.Join(dir, "live"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("live socket: %w", err), os.RemoveAll(dir))
	}
	s := &Server{ln: ln, dir: dir, hub: hub, conns: map[net.Conn]bool{}}
	s.wg.Go(s.accept)
	return s, nil
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
	return errors.Join(err, os.RemoveAll(s.dir))
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
