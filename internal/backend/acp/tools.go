package acp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/event"
)

// server is what the MCP server with the host's tools is called.
const server = "conclave"

// over is what is said to whoever calls in a turn that is over.
const over = "This turn is over; do nothing more and end it."

// beat is how often a program that waits for a tool hears of us: some give up on a
// server that says nothing for a minute.
const beat = 15 * time.Second

// settling is how long nothing may have come from the program for all to be heard
// that it said before a call.
const settling = 100 * time.Millisecond

// A toolbox serves the host's tools to one process. Which tools there are depends
// on the address; who carries them out is the turn that goes on.
type toolbox struct {
	token   string
	door    *cli.Door // nil before there are tools to offer
	http    *http.Server
	serving sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	offered map[string]http.Handler // by path
	turn    attendant               // nil between turns
}

// An attendant carries out a call, until the caller has gone. It reports whether
// it did.
type attendant func(c event.ToolCall, gone context.Context) (backend.ToolResult, bool)

func newToolbox() *toolbox {
	return &toolbox{token: rand.Text(), offered: map[string]http.Handler{}}
}

// open begins to serve what runs in a room, once.
func (b *toolbox) open(ctx context.Context, room backend.Room) error {
	if b.door != nil {
		return nil
	}
	door, err := cli.OpenDoor(ctx, room, "the tools that it is given")
	if err != nil {
		return err
	}
	b.door = door
	b.http = &http.Server{Handler: b, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second}
	b.serving.Go(func() {
		if err := b.http.Serve(door); !errors.Is(err, http.ErrServerClosed) {
			door.Close()
		}
	})
	return nil
}

// close ends whatever is being served and returns when nothing is.
func (b *toolbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	if b.door != nil {
		_ = b.http.Close()
	}
	b.serving.Wait()
}

// enter finds who serves a path, and counts whoever comes among those that close
// waits for.
func (b *toolbox) enter(path string) http.Handler {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.offered[path] == nil {
		return nil
	}
	b.serving.Add(1)
	return b.offered[path]
}

// offer makes tools available and says where.
func (b *toolbox) offer(name string, tools []backend.ToolSpec) (url string, err error) {
	s := mcp.NewServer(&mcp.Implementation{Name: server, Version: "1"}, nil)
	for _, t := range tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil || schema["type"] != "object" {
			return "", &backend.Error{Kind: backend.Broken, Message: fmt.Sprintf("the schema of %s is none of an object", t.Name), Err: err}
		}
		s.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: schema}, b.called)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		// By what name a room reaches the loopback is its own concern; who has no token is not let in.
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offered["/"+name] = handler
	return b.door.URL + "/" + name, nil
}

// attend says who carries out calls from now on.
func (b *toolbox) attend(turn attendant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn = turn
}

func (b *toolbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !b.door.Welcome(r) || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(got), []byte(b.token)) != 1 {
		http.Error(w, "This is for one program alone.", http.StatusUnauthorized)
		return
	}
	handler := b.enter(r.URL.Path)
	if handler == nil {
		http.NotFound(w, r)
		return
	}
	defer b.serving.Done()
	handler.ServeHTTP(w, r)
}

// called has the turn that goes on carry out a call, and tells the caller now and
// then that it is being worked on.
func (b *toolbox) called(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	b.mu.Lock()
	turn := b.turn
	b.mu.Unlock()
	result := backend.ToolResult{Text: over, Error: true}
	if turn != nil {
		stop := b.reassure(ctx, r)
		got, ok := turn(event.ToolCall{ID: "call-" + rand.Text()[:12], Name: r.Params.Name, Input: backend.Arguments(string(r.Params.Arguments))}, ctx)
		stop()
		if ok {
			result = got
		}
	}
	out := &mcp.CallToolResult{IsError: result.Error, Content: []mcp.Content{&mcp.TextContent{Text: result.Text}}}
	for _, i := range result.Images {
		out.Content = append(out.Content, &mcp.ImageContent{MIMEType: i.Type, Data: i.Data})
	}
	return out, nil
}

// reassure reports progress until it is stopped.
func (b *toolbox) reassure(ctx context.Context, r *mcp.CallToolRequest) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-tick.C:
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: "still at it"})
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// called carries out one of the host's tools. It is not on the turn's goroutine.
func (t *turn) called(work, gone context.Context, c event.ToolCall) (backend.ToolResult, bool) {
	answer := make(chan backend.ToolResult, 1)
	ok := t.x.Post(func() error {
		t.heard = true // or it would have nothing to call for
		if t.ending || t.quiet {
			answer <- backend.ToolResult{Text: over, Error: true}
			return nil
		}
		t.x.Beside(func() func() error {
			ctx, cancel := context.WithCancel(work)
			defer cancel()
			defer context.AfterFunc(gone, cancel)()
			r := t.host.Call(ctx, c)
			return func() error {
				if err := t.remember(r.News); err != nil {
					return err
				}
				defer func() { answer <- r }()
				if !r.End || t.ending {
					return nil
				}
				// What was said before the call counts, and may still be on its way.
				err := t.x.Settle(settling)
				t.ending = true
				return err
			}
		})
		return nil
	})
	if !ok {
		return backend.ToolResult{}, false
	}
	select {
	case r := <-answer:
		return r, true
	case <-t.x.Over():
		return backend.ToolResult{}, false
	}
}
