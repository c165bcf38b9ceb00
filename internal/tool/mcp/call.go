package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"conclave/internal/policy"
	"conclave/internal/tool"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A remote is a tool of a server.
type remote struct {
	offer
	server *server
}

var (
	_ tool.Tool  = (*remote)(nil)
	_ tool.Actor = (*remote)(nil)
)

func (r *remote) Name() string            { return r.name }
func (r *remote) Description() string     { return r.about }
func (r *remote) Schema() json.RawMessage { return r.schema }

// Tier implements [tool.Tool]. A server may say that a tool only looks; that is
// for it to say and not for us to believe.
func (*remote) Tier() tool.Tier { return tool.World }

// ReadsOnly is what the server says of the tool, for whoever binds only those.
func (r *remote) ReadsOnly() bool { return r.reads }

// Action implements [tool.Actor].
func (r *remote) Action(input json.RawMessage) policy.Action {
	return policy.Action{Tool: r.name, Kind: policy.MCP, Target: r.target, By: r.server.who(), Input: string(input)}
}

// who is the server as it is configured, references unexpanded: a permission
// holds for this one and for no other of the same name.
func (s *server) who() string {
	if s.gear.URL != "" {
		return s.gear.URL
	}
	return fmt.Sprintf("%q", s.gear.Command)
}

// Run implements [tool.Tool].
func (r *remote) Run(ctx context.Context, input json.RawMessage) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	if wrong := checkInput(input); wrong != "" {
		return tool.Failed(wrong), nil
	}
	limited, cancel := context.WithTimeout(ctx, r.server.call())
	defer cancel()
	res, err := r.call(limited, input)
	if errors.Is(err, sdk.ErrSessionMissing) {
		// The server has forgotten us, and so has done nothing.
		res, err = r.call(limited, input)
	}
	switch {
	case err == nil:
		return resultOf(res), nil
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case limited.Err() != nil:
		return r.failed("did not answer within %s, and the call was cancelled. Whether it was carried out is not known", r.server.call()), nil
	}
	return r.failed("%s", err), nil
}

// failed tells the model what became of a call.
func (r *remote) failed(format string, args ...any) tool.Result {
	text := fmt.Sprintf("The MCP server %s ", r.server.gear.Name) + strings.TrimSuffix(fmt.Sprintf(format, args...), ".") + "."
	return tool.Failed(clean(r.server.scrubbed(text), tool.MaxText))
}

// call makes the call. An error is the rest of a sentence.
func (r *remote) call(ctx context.Context, input json.RawMessage) (*sdk.CallToolResult, error) {
	l, err := r.server.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("is not there: %w", err)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	res, err := l.session.CallTool(inner, &sdk.CallToolParams{Name: r.tool, Arguments: input})
	refused := refusal(err)
	switch {
	case err == nil || refused != nil:
		r.server.answered()
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case r.server.set.ctx.Err() != nil:
		return nil, fmt.Errorf("is not there: %w", errClosed)
	}
	switch {
	case err == nil:
		return res, nil
	case errors.Is(err, sdk.ErrSessionMissing):
		r.gone(ctx, l)
		return nil, fmt.Errorf("has ended the session: %w", err)
	case refused != nil:
		return nil, fmt.Errorf("refused the call: %s", refused.Message)
	case r.gone(ctx, l):
		return nil, fmt.Errorf("ended in the middle of the call: %w. Whether the call was carried out is not known%s. The next call starts it anew", l.cause, heard(l))
	}
	return nil, fmt.Errorf("could not be asked: %w", err)
}

// gone waits for the end of a link that is broken, so that it can be said why.
// One that is not broken is not.
func (r *remote) gone(ctx context.Context, l *link) bool {
	if !l.broken() {
		return false
	}
	select {
	case <-l.over:
		return true
	case <-ctx.Done():
		return false
	}
}

// heard is the end of what a server wrote to its standard error.
func heard(l *link) string {
	text := l.said()
	if text == "" {
		return ""
	}
	const most = 1 << 10
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return ". It wrote to its standard error: " + text
}
