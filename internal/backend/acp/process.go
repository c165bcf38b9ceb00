package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
)

// A process is the program that runs.
type process struct {
	link  rpc.Link
	tools *toolbox
	room  string // its key
	ready bool   // it has introduced itself
	can   sdk.AgentCapabilities
	// loaded are the sessions it has in its memory.
	loaded map[sdk.SessionId]bool
}

// patience is how long a program may take to introduce itself, or to begin a
// session.
const patience = 2 * time.Minute

// run gives the program in the room: the one that runs there, or a new one.
func (a *agent) run(ctx context.Context, room backend.Room) (*process, error) {
	if p := a.process; p != nil {
		select {
		case <-p.link.Process().Done():
		default:
			if p.room == room.Key() {
				return p, nil
			}
		}
		a.drop()
	}
	p, err := a.start(ctx, room)
	if err != nil {
		return nil, err
	}
	a.process = p
	return p, nil
}

func (a *agent) start(ctx context.Context, room backend.Room) (*process, error) {
	if len(a.Command) == 0 {
		return nil, a.invalid("has no command to start it with", nil)
	}
	env := []string{"HOME=" + room.Home()}
	if a.key != "" {
		if len(a.Key.Env) == 0 {
			return nil, a.invalid("cannot be given its key: name the variable it takes it from (api_key_env)", nil)
		}
		env = append(env, a.Key.Env[0]+"="+a.key)
	}
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	p := &process{link: rpc.Link{Version: "2.0"}, tools: newToolbox(), room: room.Key(), loaded: map[sdk.SessionId]bool{}}
	// It outlives the turn that needs it first.
	started, err := cli.Start(context.WithoutCancel(ctx), room, cli.Command{Argv: a.Command, Env: env, Hear: p.link.Hear})
	if err != nil {
		return nil, err
	}
	p.link.Bind(started)
	return p, nil
}

// end ends the process, politely at first. Nobody listens to it any more.
func (p *process) end() {
	p.link.Process().End(cli.CloseGrace)
	p.tools.close()
}

// greet has the program introduce itself and refuses one that speaks another
// version of the protocol.
func (t *turn) greet(ctx context.Context) error {
	p, a := t.process, t.agent
	if p.ready {
		return nil
	}
	title := "Conclave"
	ask := sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "conclave", Title: &title, Version: "1"},
	}
	if room := t.in.Room; !room.Boxed() {
		ask.ClientCapabilities.Fs = sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: !room.ReadOnly()}
	}
	var hello sdk.InitializeResponse
	err := t.call(ctx, sdk.AgentMethodInitialize, ask, &hello)
	if refused, ok := err.(*rpc.Error); ok {
		return a.invalid("does not speak the Agent Client Protocol as Conclave does", refused)
	}
	if err != nil {
		return err
	}
	if hello.ProtocolVersion != sdk.ProtocolVersionNumber {
		return a.invalid(fmt.Sprintf("speaks version %d of the Agent Client Protocol, and Conclave version %d; install a version of it that speaks that one",
			hello.ProtocolVersion, sdk.ProtocolVersionNumber), nil)
	}
	p.ready, p.can = true, hello.AgentCapabilities
	return nil
}

// call asks something that has to be answered soon.
func (t *turn) call(ctx context.Context, method string, params, result any) error {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := t.x.Call(soon, method, params, result)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &backend.Error{Kind: backend.TimedOut, Message: fmt.Sprintf("%s did not answer %s within %v", t.agent.name(), method, patience)}
	}
	return err
}
