package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask1 is one request to a server without a network.
func ask1(s *Server, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest("GET", "http://127.0.0.1:1234/api/settings", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	change(r)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func TestWhoIsLetIn(t *testing.T) {
	s := New(Options{Control: newWorld(), Token: token, Assets: pages, Hosts: []string{"cockpit.test"}})
	defer s.Close()
	post := func(r *http.Request) {
		r.Method, r.Body = "POST", io.NopCloser(strings.NewReader(`{"text":"x"}`))
		r.URL.Path = "/api/markdown"
		r.Header.Set("Content-Type", "application/json")
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"the token":      {func(*http.Request) {}, 200},
		"no token":       {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"a wrong token":  {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x"+token) }, 401},
		"another scheme": {func(r *http.Request) { r.Header.Set("Authorization", "Basic "+token) }, 401},
		"a cookie": {func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: s.cookie(), Value: token})
		}, 200},
		"a wrong cookie": {func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: s.cookie(), Value: "x"})
		}, 401},
		"a token of the API":   {func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + token }, 401},
		"localhost":            {func(r *http.Request) { r.Host = "localhost:1234" }, 200},
		"the sixth":            {func(r *http.Request) { r.Host = "[::1]:1234" }, 200},
		"a name that is known": {func(r *http.Request) { r.Host = "cockpit.test" }, 200},
		"another host":         {func(r *http.Request) { r.Host = "evil.test:1234" }, 403},
		"no host":              {func(r *http.Request) { r.Host = "" }, 403},
		"its own origin":       {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1234") }, 200},
		"another origin":       {func(r *http.Request) { r.Header.Set("Origin", "http://evil.test") }, 403},
		"another port":         {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:99") }, 403},
		"no origin":            {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"a post":               {post, 200},
		"a post of a page": {func(r *http.Request) {
			post(r)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403},
		"a post of a form": {func(r *http.Request) {
			post(r)
			r.Header.Set("Content-Type", "text/plain")
		}, 415},
		"a large post": {func(r *http.Request) {
			post(r)
			r.Body = io.NopCloser(strings.NewReader(`{"text":"` + strings.Repeat("x", mostBody) + `"}`))
		}, 413},
	} {
		a := ask1(s, c.change)
		if a.StatusCode != c.want {
			t.Errorf("%s: %d, and not %d", name, a.StatusCode, c.want)
		}
		for h, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		} {
			if a.Header.Get(h) != want {
				t.Errorf("%s: %s is %q", name, h, a.Header.Get(h))
			}
		}
	}
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("pages may do more than %s", part)
		}
	}
}

func TestTheAddressLogsIn(t *testing.T) {
	s := New(Options{Control: newWorld(), Token: token, Assets: pages})
	defer s.Close()
	a := ask1(s, func(r *http.Request) {
		r.Header.Del("Authorization")
		r.URL.Path, r.URL.RawQuery = "/jobs/job-1", "token="+token+"&tab=plan"
	})
	if a.StatusCode != 303 || a.Header.Get("Location") != "/jobs/job-1?tab=plan" {
		t.Fatalf("%d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	c := a.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value != token || c.Path != "/" {
		t.Errorf("the cookie is %v", c)
	}
	a = ask1(s, func(r *http.Request) {
		r.Header.Del("Authorization")
		r.URL.Path, r.URL.RawQuery = "//evil.test/", "token="+token
	})
	if got := a.Header.Get("Location"); got != "/evil.test/" {
		t.Errorf("sent on to %q", got)
	}
	a = ask1(s, func(r *http.Request) { // a link in another page
		r.Header.Del("Authorization")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.URL.Path, r.URL.RawQuery = `/jobs/"><script>`, "token="+token+"&tab=plan&x=%22%3E"
	})
	text, _ := io.ReadAll(a.Body)
	if want := `content="0;url=/jobs/%22%3E%3Cscript%3E?tab=plan&amp;x=%22%3E"`; a.StatusCode != 200 || len(a.Cookies()) != 1 || !strings.Contains(string(text), want) {
		t.Errorf("%d, led on by %s", a.StatusCode, text)
	}
	a = ask1(s, func(r *http.Request) { r.Header.Del("Authorization"); r.URL.Path, r.URL.RawQuery = "/", "token=wrong" })
	if a.StatusCode != 401 || len(a.Cookies()) > 0 {
		t.Errorf("a wrong token: %d", a.StatusCode)
	}
}

func TestPages(t *testing.T) {
	s := New(Options{Control: newWorld(), Token: token, Assets: pages})
	defer s.Close()
	get := func(path string, h ...string) *http.Response {
		return ask1(s, func(r *http.Request) {
			r.URL.Path = path
			for i := 0; i < len(h); i += 2 {
				r.Header.Set(h[i], h[i+1])
			}
		})
	}
	for path, kind := range map[string]string{"/": "text/html", "/jobs/job-1": "text/html", "/app.js": "text/javascript", "/app.css": "text/css"} {
		a := get(path)
		if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
		}
		if b := get(path, "If-None-Match", a.Header.Get("Etag")); b.StatusCode != 304 {
			t.Errorf("%s again: %d", path, b.StatusCode)
		}
	}
	if a := get("/app.js", "Accept-Encoding", "gzip"); a.Header.Get("Content-Encoding") != "gzip" || a.ContentLength > 200 {
		t.Errorf("not squeezed: %v", a.Header)
	}
	for _, path := range []string{"/none.js", "/web.go", "/dist.go"} {
		if a := get(path); a.StatusCode != 404 {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
}

func TestListensHereOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.test:80", "nonsense"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%s is listened on", address)
		}
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := New(Options{Control: newWorld(), Token: token, Assets: pages})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	r, _ := http.NewRequest("GET", "http://"+l.Addr().String()+"/api/events?watch=job-1,home", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	stop() // with a stream that is open
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, a.Body)
	a.Body.Close()
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
	if _, err := s.feed.join(context.Background(), nil); !errors.Is(err, errBusy) {
		t.Errorf("a closed feed takes tabs: %v", err)
	}
}
