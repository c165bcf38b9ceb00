package mcpserve

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawClient says exactly what the test says.
type rawClient struct {
	t *testing.T
	c sdk.Connection
}

func (r *rawClient) send(id any, method string, params any) {
	r.t.Helper()
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id != nil {
		m["id"] = id
	}
	p, err := json.Marshal(m)
	if err != nil {
		r.t.Fatal(err)
	}
	msg, err := jsonrpc.DecodeMessage(p)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.c.Write(r.t.Context(), msg); err != nil {
		r.t.Fatal(err)
	}
}

// answer is the answer to a request; everything else is passed over.
func (r *rawClient) answer(id int64) string {
	r.t.Helper()
	for {
		msg, err := r.c.Read(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if m, ok := msg.(*jsonrpc.Response); ok && m.ID.Raw() == id {
			if m.Error != nil {
				return m.Error.Error()
			}
			return string(m.Result)
		}
	}
}

// notified is the next notification of a kind; everything else is passed over.
func (r *rawClient) notified(method string) string {
	r.t.Helper()
	for {
		msg, err := r.c.Read(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if m, ok := msg.(*jsonrpc.Request); ok && m.Method == method {
			return string(m.Params)
		}
	}
}

func (r *rawClient) initialize() {
	r.t.Helper()
	r.send(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "raw", "version": "1"}})
	r.answer(1)
	r.send(nil, "notifications/initialized", map[string]any{})
}
