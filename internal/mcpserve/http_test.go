package mcpserve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
)

// listening has a server serve over HTTP; what it returns ends it.
func listening(t *testing.T, w *world, o Options) (url string, s *Server, end func() error) {
	t.Helper()
	s, err := New(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.HTTP(ctx, l, "secret-token-of-the-test") }()
	ended := false
	end = func() error {
		if ended {
			return nil
		}
		ended = true
		cancel()
		return <-served
	}
	t.Cleanup(func() { _ = end() })
	return "http://" + l.Addr().String() + Path, s, end
}

// bearer shows the token with every request.
type bearer struct{ base *http.Transport }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer secret-token-of-the-test")
	return b.base.RoundTrip(r)
}

func overHTTP(t *testing.T, url, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	if o == nil {
		o = &sdk.ClientOptions{}
	}
	tr := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{base}}}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o).Connect(t.Context(), tr, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Both eras of the protocol are served at one address, with progress, results and
// questions to the user.
func TestHTTP(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld()
			w.approve, w.ends = true, make(chan event.Status, 1)
			url, _, end := listening(t, w, Options{})
			told := make(chan string, 100)
			o := asks(decide("accept", "approve", ""))
			o.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				told <- r.Params.Message
				select {
				case w.ends <- event.StatusSuccess: // so it is told before the end
				default:
				}
			}
			c := overHTTP(t, url, version, o)
			if got := c.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("they speak %s", got)
			}
			p := &sdk.CallToolParams{Name: "launch_run", Arguments: simple}
			p.SetProgressToken("t")
			res, err := c.CallTool(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if got := structured(t, c, "launch_run", res); got["status"] != "success" {
				t.Errorf("got %v", got)
			}
			if len(told) == 0 {
				t.Error("told nothing")
			}
			_ = c.Close()
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Only who has the token, on this machine and not from a web page, is served.
func TestHTTPGuards(t *testing.T) {
	url, _, _ := listening(t, newWorld(), Options{})
	const good = "Bearer secret-token-of-the-test"
	for name, tt := range map[string]struct {
		host, origin, auth, challenge string
		status                        int
	}{
		"fine":             {"", "", good, "", http.StatusOK},
		"a local page":     {"", "http://localhost:3000", good, "", http.StatusOK},
		"another case":     {"", "", "bearer secret-token-of-the-test", "", http.StatusOK},
		"no token":         {"", "", "", `Bearer realm="conclave"`, http.StatusUnauthorized},
		"another token":    {"", "", "Bearer secret-token-of-the-tes", "invalid_token", http.StatusUnauthorized},
		"another scheme":   {"", "", "Basic secret-token-of-the-test", "Bearer", http.StatusUnauthorized},
		"another host":     {"evil.example:80", "", good, "", http.StatusForbidden},
		"a name like ours": {"localhost.evil.example", "", good, "", http.StatusForbidden},
		"a page":           {"", "https://evil.example", good, "", http.StatusForbidden},
		"no page":          {"", "null", good, "", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if tt.host != "" {
				r.Host = tt.host
			}
			for k, v := range map[string]string{"Origin": tt.origin, "Authorization": tt.auth} {
				if v != "" {
					r.Header.Set(k, v)
				}
			}
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			res, err := tr.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != tt.status || !strings.Contains(res.Header.Get("WWW-Authenticate"), tt.challenge) {
				t.Errorf("%s, %q", res.Status, res.Header.Get("WWW-Authenticate"))
			}
		})
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "example.org:80", "127.0.0.1"} {
		if l, err := Listen(addr); err == nil {
			l.Close()
			t.Errorf("%s is listened on", addr)
		}
	}
}

// A client of the older era that has gone without a word is forgotten.
func TestHTTPForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(t.Context(), newWorld(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := s.handler("secret-token-of-the-test")
		send := func(session, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+Path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Authorization", "Bearer secret-token-of-the-test")
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
		id := send("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`).Header().Get("Mcp-Session-Id")
		<-time.After(forgotten - time.Minute)
		if got := send(id, ping); got.Code != http.StatusOK {
			t.Errorf("a day later: %d %s", got.Code, got.Body)
		}
		<-time.After(forgotten + time.Minute)
		if got := send(id, ping); got.Code != http.StatusNotFound {
			t.Errorf("after a day of silence: %d %s", got.Code, got.Body)
		}
		if err := s.leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
