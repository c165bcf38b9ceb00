// Package pgtest starts a real PostgreSQL server for tests.
//
//	server := pgtest.Start(t) // skips the test where there is none
//	server.Address("reader", "postgres")
//
// The server listens on a unix socket and nowhere else, keeps its data in a
// directory of the test and ends with it. It does not run as root: a test that
// does starts it as nobody. A test is skipped where PostgreSQL is missing, and
// fails if CI is true.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Admin is the superuser of the server. Everybody may connect as anybody.
const Admin = "admin"

// nobody is the user who owns nothing.
const nobody = 65534

// A Server is a running PostgreSQL.
type Server struct {
	t   testing.TB
	bin string
	dir string
	uid int // who it runs as, if not whoever runs the test
}

// Start starts a server for a test.
func Start(t testing.TB) *Server {
	t.Helper()
	bin, err := find()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	s := &Server{t: t, bin: bin}
	// The path of a socket has to be short, and nobody has to get to it.
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(s.dir); err != nil {
			t.Error(err)
		}
	})
	if os.Getuid() == 0 {
		s.uid = nobody
		if err := os.Chown(s.dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	s.init()
	s.run()
	return s
}

// find is the directory of the programs of the newest PostgreSQL.
func find() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	slices.Sort(found)
	if path, err := exec.LookPath("postgres"); err == nil && len(found) == 0 {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is missing: install postgresql")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + s.dir}
	cmd.SysProcAttr = attributes(s.uid)
	return cmd
}

func (s *Server) init() {
	s.t.Helper()
	out, err := s.command("initdb", "--pgdata", "data", "--username", Admin, "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync", "--no-instructions").CombinedOutput()
	if err != nil {
		s.t.Fatalf("initdb: %v\n%s", err, out)
	}
}

// run starts the server and waits until it says that it is ready.
func (s *Server) run() {
	s.t.Helper()
	cmd := s.command("postgres", "-D", "data", "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=20", "-c", "shared_buffers=16MB")
	log, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	var said []string // valid after ended
	go func() {
		defer close(ended)
		said = follow(log, ready)
		_ = cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // a fast shutdown: clients are cut off
		<-ended
		if s.t.Failed() {
			s.t.Logf("PostgreSQL: %s", strings.Join(said, "\n"))
		}
	})
	select {
	case <-ready:
	case <-ended:
		s.t.Fatalf("PostgreSQL ended: %s", strings.Join(said, "\n"))
	}
}

// follow reads a log, says when the server is ready and returns its last lines.
func follow(log io.Reader, ready chan<- struct{}) []string {
	var last []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if ready != nil && strings.Contains(lines.Text(), "ready to accept connections") {
			close(ready)
			ready = nil
		}
		last = append(last, lines.Text())
		last = last[max(0, len(last)-30):]
	}
	_, _ = io.Copy(io.Discard, log)
	return last
}

// Address is how a user reaches a database of the server.
func (s *Server) Address(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode()}
	return u.String()
}

// Exec runs statements as the superuser, in the database postgres.
func (s *Server) Exec(statements string) {
	s.t.Helper()
	s.Rows(statements)
}

// Rows is what the last of some statements returns, cells joined by |.
func (s *Server) Rows(statements string) []string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, s.Address(Admin, "postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		if err := c.Close(ctx); err != nil {
			s.t.Error(err)
		}
	}()
	results, err := c.Exec(ctx, statements).ReadAll()
	if err != nil {
		s.t.Fatal(fmt.Errorf("%s: %w", statements, err))
	}
	var out []string
	for _, row := range results[len(results)-1].Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, string(v))
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}
