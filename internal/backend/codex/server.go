package codex

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
)

// A server is one process.
type server struct {
	link  rpc.Link
	proxy *cli.Proxy // nil with the user's own login
	room  string     // its key
	argv  []string   // how it was started, and the environment for it
	env   []string
	ready bool // it has introduced itself, and is one we can speak with
	// loaded are the threads it has in its memory.
	loaded map[string]bool
}

// patience is how long a server may take to introduce itself, and to begin or
// take up a conversation.
const patience = time.Minute

// serve gives a server in the room: the one that runs there, or a new one.
func (a *agent) serve(ctx context.Context, room backend.Room) (*server, error) {
	if s := a.server; s != nil {
		select {
		case <-s.link.Process().Done():
		default:
			if s.room == room.Key() {
				return s, nil
			}
		}
		a.drop()
	}
	s, err := a.start(ctx, room)
	if err != nil {
		return nil, err
	}
	a.server = s
	return s, nil
}

func (a *agent) start(ctx context.Context, room backend.Room) (_ *server, err error) {
	s := &server{room: room.Key(), loaded: map[string]bool{}}
	s.link.Keep = func(m rpc.Message) bool { return m.Method == "thread/tokenUsage/updated" }
	argv, err := a.argv()
	if err != nil {
		return nil, err
	}
	if !a.own() {
		if s.proxy, err = cli.ProxyFor(ctx, room, a.target()); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				s.proxy.Close()
			}
		}()
	}
	env, err := a.furnish(room, s.proxy)
	if err != nil {
		return nil, err
	}
	// It outlives the turn that needs it first.
	p, err := cli.Start(context.WithoutCancel(ctx), room, cli.Command{Argv: argv, Env: env, Hear: s.link.Hear})
	if err != nil {
		return nil, err
	}
	s.link.Bind(p)
	s.argv, s.env = argv, env
	return s, nil
}

// end ends the process, politely at first. Nobody listens to it any more.
func (s *server) end() {
	s.link.Process().End(cli.CloseGrace)
	if s.proxy != nil {
		s.proxy.Close()
	}
}

// greet has the server introduce itself and refuses one that is too old.
func (t *turn) greet(ctx context.Context) error {
	if t.server.ready {
		return nil
	}
	var hello helloResult
	err := t.call(ctx, "initialize", helloParams{
		Client: clientInfo{Name: "conclave", Title: "Conclave", Version: "1"}, Capabilities: capabilities{Experimental: true},
	}, &hello)
	if refusal, ok := errors.AsType[*rpc.Error](err); ok {
		return &backend.Error{Kind: backend.Invalid, Err: refusal, Message: fmt.Sprintf("codex does not speak the protocol Conclave does, which %v and newer do; %s", need.Least, need.Install)}
	}
	if err != nil {
		return t.unanswered(ctx, err)
	}
	if err := need.Check(version(hello.UserAgent)); err != nil {
		return err
	}
	t.server.ready = true
	return t.x.Tell("initialized", nil)
}

// unanswered is why a server has not introduced itself.
func (t *turn) unanswered(ctx context.Context, err error) error {
	s := t.server
	select {
	case <-s.link.Process().Done():
		argv := append(slices.Clone(s.argv[:len(s.argv)-1]), "--version") // instead of app-server
		return need.Explain(ctx, t.in.Room, argv, s.env, s.link.Process())
	default:
		return err
	}
}

// call asks something that has to be answered soon.
func (t *turn) call(ctx context.Context, method string, params, result any) error {
	soon, cancel := context.WithTimeout(ctx, t.agent.patience)
	defer cancel()
	err := t.x.Call(soon, method, params, result)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &backend.Error{Kind: backend.TimedOut, Message: fmt.Sprintf("codex did not answer %s within %v", method, t.agent.patience)}
	}
	return err
}
