package cli

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"conclave/internal/backend"
)

// A Door is where what runs in a room reaches us: on the loopback or, if the room has
// a network of its own such as a container's, at its doorway ([backend.Secluded]).
type Door struct {
	net.Listener
	// URL is by which the room reaches it.
	URL  string
	from netip.Prefix
}

// OpenDoor listens for what runs in a room. What says what that would reach, for
// whoever reads that it cannot.
func OpenDoor(ctx context.Context, room backend.Room, what string) (*Door, error) {
	r, ok := room.(backend.Secluded)
	if !ok {
		return listen(loopback)
	}
	d, err := r.Doorway(ctx)
	if err != nil {
		return nil, &backend.Error{Kind: backend.Invalid, Message: "the program could not reach " + what + " from where it runs", Err: err}
	}
	return listen(d)
}

var loopback = backend.Doorway{Listen: "127.0.0.1", Name: "127.0.0.1"}

func listen(d backend.Doorway) (*Door, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(d.Listen, "0"))
	if err != nil {
		return nil, broken("listen for the program's requests", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // which it has
	return &Door{Listener: l, URL: "http://" + net.JoinHostPort(d.Name, port), from: d.From}, nil
}

// Welcome is that a request comes from where the room is. A bridge to containers has
// an address that machines around may find, too.
func (d *Door) Welcome(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return !d.from.IsValid() || err == nil && d.from.Contains(from.Addr().Unmap())
}
