package mcpserve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
)

// A client that gives up a call ends the run; one that has lost its patience, or
// its connection, does not.
func TestGiveUp(t *testing.T) {
	for name, tt := range map[string]struct {
		id     any
		reason string
		ends   bool
	}{
		"the user":       {7, "user pressed Esc", true},
		"no reason":      {7, "", true},
		"patience":       {7, "McpError: MCP error -32001: Request timed out", false},
		"rust":           {7, "request timeout", false},
		"a long number":  {1234567890, "request timeout", false},
		"a number so so": {"call <7>", "request timeout", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.ends = make(chan event.Status)
			tr, _, end := serve(t, w, Options{})
			conn, err := tr.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			raw := &rawClient{t: t, c: conn}
			raw.initialize()
			raw.send(tt.id, "tools/call", map[string]any{"name": "launch_run", "arguments": simple})
			w.until(t, "session-1", kindOf[event.Launched])
			raw.send(nil, "notifications/cancelled", map[string]any{"requestId": tt.id, "reason": tt.reason})
			if tt.ends {
				r := w.until(t, "session-1", kindOf[event.Returned]).Body.(event.Returned)
				if r.Status != event.StatusCancelled {
					t.Errorf("it ended with %s", r.Status)
				}
			} else {
				raw.send(8, "tools/call", map[string]any{"name": "launch_run", "arguments": simple})
				go func() { w.ends <- event.StatusSuccess }()
				if got := raw.answer(8); !strings.Contains(got, `"status":"success"`) {
					t.Errorf("rejoined: %s", got)
				}
				if n := w.launched(t); n != 1 {
					t.Errorf("%d runs were launched", n)
				}
			}
			_ = conn.Close()
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where nobody can tell why a call was given up, its run goes on for a while: it
// ends if nobody comes back, and not if somebody does.
func TestUnclear(t *testing.T) {
	for name, back := range map[string]bool{"nobody": false, "somebody": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.ends = make(chan event.Status)
				tr, _, end := serve(t, w, Options{})
				conn, err := tr.Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				raw := &rawClient{t: t, c: conn}
				raw.initialize()
				raw.send(7, "tools/call", map[string]any{"name": "launch_run", "arguments": simple})
				begun := w.until(t, "session-1", kindOf[event.Launched]).At
				raw.send(nil, "notifications/cancelled", map[string]any{"requestId": 7, "reason": "MCP response future dropped"})
				if back {
					raw.send(8, "tools/call", map[string]any{"name": "launch_run", "arguments": simple})
					time.AfterFunc(2*while, func() { w.ends <- event.StatusSuccess })
					if got := raw.answer(8); !strings.Contains(got, `"status":"success"`) {
						t.Errorf("rejoined: %s", got)
					}
				}
				e := w.until(t, "session-1", kindOf[event.Returned])
				if r := e.Body.(event.Returned); (r.Status == event.StatusCancelled) == back || e.At.Sub(begun) < while {
					t.Errorf("it ended with %s after %s", r.Status, e.At.Sub(begun))
				}
				if n := w.launched(t); n != 1 {
					t.Errorf("%d runs were launched", n)
				}
				_ = conn.Close()
				_ = end()
			})
		})
	}
}

// raw is a client on a pipe that says exactly what the test says.
func raw(t *testing.T, w *world) *rawClient {
	t.Helper()
	tr, _, end := serve(t, w, Options{})
	conn, err := tr.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = end() })
	r := &rawClient{t: t, c: conn}
	r.initialize()
	return r
}

// A call that is given up does not take its run away from others that wait for it.
func TestGiveUpOfSeveral(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	c := raw(t, w)
	launch := func(token string) map[string]any {
		return map[string]any{"name": "launch_run", "arguments": simple, "_meta": map[string]any{"progressToken": token}}
	}
	c.send(7, "tools/call", launch("first"))
	for !strings.Contains(c.notified("notifications/progress"), "first") {
	}
	c.send(8, "tools/call", launch("second"))
	for !strings.Contains(c.notified("notifications/progress"), "second") {
	}
	c.send(nil, "notifications/cancelled", map[string]any{"requestId": 7, "reason": "user pressed Esc"})
	c.answer(7)
	if w.withdrawn() {
		t.Error("the run was ended")
	}
	w.ends <- event.StatusSuccess
	if got := c.answer(8); !strings.Contains(got, `"status":"success"`) {
		t.Errorf("the other: %s", got)
	}
}

// What is kept of calls does not grow with what clients send.
func TestGivenUpForgets(t *testing.T) {
	var g givenUp
	g.mind("", methodCancelled, nil, []byte(`{"requestId":"made up","reason":"request timeout"}`))
	if len(g.calls) != 0 {
		t.Error("what was never called is remembered")
	}
	for i := range 3 * maxCalls {
		g.mind("", methodCall, fmt.Append(nil, i), []byte(`{"name":"x"}`))
		g.mind("", methodCancelled, nil, fmt.Appendf(nil, `{"requestId":%d,"reason":"request timeout"}`, i))
	}
	if len(g.calls) != maxCalls || len(g.order) != maxCalls {
		t.Errorf("%d calls are remembered", len(g.calls))
	}
	if last := callName("", fmt.Append(nil, 3*maxCalls-1)); !g.has(last) {
		t.Error("the newest is forgotten")
	}
}

// launching is a call of launch_run over HTTP that can be hung up.
func launching(t *testing.T, c *sdk.ClientSession) (hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "launch_run", Arguments: simple})
		called <- err
	}()
	return func() {
		cancel()
		if err := <-called; err == nil {
			t.Error("the call came to something")
		}
	}
}

// A client of the older era that says so ends its run. One of the newer hangs up,
// be it that its user or that its patience is at an end: the run ends if nobody
// comes back to it.
func TestHTTPGiveUp(t *testing.T) {
	for _, tt := range []struct {
		version string
		while   time.Duration
		back    bool
	}{
		{"2025-11-25", time.Hour, false},
		{"2026-07-28", time.Millisecond, false},
		{"2026-07-28", time.Hour, true},
	} {
		t.Run(fmt.Sprint(tt.version, tt.back), func(t *testing.T) {
			w := newWorld()
			w.ends = make(chan event.Status)
			url, s, _ := listening(t, w, Options{})
			s.while = tt.while
			waits := make(chan struct{}, 100)
			c := overHTTP(t, url, tt.version, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
				waits <- struct{}{}
			}})
			hangUp := launching(t, c)
			w.until(t, "session-1", kindOf[event.Launched])
			hangUp()
			want := event.StatusCancelled
			if tt.back {
				want = event.StatusSuccess
				go func() { <-waits; w.ends <- want }()
				p := &sdk.CallToolParams{Name: "launch_run", Arguments: simple}
				p.SetProgressToken("back")
				if res, err := c.CallTool(t.Context(), p); err != nil || !strings.Contains(textOf(res), `"status":"success"`) {
					t.Errorf("got %v, %v", res, err)
				}
			}
			if r := w.until(t, "session-1", kindOf[event.Returned]).Body.(event.Returned); r.Status != want {
				t.Errorf("the run ended with %s", r.Status)
			}
			if n := w.launched(t); n != 1 {
				t.Errorf("%d runs were launched", n)
			}
		})
	}
}

// post sends a message over HTTP as the older era does.
func post(ctx context.Context, url, session, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	return bearer{&http.Transport{DisableKeepAlives: true}}.RoundTrip(r)
}

// A client of the older era whose connection breaks has not given up its run, and
// has not been told its result either.
func TestHTTPLost(t *testing.T) {
	w := newWorld()
	w.ends = make(chan event.Status)
	url, s, _ := listening(t, w, Options{})
	res, err := post(t.Context(), url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	session := res.Header.Get("Mcp-Session-Id")
	res.Body.Close()
	const launch = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"launch_run","arguments":{"task":"x"}}}`
	ctx, cut := context.WithCancel(t.Context())
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		if res, err := post(ctx, url, session, fmt.Sprintf(launch, 2)); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	w.until(t, "session-1", kindOf[event.Launched])
	cut()
	<-lost
	for call := callName(session, []byte("2")); !s.givenUp.has(call); { // until the server has noticed
		res, err := post(t.Context(), url, session, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	w.ends <- event.StatusSuccess
	w.until(t, "session-1", kindOf[event.Returned])
	if res, err = post(t.Context(), url, session, fmt.Sprintf(launch, 4)); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(got), `"status":"success"`) {
		t.Errorf("got %s, %v", got, err)
	}
	if n := w.launched(t); n != 1 {
		t.Errorf("%d runs were launched", n)
	}
}
