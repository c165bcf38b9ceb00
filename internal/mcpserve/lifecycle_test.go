package mcpserve

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
)

// piped has a server serve on two pipes, as a client that starts it does.
func piped(t *testing.T, w *world, o Options) (c *sdk.ClientSession, end func() error) {
	t.Helper()
	s, err := New(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Stdio(ctx, in, out) }()
	c, err = sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for _, p := range []io.Closer{in, toServer, fromServer, out} {
			_ = p.Close()
		}
		_ = c.Close()
	})
	return c, func() error {
		cancel()
		err := <-served
		_ = out.Close() // as the process does that ends
		return err
	}
}

// A server that is told to end does so at once, whoever waits for what; no run is
// ended by it, and what goes on is handed over.
func TestEndsWhileCalled(t *testing.T) {
	for name, start := range map[string]func(*testing.T, *world) (*sdk.ClientSession, func() error){
		"pipe": func(t *testing.T, w *world) (*sdk.ClientSession, func() error) { return piped(t, w, Options{}) },
		"2025-11-25": func(t *testing.T, w *world) (*sdk.ClientSession, func() error) {
			url, _, end := listening(t, w, Options{})
			return overHTTP(t, url, "2025-11-25", nil), end
		},
		"2026-07-28": func(t *testing.T, w *world) (*sdk.ClientSession, func() error) {
			url, _, end := listening(t, w, Options{})
			return overHTTP(t, url, "2026-07-28", nil), end
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.ends = make(chan event.Status)
			c, end := start(t, w)
			called := make(chan error, 1)
			go func() {
				_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "launch_run", Arguments: simple})
				called <- err
			}()
			w.until(t, "session-1", kindOf[event.Launched])
			if err := end(); err != nil {
				t.Error(err)
			}
			if err := <-called; err == nil {
				t.Error("the call came to something")
			}
			if d := cmp.Diff([]event.FlowID{"session-1"}, w.background); d != "" {
				t.Error(d)
			}
			if w.withdrawn() {
				t.Error("the run was ended")
			}
		})
	}
}
