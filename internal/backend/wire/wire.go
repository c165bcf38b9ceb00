// Package wire is what every adapter to a model provider shares below its
// protocol: one HTTP client per account, with clocks, retries and a gate, and one
// way to name a failure.
//
// An adapter asks [Pools.Client] for its client, switches its SDK's own retries
// off, and hands every error it gets to [Failure]:
//
//	client := pools.Client(m.Provider, m.BaseURL, key, m.Clocks)
//	…
//	if err := stream.Err(); err != nil {
//		return wire.Failure(err, m.Provider, m.Key)
//	}
//
// What the client does that http.Client does not:
//
//   - A status other than 2xx is an error ([*StatusError]), its body read up to
//     64 KiB, the key in it blacked out. No adapter sees such a response, and
//     nothing is ever redirected: a key must not follow to another host.
//   - 408, 429, 5xx and lost connections are tried again, a few times, before any
//     byte of a good body was handed on; never after it. A wait the provider asks
//     for is kept if it is short, and reported as RateLimited with its RetryAfter
//     if it is not.
//   - All requests of one account wait together while the provider asks for it,
//     and come back one after the other.
//   - Three clocks: until the first byte of the body, between two reads of it,
//     and over all, waits included. Each ends the request as TimedOut and says
//     which it was.
//   - A body that is no stream (a page of HTML, a JSON error with status 200), or
//     a line in it that is endless, is Garbled and costs no memory.
//
// A stream that ends early without an error of its own is the adapter's to
// notice: only it knows how its protocol ends.
//
// Goroutines: the only ones are those of timers that end a request; they belong to
// the request and stop with its body, which whoever got it closes.
package wire

import (
	"cmp"
	"net"
	"net/http"
	"sync"
	"time"

	"conclave/internal/backend"
)

// Defaults of the clocks and of what is done about failures.
const (
	defaultFirst = 120 * time.Second
	defaultIdle  = 90 * time.Second
	defaultTotal = 30 * time.Minute

	defaultAttempts = 4
	defaultPatience = 60 * time.Second
	defaultBackoff  = 500 * time.Millisecond
)

// Pools are the accounts a program speaks through: one for each provider, base
// URL and key, because these share a quota. The zero value is ready; a program
// has one. The fields are set before the first use or not at all.
type Pools struct {
	// Attempts is how often a request is sent at most; zero is 4.
	Attempts int
	// Patience is how long a wait may be to be kept; zero is a minute. What a
	// provider asks for beyond it is reported, and the waits of one request in
	// which nobody else of its account is served are at most twice as long.
	Patience time.Duration
	// Backoff is about how long to wait before the second attempt if nobody says;
	// it doubles with every further one. Zero is half a second.
	Backoff time.Duration
	// PerMinute bounds the requests of every account of a provider; a provider
	// that is not in it has no bound.
	PerMinute map[string]int
	// Base sends requests; nil is a transport that keeps connections and knows
	// the environment's proxy.
	Base http.RoundTripper

	once  sync.Once
	base  http.RoundTripper
	mu    sync.Mutex
	gates map[account]*gate
}

// An account is everything that shares a quota.
type account struct{ provider, baseURL, key string }

// Client is the client for one account. Clients of the same account share its
// gate; all share their connections. An empty key is an account as well.
func (p *Pools) Client(provider, baseURL, key string, c backend.Clocks) *http.Client {
	return &http.Client{Transport: &transport{
		base:     p.transport(),
		gate:     p.gate(account{provider, baseURL, key}),
		provider: provider,
		key:      key,
		first:    cmp.Or(time.Duration(c.First), defaultFirst),
		idle:     cmp.Or(time.Duration(c.Idle), defaultIdle),
		total:    cmp.Or(time.Duration(c.Total), defaultTotal),
		attempts: cmp.Or(p.Attempts, defaultAttempts),
		patience: cmp.Or(p.Patience, defaultPatience),
		backoff:  cmp.Or(p.Backoff, defaultBackoff),
	}}
}

// Close lets go of connections that are not in use. The pools can be used again.
func (p *Pools) Close() {
	(&http.Client{Transport: p.transport()}).CloseIdleConnections()
}

func (p *Pools) transport() http.RoundTripper {
	p.once.Do(func() {
		p.base = p.Base
		if p.base == nil {
			p.base = newBase()
		}
	})
	return p.base
}

func (p *Pools) gate(a account) *gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates == nil {
		p.gates = map[account]*gate{}
	}
	if p.gates[a] == nil {
		p.gates[a] = newGate(p.PerMinute[a.provider], 2*cmp.Or(p.Backoff, defaultBackoff))
	}
	return p.gates[a]
}

// newBase is a transport for few hosts and many streams.
func newBase() *http.Transport {
	dial := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dial.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}
