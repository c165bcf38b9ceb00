package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// The test's own program is the agent, too, if this variable says what it is like.
const fakeVar, sceneVar = "ACP_FAKE", "ACP_SCENE"

func TestMain(m *testing.M) {
	if like := os.Getenv(fakeVar); like != "" {
		os.Exit(fake(like))
	}
	goleak.VerifyTestMain(m)
}

// fake speaks the protocol until its input ends.
func fake(like string) int {
	if like == "stubborn" {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	f := &fakeAgent{like: like, sessions: map[sdk.SessionId]*session{}}
	if name := os.Getenv(sceneVar); name != "" {
		p, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(p, &f.scene)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	f.conn = sdk.NewAgentSideConnection(f, os.Stdout, os.Stdin)
	<-f.conn.Done()
	if like == "stubborn" {
		_ = exec.Command("sleep", "1000").Run()
	}
	return 0
}

type fakeAgent struct {
	like  string
	scene *backendtest.Scene
	conn  *sdk.AgentSideConnection

	mu       sync.Mutex
	sessions map[sdk.SessionId]*session
}

// A session is one conversation of the fake's. It keeps it in its home.
type session struct {
	Said  []string // by the user
	Found []string // by tools
	Turns int      // how often the assistant has spoken
	mcp   []sdk.McpServer
	stop  context.CancelFunc
}

func (f *fakeAgent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	r := sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AgentCapabilities: sdk.AgentCapabilities{LoadSession: true}}
	r.AgentCapabilities.McpCapabilities.Http = f.like != "toolless"
	if f.like == "old" {
		r.ProtocolVersion = 0
	}
	return r, nil
}

func (f *fakeAgent) NewSession(_ context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if f.like == "locked" {
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id := sdk.SessionId(fmt.Sprintf("s-%d-%d", os.Getpid(), len(f.sessions)))
	f.sessions[id] = &session{mcp: r.McpServers}
	return sdk.NewSessionResponse{SessionId: id}, nil
}

func file(id sdk.SessionId) string { return filepath.Join(os.Getenv("HOME"), string(id)) }

func (f *fakeAgent) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	p, err := os.ReadFile(file(r.SessionId))
	s := &session{mcp: r.McpServers}
	if err == nil {
		err = json.Unmarshal(p, s)
	}
	if err != nil {
		return sdk.LoadSessionResponse{}, sdk.NewInvalidParams(err.Error())
	}
	for i, said := range s.Said { // what was said is told again
		_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: r.SessionId, Update: sdk.UpdateUserMessageText(said)})
		f.say(ctx, r.SessionId, fmt.Sprint("replay of an answer to ", i))
	}
	for i, found := range s.Found {
		id := sdk.ToolCallId(fmt.Sprint("old-", i))
		_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: r.SessionId, Update: sdk.StartToolCall(id, "lookup")})
		_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: r.SessionId, Update: sdk.UpdateToolCall(id,
			sdk.WithUpdateRawOutput(map[string]any{"content": []any{map[string]any{"type": "text", "text": found}}}))})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[r.SessionId] = s
	return sdk.LoadSessionResponse{}, nil
}

func (f *fakeAgent) say(ctx context.Context, id sdk.SessionId, text string) {
	_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: sdk.UpdateAgentMessageText(text)})
}

func (f *fakeAgent) Cancel(_ context.Context, n sdk.CancelNotification) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[n.SessionId]; s != nil && s.stop != nil && f.like != "stubborn" {
		s.stop()
	}
	return nil
}

func (f *fakeAgent) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	if f.like == "stubborn" {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.mu.Lock()
	s := f.sessions[r.SessionId]
	s.stop = stop
	if f.like == "late" { // what it hears it writes down only with the next
		f.keep(r.SessionId, s)
	}
	s.Said = append(s.Said, r.Prompt[0].Text.Text)
	if f.like != "late" {
		f.keep(r.SessionId, s)
	}
	f.mu.Unlock()
	var done sdk.PromptResponse
	var err error
	if f.scene != nil {
		done, err = f.play(ctx, r.SessionId, s)
	} else {
		done, err = f.obey(ctx, r.SessionId, s)
	}
	if ctx.Err() != nil {
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	return done, err
}

func (f *fakeAgent) keep(id sdk.SessionId, s *session) {
	p, _ := json.Marshal(s)
	if err := os.WriteFile(file(id), p, 0o600); err != nil {
		panic(err)
	}
}

// play does as the scene says.
func (f *fakeAgent) play(ctx context.Context, id sdk.SessionId, s *session) (sdk.PromptResponse, error) {
	sent, used := strings.Join(s.Said, "\n"), &sdk.Usage{}
	tools, err := connect(ctx, s)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	defer tools.close()
	sent += tools.names
	for {
		reply, ok := f.scene.Reply(s.Turns)
		if !ok || len(reply.Missing(sent)) > 0 {
			return sdk.PromptResponse{}, sdk.NewInvalidParams("not as the scene needs it")
		}
		s.Turns++
		used.InputTokens += int(reply.Usage.Input)
		used.OutputTokens += int(reply.Usage.Output)
		var wg sync.WaitGroup
		results := make([]string, len(reply.Parts))
		for i, p := range reply.Parts {
			switch {
			case p.Call != nil:
				wg.Go(func() { results[i] = tools.call(ctx, *p.Call) })
			case p.Thinking != "":
				_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: sdk.UpdateAgentThoughtText(p.Thinking)})
			default:
				f.say(ctx, id, p.Text)
			}
		}
		wg.Wait()
		sent += strings.Join(results, "\n")
		if found := strings.TrimSpace(strings.Join(results, "\n")); found != "" && f.like == "itself" {
			s.Found = append(s.Found, found)
			f.keep(id, s)
		}
		switch {
		case reply.Hang:
			<-ctx.Done()
		case reply.Fail != nil:
			return sdk.PromptResponse{}, failure(ctx, reply.Fail.Kind)
		}
		if len(reply.Calls()) == 0 || ctx.Err() != nil {
			stop := sdk.StopReasonEndTurn
			if reply.Stop == "length" {
				stop = sdk.StopReasonMaxTokens
			}
			return sdk.PromptResponse{StopReason: stop, Usage: used}, nil
		}
	}
}

// failure is how agents report what happened to them, if they still can.
func failure(ctx context.Context, k backend.ErrorKind) error {
	switch k {
	case backend.Auth:
		return sdk.NewAuthRequired(nil)
	case backend.Invalid:
		return sdk.NewInvalidParams("no")
	case backend.Overloaded:
		return sdk.NewInternalError(map[string]any{"details": "API Error: 529 overloaded_error"})
	case backend.TimedOut:
		<-ctx.Done()
	case backend.Garbled:
		os.Stdout.WriteString("{\"jsonrpc\": \n")
		<-ctx.Done()
	}
	fmt.Fprintln(os.Stderr, "I give up.")
	os.Exit(3)
	return nil
}

// A kit is the tools of an MCP server.
type kit struct {
	session *mcp.ClientSession
	names   string
}

func connect(ctx context.Context, s *session) (*kit, error) {
	if len(s.mcp) == 0 {
		return &kit{}, nil
	}
	h := s.mcp[0].Http
	client := &http.Client{Transport: bearer{h.Headers[0]}}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "fake", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: h.Url, HTTPClient: client}, nil)
	if err != nil {
		return nil, err
	}
	k := &kit{session: c}
	list, err := c.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		k.names += " " + t.Name
	}
	return k, nil
}

func (k *kit) close() {
	if k.session != nil {
		_ = k.session.Close()
	}
}

func (k *kit) call(ctx context.Context, c backendtest.Call) string {
	r, err := k.session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: backend.Arguments(c.Input)})
	if err != nil {
		return err.Error()
	}
	return r.Content[0].(*mcp.TextContent).Text
}

type bearer struct{ header sdk.HttpHeader }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(b.header.Name, b.header.Value)
	return http.DefaultTransport.RoundTrip(r)
}

// What the protocol asks for besides.

func (f *fakeAgent) Authenticate(context.Context, sdk.AuthenticateRequest) (r sdk.AuthenticateResponse, err error) {
	return r, nil
}
func (f *fakeAgent) CloseSession(context.Context, sdk.CloseSessionRequest) (r sdk.CloseSessionResponse, err error) {
	return r, nil
}
func (f *fakeAgent) ListSessions(context.Context, sdk.ListSessionsRequest) (r sdk.ListSessionsResponse, err error) {
	return r, nil
}
func (f *fakeAgent) ResumeSession(context.Context, sdk.ResumeSessionRequest) (r sdk.ResumeSessionResponse, err error) {
	return r, nil
}
func (f *fakeAgent) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (r sdk.SetSessionConfigOptionResponse, err error) {
	return r, nil
}
func (f *fakeAgent) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (r sdk.SetSessionModeResponse, err error) {
	return r, nil
}
