package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// refresh has the newest runs listed as resources.
func (s *Server) refresh(ctx context.Context) {
	rows, err := s.rows(ctx, listLimit)
	if err != nil {
		return // a list of nothing is not worth an error: there may be no log yet
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	for _, r := range rows {
		for _, k := range kinds {
			uri := scheme + string(r.RunID) + "/" + k.name
			if s.listed[uri] {
				continue
			}
			s.listed[uri] = true
			s.mcp.AddResource(&sdk.Resource{
				URI: uri, Name: string(r.RunID) + "/" + k.name, Title: k.title, Description: r.Task, MIMEType: k.mime,
			}, s.readResource)
		}
	}
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
