package cli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"conclave/internal/backend"
)

// A Target is where a program's model is reached, and how to identify there.
type Target struct {
	BaseURL string
	Key     string
	// Header carries the key: X-Api-Key as it is, any other after the word Bearer.
	// Without a key none is sent.
	Header string
}

// A Proxy stands between a program and its model. It takes requests that carry its
// token, in either header, and sends them on with the real key.
type Proxy struct {
	// URL is what the program is given as the base of its model's address.
	URL string
	// Token is what it is given as its key.
	Token string

	host      string // of the model
	server    *http.Server
	transport *http.Transport
	mu        sync.Mutex
	closed    bool
	serving   sync.WaitGroup
	trouble   *backend.Error
}

// dialLimit is how long a connection may take to come about.
const dialLimit = 10 * time.Second

// NewProxy serves on the loopback until Close.
func NewProxy(t Target) (*Proxy, error) {
	d, err := listen(loopback)
	if err != nil {
		return nil, err
	}
	return serve(d, t)
}

// ProxyFor serves what runs in a room, wherever that reaches it, until Close.
func ProxyFor(ctx context.Context, room backend.Room, t Target) (*Proxy, error) {
	d, err := OpenDoor(ctx, room, "its model")
	if err != nil {
		return nil, err
	}
	return serve(d, t)
}

func serve(d *Door, t Target) (*Proxy, error) {
	base, err := url.Parse(t.BaseURL)
	if err != nil || base.Host == "" {
		d.Close()
		return nil, broken(fmt.Sprintf("%q is no address of a model", t.BaseURL), err)
	}
	p := &Proxy{
		URL: d.URL, Token: "conclave-" + rand.Text(), host: base.Host,
		transport: http.DefaultTransport.(*http.Transport).Clone(),
	}
	p.transport.DialContext = (&net.Dialer{Timeout: dialLimit, KeepAlive: 30 * time.Second}).DialContext
	silent := log.New(io.Discard, "", 0) // requests are nobody's business
	through := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { t.rewrite(r, base) },
		Transport:     p.transport,
		FlushInterval: -1, // each event as it comes
		ErrorLog:      silent,
		ModifyResponse: func(r *http.Response) error {
			p.note(nil)
			if r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden {
				r.Header.Set("X-Should-Retry", "false") // the key will not get any better
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { p.unreached(w, r, err) },
	}
	p.server = &http.Server{ErrorLog: silent, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.enter() {
			return
		}
		defer p.serving.Done()
		if !d.Welcome(r) || !p.knows(r) {
			http.Error(w, "This is for one program alone.", http.StatusUnauthorized)
			return
		}
		through.ServeHTTP(w, r)
	})}
	p.serving.Go(func() {
		if err := p.server.Serve(d); !errors.Is(err, http.ErrServerClosed) {
			d.Close()
		}
	})
	return p, nil
}

// enter counts a request among those that Close waits for.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.serving.Add(1)
	}
	return !p.closed
}

// rewrite sends a request to the model with the real key and nothing of the token.
func (t Target) rewrite(r *httputil.ProxyRequest, base *url.URL) {
	r.SetURL(base)
	for _, h := range credentials {
		r.Out.Header.Del(h)
	}
	switch {
	case t.Key == "":
	case strings.EqualFold(t.Header, "X-Api-Key"):
		r.Out.Header.Set("X-Api-Key", t.Key)
	default:
		r.Out.Header.Set(t.Header, "Bearer "+t.Key)
	}
}

// credentials are the headers in which a program may send what it holds for a key.
var credentials = []string{"X-Api-Key", "Authorization"}

func (p *Proxy) knows(r *http.Request) bool {
	for _, h := range credentials {
		got := strings.TrimPrefix(r.Header.Get(h), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(got), []byte(p.Token)) == 1 {
			return true
		}
	}
	return false
}

// unreached tells the program, in a form that each provider's clients read, that
// nobody answers where the model should be.
func (p *Proxy) unreached(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // it has hung up
	}
	e := &backend.Error{Kind: backend.Unreachable, Err: err,
		Message: p.host + " cannot be reached (check the network, a proxy or base_url; conclave doctor tells what can be reached)"}
	p.note(e)
	body, _ := json.Marshal(map[string]any{ // strings alone
		"type": "error", "error": map[string]string{"type": "api_error", "code": string(e.Kind), "message": e.Error()},
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write(body)
}

func (p *Proxy) note(e *backend.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = e
}

// Trouble is why the model could not be reached when that was tried last; nil if it
// answered, whatever it said. A nil Proxy has none.
func (p *Proxy) Trouble() *backend.Error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trouble
}

// Blame is what a failed turn is put down to: what the program made of it, or what
// is known better. Key is what the model was asked with.
func (p *Proxy) Blame(e *backend.Error, key backend.Key) *backend.Error {
	if p == nil {
		return e
	}
	switch known := p.Trouble(); {
	case known != nil && !e.Kind.Final():
		return known
	case e.Kind == backend.Auth:
		return &backend.Error{Kind: backend.Auth, Message: fmt.Sprintf("%s was refused by %s: %s", key.Source(), p.host, e.Message), Err: e.Err}
	}
	return e
}

// Close cuts whatever is under way and returns when nothing is.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.server.Close()
	p.transport.CloseIdleConnections()
	p.serving.Wait()
}
