// Package web lets an agent read the web: a page by its URL, and what a search
// engine finds.
//
// Where a request goes is decided by the address that is dialled, after names
// were looked up and again at every redirect: only public addresses are, so a
// page cannot make the agent read what is on this machine or its network. A
// search engine is the user's choice and may be anywhere.
//
// What comes back is data from strangers. Every result begins with a line that
// says so and where it came from, and never holds more than [tool.MaxText].
package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// Options are for [Fetch]. The zero value reads public addresses.
type Options struct {
	// AllowPrivate lets requests go to this machine and its networks.
	AllowPrivate bool
	// May, if given, is asked about every URL that is redirected to: the first
	// one was judged when the call was.
	May func(url string) error
	// Agent is the User-Agent that is sent; empty is Conclave.
	Agent string

	// For tests: what may be dialled, and how names are looked up.
	public   func(netip.AddrPort) error
	resolver *net.Resolver
}

const (
	maxRedirects = 10
	maxTime      = 30 * time.Second
	maxBody      = 5 << 20
	maxURL       = 8 << 10
)

func (o Options) filled() Options {
	if o.public == nil {
		o.public = public
	}
	if o.AllowPrivate {
		o.public = func(netip.AddrPort) error { return nil }
	}
	if o.Agent == "" {
		o.Agent = "Conclave"
	}
	return o
}

// client is one whose every connection is checked when it is made: between
// looking a name up and dialling it nothing can change.
func (o Options) client() *http.Client {
	dialer := &net.Dialer{
		Timeout:  10 * time.Second,
		Resolver: o.resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return o.public(to)
		},
	}
	return &http.Client{
		CheckRedirect: o.redirected,
		Transport: &http.Transport{
			// No proxy: it would look names up where we cannot see.
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true, // calls are rare; nothing stays open
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		},
	}
}

// redirected decides on a redirect.
func (o Options) redirected(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("there were more than %d redirects", maxRedirects)
	}
	if err := checkURL(req.URL); err != nil {
		return err
	}
	if o.May != nil {
		return o.May(req.URL.String())
	}
	return nil
}

// parse is a URL that can be fetched.
func parse(s string) (*url.URL, error) {
	if len(s) > maxURL {
		return nil, fmt.Errorf("the URL has %d bytes; %d is the most", len(s), maxURL)
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	return u, checkURL(u)
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("only http and https URLs can be fetched, not %.40q", u.Scheme+":")
	case u.Hostname() == "":
		return errors.New("the URL names no host")
	case u.User != nil:
		return errors.New("the URL has a user name or password in it; leave them out")
	}
	return nil
}

// why is the cause of a failed request in few words, without the URL: that may
// hold a key.
func why(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if n, ok := errors.AsType[*net.OpError](err); ok && n.Op == "dial" {
		err = n.Err
	}
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("the name %s cannot be looked up: %s", d.Name, d.Err)
	}
	return err.Error()
}
