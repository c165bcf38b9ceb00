package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/gear"
	"conclave/internal/tool"
	"conclave/internal/tool/tooltest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A site is a server reached by HTTP whose way of answering can be changed.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	handler  http.Handler
	requests []*http.Request
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	h := s.handler
	s.mu.Unlock()
	h.ServeHTTP(w, r)
}

func (s *site) answer(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

func newSite(t *testing.T, h http.Handler) *site {
	s := &site{handler: h}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// served is an MCP server as a handler.
func served(t *testing.T, s *sdk.Server, o *sdk.StreamableHTTPOptions) http.Handler {
	t.Cleanup(func() {
		for x := range s.Sessions() { // those whose end it was not told of
			_ = x.Close()
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o)
}

func at(url string) gear.Server { return gear.Server{Name: "site", URL: url} }

// kinds are the ways in which servers answer.
func kinds() map[string]*sdk.StreamableHTTPOptions {
	return map[string]*sdk.StreamableHTTPOptions{
		"events": nil, "json": {JSONResponse: true}, "stateless": {Stateless: true}, "stateless json": {Stateless: true, JSONResponse: true},
	}
}

func TestHTTPSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		s := open(t, Options{}, at(newSite(t, served(t, newFake(), nil)).URL))
		return []tool.Tool{tools(t, s)["echo"]}
	})
}

func TestHTTPResults(t *testing.T) {
	for name, o := range kinds() {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{}, at(newSite(t, served(t, newFake(), o)).URL))
			all := tools(t, s)
			has(t, call(t, all["echo"], `{"text":"hello"}`).Text, "You said: hello")
			if res := call(t, all["image"], `{}`); len(res.Images) != 1 {
				t.Errorf("%+v", res)
			}
			if o != nil && o.Stateless {
				return // what is long comes in the same way
			}
			res := call(t, all["long"], `{}`)
			if len(res.Text) > tool.MaxText || len(res.Text) < tool.MaxText/2 || res.Error {
				t.Errorf("a long result has %d bytes, error %v", len(res.Text), res.Error)
			}
			has(t, res.Text, "beginé", "[cut here]")
			if res := call(t, all["vast"], `{}`); !res.Error {
				t.Errorf("a vast result was taken: %d bytes", len(res.Text))
			}
			has(t, call(t, all["echo"], `{"text":"again"}`).Text, "again")
		})
	}
}

// Headers go to the server, and to nobody it names.
func TestHTTPHeaders(t *testing.T) {
	stranger := newSite(t, served(t, newFake(), nil))
	fake := served(t, newFake(), nil)
	home := newSite(t, fake)
	g := at(home.URL + "/mcp?key=${KEY}")
	g.Headers = map[string]string{"Authorization": "Bearer ${KEY}"}
	env := func(name string) (string, bool) { return "secret-key", name == "KEY" }
	s := open(t, Options{Env: env}, g)
	all := tools(t, s)
	call(t, all["echo"], `{"text":"a"}`)
	for _, r := range home.requests {
		if r.Header.Get("Authorization") != "Bearer secret-key" || r.URL.Query().Get("key") != "secret-key" {
			t.Errorf("%s %s without its header", r.Method, r.URL)
		}
	}
	home.answer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
	}))
	res := call(t, all["echo"], `{"text":"a"}`)
	if !res.Error {
		t.Errorf("it was led away: %+v", res)
	}
	has(t, res.Text, "not sent to another")
	if strings.Contains(res.Text, "secret-key") {
		t.Errorf("a secret is said: %s", res.Text)
	}
	if n := len(stranger.requests); n > 0 {
		t.Errorf("the stranger got %d requests", n)
	}
	home.answer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/elsewhere" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	has(t, call(t, all["echo"], `{"text":"same house"}`).Text, "same house")
}

// Where a server cannot be reached it is said why, without what is secret.
func TestHTTPFailures(t *testing.T) {
	gone := newSite(t, http.NotFoundHandler())
	gone.Server.Close()
	hung := newSite(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or its end is not noticed
		<-r.Context().Done()
	}))
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	flood := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			if _, err := fmt.Fprint(w, strings.Repeat("[1,2,3],", 1<<10)); err != nil {
				return
			}
		}
	})
	text := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome</html>") })
	env := func(name string) (string, bool) { return "secret-key", name == "KEY" }
	for want, url := range map[string]string{
		"refused":                 gone.URL + "?key=${KEY}",
		"did not answer within":   hung.URL,
		"give a token in headers": newSite(t, status(http.StatusUnauthorized)).URL,
		"Not Found":               newSite(t, status(http.StatusNotFound)).URL,
		"more than 8388608 bytes": newSite(t, flood).URL,
		"text/html":               newSite(t, text).URL,
		"no address":              "gopher://example.com",
		"OTHER":                   "${OTHER}",
	} {
		g := at(url)
		if url == hung.URL {
			g.Start = event.Duration(300 * time.Millisecond)
		}
		s := open(t, Options{Env: env}, g)
		if n := len(s.Tools(t.Context())); n > 0 {
			t.Errorf("%s: %d tools", want, n)
		}
		st := s.Status()[0]
		if st.State != Down || st.Err == nil {
			t.Fatalf("%s: %+v", want, st)
		}
		has(t, st.Err.Error(), want)
		if strings.Contains(st.Err.Error(), "secret-key") {
			t.Errorf("a secret is said: %v", st.Err)
		}
	}
}

// A server that was started anew has forgotten the session, and the call goes on.
func TestHTTPSessionForgotten(t *testing.T) {
	site := newSite(t, served(t, newFake(), nil))
	s := open(t, Options{}, at(site.URL))
	all := tools(t, s)
	site.answer(served(t, newFake(), nil))
	has(t, call(t, all["echo"], `{"text":"who are you"}`).Text, "who are you")
}

func TestHTTPSlowCall(t *testing.T) {
	for name, o := range kinds() {
		if o != nil && o.Stateless {
			o.PropagateRequestCancellation = true
		}
		t.Run(name, func(t *testing.T) {
			g := at(newSite(t, served(t, newFake(), o)).URL)
			g.Call = event.Duration(300 * time.Millisecond)
			all := tools(t, open(t, Options{}, g))
			has(t, call(t, all["slow"], `{}`).Text, "did not answer within 300ms")
			has(t, call(t, all["seen"], `{}`).Text, "It was cancelled.")
		})
	}
}

// The list is read again for every turn: there is no stream to tell of changes.
func TestHTTPListChanges(t *testing.T) {
	s := open(t, Options{}, at(newSite(t, served(t, newFake(), nil)).URL))
	before := tools(t, s)
	call(t, before["grow"], `{}`)
	if after := tools(t, s); before["grown"] != nil || after["grown"] == nil {
		t.Errorf("before %v, after %v", before["grown"], after["grown"])
	}
}

// A server whose list cannot be had for once keeps the tools it had.
func TestHTTPListFails(t *testing.T) {
	fake := served(t, newFake(), nil)
	site := newSite(t, fake)
	s := open(t, Options{}, at(site.URL))
	before := tools(t, s)
	site.answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	if after := tools(t, s); len(after) != len(before) {
		t.Errorf("%d tools of %d", len(after), len(before))
	}
	has(t, s.Status()[0].Err.Error(), "Service Unavailable")
	res := call(t, before["echo"], `{"text":"a"}`)
	has(t, res.Text, "Service Unavailable")
	site.answer(fake)
	has(t, call(t, before["echo"], `{"text":"better"}`).Text, "better")
	if tools(t, s); s.Status()[0].Err != nil {
		t.Error(s.Status()[0].Err)
	}
}

// Close waits for no server that does not answer.
func TestHTTPClose(t *testing.T) {
	site := newSite(t, served(t, newFake(), nil))
	s := Open(context.Background(), []gear.Server{at(site.URL)}, Options{})
	tools(t, s)
	site.answer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
