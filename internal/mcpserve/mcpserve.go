// Package mcpserve offers runs to other programs over the Model Context Protocol:
// the tool launch_run and its companions, and what runs have left behind as
// resources.
//
// A [Server] serves one client on standard input and output, or many over HTTP on
// the loopback interface. All runs that are launched through it belong to one
// session of kind client, which is begun with the first of them and driven in
// this process. Whether a run is launched is decided by that session, and by a
// person where one has to be asked: through the client if it can ask its user,
// else from any window of ours. What a client or a model writes as text decides
// nothing.
//
//	mcpserve.go   the server, its tools and its ends
//	stdio.go      one client on a pipe
//	http.go       many clients on loopback: tokens, hosts, both eras of the protocol
//	desk.go       the session: begun, driven, handed over
//	board.go      a fold of the session's log: what became of each wanted run
//	watch.go      waiting for a wanted run, and telling how it stands
//	launch.go     launch_run
//	find.go       which run a call is about: one there is, or a new one
//	approve.go    the question put to the client's user, and its answer
//	giveup.go     calls that clients give up: which end their run and which do not
//	runs.go       list_runs, get_run, cancel_run, get_answer
//	resources.go  conclave://runs/…
//	schema.go     what clients are told of inputs and results
//
// Goroutines: the server owns one that drives the session and, over HTTP, the one
// that accepts connections; a call that waits owns those that follow the log for
// it. All have ended when Stdio or HTTP returns.
package mcpserve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/control"
)

// Options are what a server is made with.
type Options struct {
	Config  string // the file the agents come from; empty is the project's own
	Version string
	// Wait is how long a call waits for a run before it returns without its
	// result; zero is [DefaultWait].
	Wait time.Duration
	// Say tells the person who started the server something.
	Say func(string)
}

// DefaultWait is how long a call waits if nothing else is said.
const DefaultWait = 10 * time.Minute

// beat is how often a client that waits hears of us, whatever happens: some give
// up on a server that is silent for a minute.
const beat = 10 * time.Second

// private: what is said here is kept by nobody between the client and us.
const private = "private"

// A Server offers runs. It serves once.
type Server struct {
	c       control.Control
	o       Options
	offer   control.Offer
	mcp     *sdk.Server
	desk    *desk
	boards  boards
	secret  []byte // signs what clients keep for us
	givenUp givenUp
	// ending is over when the server is to end, and every call ends with it.
	ending context.Context
	finish context.CancelFunc
	later  sync.WaitGroup // runs that end unless somebody comes back
	while  time.Duration  // for which they go on

	launching sync.Mutex       // one call at a time looks for its run or wants one
	wanted    map[string]*made // by what identifies a call
}

// New makes a server for the project behind c. Its error says what is wrong with
// the configuration.
func New(ctx context.Context, c control.Control, o Options) (*Server, error) {
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	offer, err := c.Offer(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	s := &Server{
		c: c, o: o, offer: offer, secret: make([]byte, 32), wanted: map[string]*made{},
		desk: &desk{c: c, config: o.Config}, boards: boards{c: c}, while: while,
	}
	s.ending, s.finish = context.WithCancel(context.WithoutCancel(ctx))
	_, _ = rand.Read(s.secret) // never fails
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "conclave", Title: "Conclave", Version: o.Version}, &sdk.ServerOptions{
		Instructions: offer.Guidance,
		// Neither tools nor what can be read are announced when they change.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = private },
	})
	s.addTools()
	s.addResources()
	s.mcp.AddReceivingMiddleware(s.minding)
	return s, nil
}

// tool is one row of the table of tools.
type tool struct {
	name, title, about string
	in, out            json.RawMessage
	// looks: it changes nothing. ends: it ends something.
	looks, ends bool
	call        func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)
}

func (s *Server) tools() []tool {
	return []tool{
		{name: toolLaunch, title: "Launch a run", about: s.offer.Description + launchAbout, in: s.offer.Schema, out: launchOut, call: s.launchRun},
		{name: "list_runs", title: "List runs", about: listAbout, in: listIn, out: listOut, looks: true, call: s.listRuns},
		{name: "get_run", title: "Look at a run", about: getAbout, in: getIn, out: launchOut, looks: true, call: s.getRun},
		{name: "cancel_run", title: "Cancel a run", about: cancelAbout, in: cancelIn, out: launchOut, ends: true, call: s.cancelRun},
		{name: "get_answer", title: "Read an answer", about: answerAbout, in: answerIn, out: answerOut, looks: true, call: s.getAnswer},
	}
}

func (s *Server) addTools() {
	for _, t := range s.tools() {
		open := !t.looks && !t.ends // agents may reach anything they are configured with
		s.mcp.AddTool(&sdk.Tool{
			Name: t.name, Title: t.title, Description: t.about, InputSchema: t.in, OutputSchema: t.out,
			Annotations: &sdk.ToolAnnotations{
				Title: t.title, ReadOnlyHint: t.looks, DestructiveHint: &t.ends, IdempotentHint: t.looks || t.ends, OpenWorldHint: &open,
			},
		}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res, err := t.call(ctx, r)
			if err != nil && ctx.Err() == nil {
				return said(err), nil // a model reads it and can do something else
			}
			return res, err
		})
	}
}

// said is an error as a model reads it.
func said(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
}

// result is a value as structured content, and as text for those who read no other.
func result(v any) (*sdk.CallToolResult, error) {
	p, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("put the result into words: %w", err)
	}
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(p), Content: []sdk.Content{&sdk.TextContent{Text: string(p)}}}, nil
}

// arguments reads what a tool was called with.
func arguments(r *sdk.CallToolRequest, into any) error {
	p := r.Params.Arguments
	if len(p) == 0 {
		p = json.RawMessage("{}")
	}
	if err := decode(p, into); err != nil {
		return fmt.Errorf("the arguments of %s cannot be read: %w", r.Params.Name, err)
	}
	return nil
}

// leave ends the driving. What goes on is handed over to a background process.
func (s *Server) leave(ctx context.Context) error {
	s.finish()
	s.later.Wait()
	s.launching.Lock() // what is being wanted is known by then
	defer s.launching.Unlock()
	handed, err := s.desk.close(ctx)
	for id, pid := range handed {
		s.o.Say(fmt.Sprintf("The runs go on in the background, process %d; follow them with: conclave log --follow %s", pid, id))
	}
	return err
}
