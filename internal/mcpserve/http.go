package mcpserve

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is found.
const Path = "/mcp"

// NewToken makes a token that nobody can guess.
func NewToken() string { return rand.Text() }

// Listen opens a port for [Server.HTTP]. Only this machine can reach it: whoever
// has the token has agents at work here.
func Listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%q is no address to listen on; for example 127.0.0.1:8765, or 127.0.0.1:0 for any free port: %w", addr, err)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("%q can be reached from other machines; listen on 127.0.0.1 and put a tunnel of your own before it if you must", addr)
	}
	return net.Listen("tcp", addr)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// grace is how long answers may take to be delivered once the server ends.
const grace = 2 * time.Second

// forgotten is when a client that has said nothing is forgotten. Few of the older
// era say goodbye; one that comes back is told to begin anew.
const forgotten = 24 * time.Hour

// HTTP serves every client that has the token, until ctx ends.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	srv := &http.Server{
		Handler: s.handler(token), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return base },
	}
	served := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { served <- srv.Serve(l) })
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	s.finish()
	cancel()
	for session := range s.mcp.Sessions() {
		_ = session.Close()
	}
	stopping, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	if srv.Shutdown(stopping) != nil {
		_ = srv.Close()
	}
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, s.leave(context.WithoutCancel(ctx)))
}

// handler serves both eras of the protocol at one address: the header that says
// which version a client speaks is there from the first request of the newer one.
func (s *Server) handler(token string) http.Handler {
	server := func(*http.Request) *sdk.Server { return s.mcp }
	older := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{SessionTimeout: forgotten})
	newer := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	mux := http.NewServeMux()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= firstEra {
			newer.ServeHTTP(w, r)
			return
		}
		name := s.mindBody(w, r)
		older.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			s.givenUp.lost(name)
		}
	})
	return local(authorized(token, mux))
}

// local turns away what a web page has its visitor's browser send: requests by
// the name of another host, or from a page of another origin.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !loopback(strings.Trim(host, "[]")) {
			http.Error(w, "Forbidden: this server is called localhost or 127.0.0.1, and not "+host, http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || !loopback(u.Hostname()) {
				http.Error(w, "Forbidden: requests of web pages are not served", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// authorized lets through who has the token.
func authorized(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(got)), []byte(token)) != 1 {
			challenge := `Bearer realm="conclave"`
			if r.Header.Get("Authorization") != "" {
				challenge += `, error="invalid_token"`
			}
			w.Header().Set("WWW-Authenticate", challenge)
			http.Error(w, "Unauthorized: send the header Authorization: Bearer TOKEN with the token that conclave mcp printed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mindBody looks at a message for calls that are given up, and names the call that
// it is. Numbers of calls are unique within a client's session.
func (s *Server) mindBody(w http.ResponseWriter, r *http.Request) (name string) {
	if r.Method != http.MethodPost {
		return ""
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, sdk.DefaultMaxRequestBodyBytes))
	put := func(p []byte, then io.Reader) {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(p), then))
		r.ContentLength = -1
	}
	if err != nil {
		put(body, failing{err})
		return ""
	}
	var m map[string]json.RawMessage
	var method string
	if json.Unmarshal(body, &m) == nil && json.Unmarshal(m["method"], &method) == nil && len(m["params"]) > 0 {
		name, m["params"] = s.givenUp.mind(r.Header.Get("Mcp-Session-Id"), method, m["id"], m["params"])
		if out, err := json.Marshal(m); err == nil {
			body = out
		}
	}
	put(body, bytes.NewReader(nil))
	return name
}

// failing is a reader that could not be read to its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
