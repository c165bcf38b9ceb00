package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves one client on a pipe until that is closed or ctx ends.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.serve(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}})
}

// serve serves one client. The calls end before the connection does, which waits
// for them; that somebody ended the server is no error.
func (s *Server) serve(ctx context.Context, t sdk.Transport) error {
	connection, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		s.finish()
		cancel()
	})
	defer stop()
	err := s.mcp.Run(connection, &pipe{t, &s.givenUp})
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, s.leave(context.WithoutCancel(ctx)))
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// pipe is a transport whose messages are looked at for calls that are given up.
type pipe struct {
	sdk.Transport
	givenUp *givenUp
}

func (p *pipe) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &minded{c, p.givenUp}, err
}

type minded struct {
	sdk.Connection
	givenUp *givenUp
}

func (m *minded) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := m.Connection.Read(ctx)
	if r, ok := msg.(*jsonrpc.Request); ok {
		id, _ := json.Marshal(r.ID.Raw()) // a number or a text
		_, r.Params = m.givenUp.mind("", r.Method, id, r.Params)
	}
	return msg, err
}
