package acp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
)

// open goes on with the native session, or begins one, and gives what to say in
// it.
func (t *turn) open(ctx context.Context) ([]sdk.ContentBlock, error) {
	home := t.in.Room.Home()
	saved, err := cli.Load(home, t.in.Thread)
	if err != nil {
		return nil, err
	}
	t.before = saved
	servers, err := t.servers(ctx)
	if err != nil {
		return nil, err
	}
	shape := t.shape()
	id, was, _ := strings.Cut(saved.Native, "#")
	if was != shape {
		saved = cli.Thread{}
	}
	t.session = sdk.SessionId(id)
	if saved.Native != "" && !t.process.loaded[t.session] {
		told, err := t.load(ctx, servers)
		switch {
		case err != nil:
			return nil, err
		case told == nil:
			saved = cli.Thread{}
		default:
			saved = told.recall(saved, t.in.Messages)
		}
	}
	say, next := saved.Next(t.in.Messages)
	if saved.Native == "" {
		if err := t.create(ctx, servers); err != nil {
			return nil, err
		}
		if t.in.System != "" {
			say.Text = t.in.System + "\n\n---\n\n" + say.Text
		}
	}
	t.kept = next
	t.kept.Native, t.kept.Heard = string(t.session)+"#"+shape, said
	t.process.loaded[t.session] = true
	return blocks(say, t.process.can.PromptCapabilities.Image), t.kept.Save(home, t.in.Thread)
}

// remember keeps, before it is told, that the program is told news.
func (t *turn) remember(news string) error {
	if news == "" {
		return nil
	}
	t.kept.News = append(t.kept.News, cli.News{Text: news, Mark: said})
	return t.kept.Save(t.in.Room.Home(), t.in.Thread)
}

// shape stands for what a session cannot change.
func (t *turn) shape() string {
	p, _ := json.Marshal([]any{t.in.System, t.in.Tools}) // strings and valid JSON
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:8])
}

// servers is where the program finds the host's tools.
func (t *turn) servers(ctx context.Context) ([]sdk.McpServer, error) {
	if len(t.in.Tools) == 0 {
		return []sdk.McpServer{}, nil
	}
	if !t.process.can.McpCapabilities.Http {
		return nil, t.agent.invalid("cannot be given tools: it reaches no MCP servers over HTTP (mcpCapabilities.http), so it can neither answer nor vote in a run, nor launch one", nil)
	}
	if err := t.process.tools.open(ctx, t.in.Room); err != nil {
		return nil, err
	}
	url, err := t.process.tools.offer(t.shape(), t.in.Tools)
	if err != nil {
		return nil, err
	}
	return []sdk.McpServer{{Http: &sdk.McpServerHttpInline{
		Type: "http", Name: server, Url: url,
		Headers: []sdk.HttpHeader{{Name: "Authorization", Value: "Bearer " + t.process.tools.token}},
	}}}, nil
}

// load has the program remember a session, if it can, and gives what it tells of it;
// nil if it has forgotten.
func (t *turn) load(ctx context.Context, servers []sdk.McpServer) (*replay, error) {
	if !t.process.can.LoadSession {
		return nil, nil
	}
	r := &replay{calls: map[sdk.ToolCallId]call{}}
	t.replay = r
	defer func() { t.replay = nil }()
	var loaded sdk.LoadSessionResponse
	err := t.call(ctx, sdk.AgentMethodSessionLoad, sdk.LoadSessionRequest{SessionId: t.session, Cwd: t.in.Room.Dir(), McpServers: servers}, &loaded)
	if _, refused := err.(*rpc.Error); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// authRequired is the code of the error with which a program wants a login.
const authRequired = -32000

// create begins a session.
func (t *turn) create(ctx context.Context, servers []sdk.McpServer) error {
	var begun sdk.NewSessionResponse
	err := t.call(ctx, sdk.AgentMethodSessionNew, sdk.NewSessionRequest{Cwd: t.in.Room.Dir(), McpServers: servers}, &begun)
	if refused := (*rpc.Error)(nil); errors.As(err, &refused) && refused.Code == authRequired {
		return &backend.Error{Kind: backend.Auth, Message: t.agent.name() + " is not logged in; log in with it, or give it a key", Err: refused}
	}
	if err != nil {
		return err
	}
	t.session = begun.SessionId
	if t.agent.Model == "" || begun.Models == nil {
		return nil
	}
	var names []string
	for _, m := range begun.Models.AvailableModels {
		if string(m.ModelId) == t.agent.Model {
			return t.call(ctx, sdk.AgentMethodSessionSetModel, sdk.UnstableSetSessionModelRequest{SessionId: t.session, ModelId: sdk.UnstableModelId(m.ModelId)}, &struct{}{})
		}
		names = append(names, string(m.ModelId))
	}
	return t.agent.invalid(fmt.Sprintf("has no model %s; it has %s", t.agent.Model, strings.Join(names, ", ")), nil)
}

// blocks are words and pictures as the protocol has them.
func blocks(say cli.Say, pictures bool) []sdk.ContentBlock {
	out := []sdk.ContentBlock{sdk.TextBlock(say.Text)}
	for _, i := range say.Images {
		if pictures {
			out = append(out, sdk.ImageBlock(base64.StdEncoding.EncodeToString(i.Data), i.Type))
		}
	}
	return out
}
