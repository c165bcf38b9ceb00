package mcpserve

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

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

// A client finds its run again after its server was started anew, whoever else the
// server before had served.
func TestSecondClientReturns(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	url, _, end := listening(t, w, Options{Wait: time.Millisecond})
	use(t, overHTTP(t, url, "", nil), "launch_run", map[string]any{"task": "something else"})
	second := func(url string) *sdk.ClientSession {
		tr := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{&http.Transport{DisableKeepAlives: true}}}}
		c, err := sdk.NewClient(&sdk.Implementation{Name: "another", Version: "1"}, nil).Connect(t.Context(), tr, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	want := use(t, second(url), "launch_run", simple)["want"]
	if err := end(); err != nil {
		t.Fatal(err)
	}
	url, _, _ = listening(t, w, Options{Wait: time.Millisecond})
	if got := use(t, second(url), "launch_run", simple); got["want"] != want {
		t.Errorf("got %v, not %v", got, want)
	}
}

// A question that a server has left behind is taken up by the next one, for whoever
// asks what became of it.
func TestWantLeftBehind(t *testing.T) {
	for _, tool := range []string{"get_run", "cancel_run", "launch_run"} {
		t.Run(tool, func(t *testing.T) {
			w := newWorld()
			w.approve = true
			tr, _, end := serve(t, w, Options{Wait: time.Millisecond})
			want := use(t, connect(t, tr, nil), "launch_run", simple)["want"]
			g := w.until(t, "session-1", kindOf[event.Asked]).Body.(event.Asked)
			if err := end(); err != nil || len(w.background) != 0 {
				t.Fatal(err, w.background)
			}
			tr, _, _ = serve(t, w, Options{})
			c := connect(t, tr, nil)
			args, status := map[string]any{"run_id": want, "wait": 60}, "success"
			switch tool {
			case "cancel_run":
				args, status = map[string]any{"run_id": want}, "cancelled"
			case "launch_run":
				args = simple
			}
			if tool != "cancel_run" { // somebody approves it before anybody drives it
				if err := w.Send(t.Context(), "session-1", event.Fact{ID: "r", Body: event.Replied{Gate: g.Gate, Choice: event.LaunchApprove, Revision: g.Revision}}); err != nil {
					t.Fatal(err)
				}
			}
			if got := use(t, c, tool, args); got["status"] != status {
				t.Errorf("got %v", got)
			}
			if w.sessions != 1 {
				t.Errorf("%d sessions", w.sessions)
			}
		})
	}
}

// A run that came to its end while no server was there is owed to whoever wanted
// it: an identical call gives its result, once.
func TestEndedMeanwhile(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	tr, _, end := serve(t, w, Options{Wait: time.Millisecond})
	use(t, connect(t, tr, nil), "launch_run", simple)
	run := string(w.until(t, "session-1", kindOf[event.Launched]).Body.(event.Launched).Run)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	stop := w.drives(t, "session-1")
	w.ends <- event.StatusSuccess
	w.until(t, "session-1", kindOf[event.Returned])
	stop()
	tr, _, _ = serve(t, w, Options{Wait: time.Millisecond})
	c := connect(t, tr, nil)
	if got := use(t, c, "launch_run", simple); got["status"] != "success" || got["run_id"] != run {
		t.Errorf("got %v", got)
	}
	if got := use(t, c, "launch_run", simple); got["status"] != "running" || got["run_id"] == run {
		t.Errorf("a new wish: %v", got)
	}
}

// A run whose driver is lost while somebody waits for it is gone on with here.
func TestRescue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.ends = make(chan event.Status)
		tr, _, end := serve(t, w, Options{Wait: time.Millisecond})
		c := connect(t, tr, nil)
		use(t, c, "launch_run", simple)
		w.until(t, "session-1", kindOf[event.Launched])
		_, _ = c.Close(), end()
		stop := w.drives(t, "session-1")
		tr, _, end = serve(t, w, Options{})
		c = connect(t, tr, nil)
		time.AfterFunc(time.Second, stop) // it is lost
		time.AfterFunc(time.Minute, func() { w.ends <- event.StatusSuccess })
		if got := use(t, c, "launch_run", simple); got["status"] != "success" {
			t.Errorf("got %v", got)
		}
		_, _ = c.Close(), end()
	})
}

// A call that is given up while its run is being wanted ends that run.
func TestGiveUpWhileWanting(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	wanting, goOn := make(chan struct{}), make(chan struct{})
	w.onWant = func() { close(wanting); <-goOn }
	c := raw(t, w)
	c.send(7, "tools/call", map[string]any{"name": "launch_run", "arguments": simple})
	<-wanting
	c.send(nil, "notifications/cancelled", map[string]any{"requestId": 7, "reason": "user pressed Esc"})
	c.send(8, "ping", map[string]any{})
	c.answer(8)
	close(goOn)
	if r := w.until(t, "session-1", kindOf[event.Returned]).Body.(event.Returned); r.Status != event.StatusCancelled {
		t.Errorf("it ended with %s", r.Status)
	}
}
