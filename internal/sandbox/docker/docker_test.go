//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"conclave/internal/sandbox"
	"conclave/internal/sandbox/docker/dockertest"
	"conclave/internal/sandbox/sandboxtest"
)

// The engine all tests share; it is started when it is first asked for.
var daemon = sync.OnceValues(func() (*dockertest.Daemon, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return dockertest.Start(self)
})

// started is whether it was.
var started bool

// leaveArg is what the test binary is started with to be killed.
const leaveArg = "leave"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == leaveArg {
		leave(os.Args[2], os.Args[3])
	}
	if len(os.Args) > 2 && !strings.HasPrefix(os.Args[1], "-") {
		sandboxtest.Main(m) // in a box
	}
	code := m.Run()
	if started {
		if err := tearDown(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// tearDown stops the engine, in which nothing may be left.
func tearDown() error {
	d, err := daemon()
	if err != nil {
		return nil
	}
	left, err := d.Left(context.Background())
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("containers are left: %q", left)
	}
	return errors.Join(err, d.Stop())
}

// host is where the engine listens.
func host(t testing.TB) string {
	t.Helper()
	started = true
	d, err := daemon()
	switch {
	case errors.Is(err, dockertest.ErrMissing) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return d.Host()
}

// engine is one for a test. The network is the machine's: the engine has no
// other.
func engine(t testing.TB) *Engine {
	t.Helper()
	e := New(Options{Host: host(t), Image: dockertest.Image, Network: "host", Boxes: t.TempDir()})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestDocker(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T) sandbox.Engine { return engine(t) }, sandboxtest.Traits{
		// Docker's own filter lets these through: the first two find nobody, the
		// next two no newer one does, and the last has no effect in a box.
		Calls: []string{"ptrace", "process_vm", "io_uring", "vsock", "setuid"},
	})
}
