//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"conclave/internal/policy"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/host"
	"conclave/internal/tool"
)

// onHost is a box that confines nothing: commands run as they are.
func onHost(t *testing.T, dir string) sandbox.Box {
	t.Helper()
	e := host.Engine{Boxes: t.TempDir()}
	box, err := e.Open(t.Context(), sandbox.Spec{Flow: "run-1", Owner: "agent1", Place: policy.Place{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

// acted is a box whose commands are a function: it gets the line and where to
// print, and ends when its context does.
type acted func(ctx context.Context, line string, out io.Writer) (exit int, err error)

func (acted) Close() error { return nil }

func (a acted) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &actedProcess{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.exit, p.err = a(ctx, c.Argv[len(c.Argv)-1], c.Stdout)
	}()
	return p, nil
}

type actedProcess struct {
	stop context.CancelFunc
	done chan struct{}
	exit int
	err  error
}

func (p *actedProcess) Wait() (int, error) { <-p.done; p.stop(); return p.exit, p.err }
func (p *actedProcess) Stop()              { p.stop() }

// broken is a box in which nothing starts.
type broken struct{}

func (broken) Close() error { return nil }
func (broken) Start(context.Context, sandbox.Command) (sandbox.Process, error) {
	return nil, errors.New("no such directory")
}

// call runs a tool and fails the test if that is an error of ours.
func call(t *testing.T, x tool.Tool, input any) tool.Result {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.Run(t.Context(), raw)
	if err != nil {
		t.Fatalf("%s %s: %v", x.Name(), raw, err)
	}
	return res
}

type m = map[string]any
