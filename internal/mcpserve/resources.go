package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A kind is something that can be read of a run.
type kind struct {
	name, title, mime string
	read              func(context.Context, *Server, event.FlowID) (string, error)
}

var kinds = []kind{
	{"log", "The log of a run, an event per line", "application/x-ndjson", readLog},
	{"answer", "The final answer of a run", "text/markdown", readAnswer},
	{"result", "The whole result of a run", "application/json", readResult},
}

const scheme = "conclave://runs/"

func (s *Server) addResources() {
	for _, k := range kinds {
		s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: "run-" + k.name, Title: k.title, Description: k.title + ". list_runs tells which runs there are.",
			MIMEType: k.mime, URITemplate: scheme + "{id}/" + k.name,
		}, s.readResource)
	}
}

// listResources lists what can be read of the newest runs, or of those before the
// one that a cursor names. It is made up when it is asked for: nobody is told of
// changes, and nothing is kept.
func (s *Server) listResources(ctx context.Context, r sdk.Request) (sdk.Result, error) {
	var before event.FlowID
	if p, ok := r.GetParams().(*sdk.ListResourcesParams); ok && p != nil && p.Cursor != "" {
		id, err := s.run(ctx, p.Cursor)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such cursor: " + err.Error()}
		}
		before = id
	}
	rows, more, err := s.rows(ctx, listLimit, before)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: private}}
	for _, r := range rows {
		for _, k := range kinds {
			out.Resources = append(out.Resources, &sdk.Resource{
				URI: scheme + string(r.RunID) + "/" + k.name, Name: string(r.RunID) + "/" + k.name, Title: k.title, Description: r.Task, MIMEType: k.mime,
			})
		}
	}
	if more {
		out.NextCursor = string(rows[len(rows)-1].RunID)
	}
	return out, nil
}

func (s *Server) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	id, name, ok := strings.Cut(strings.TrimPrefix(uri, scheme), "/")
	if !ok || !strings.HasPrefix(uri, scheme) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	for _, k := range kinds {
		if k.name != name {
			continue
		}
		run, err := s.run(ctx, id)
		if err != nil {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		text, err := k.read(ctx, s, run)
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: k.mime, Text: text}}}, nil
	}
	return nil, sdk.ResourceNotFoundError(uri)
}

// maxLog is how much of a log is given at once: its end.
const maxLog = 4 << 20

func readLog(ctx context.Context, s *Server, id event.FlowID) (string, error) {
	var lines [][]byte
	size := 0
	for e, err := range s.c.Read(ctx, id) {
		if err != nil {
			return "", fmt.Errorf("read %s: %w", id, err)
		}
		line, err := json.Marshal(e)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", id, err)
		}
		lines = append(lines, line)
		for size += len(line) + 1; size > maxLog; lines = lines[1:] {
			size -= len(lines[0]) + 1
		}
	}
	return string(bytes.Join(lines, []byte("\n"))) + "\n", nil
}

func readAnswer(ctx context.Context, s *Server, id event.FlowID) (string, error) {
	r, err := s.full(ctx, id)
	return r.FinalAnswer.Text, err
}

func readResult(ctx context.Context, s *Server, id event.FlowID) (string, error) {
	r, err := s.full(ctx, id)
	if err != nil {
		return "", err
	}
	p, err := json.MarshalIndent(r, "", "  ")
	return string(p), err
}

// full is the result of a run with all its texts.
func (s *Server) full(ctx context.Context, id event.FlowID) (view.RunResult, error) {
	now, err := s.c.Open(ctx, id)
	if err != nil {
		return view.RunResult{}, err
	}
	return resolve(ctx, s.c, now.Result.RunResult())
}
