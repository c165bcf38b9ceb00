package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// emptyServer is an MCP server with a tool that does nothing.
const emptyServer = `package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "empty", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "nothing"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}
`

// manyLaunches is how many runs one client launches.
const manyLaunches = 200

// launches has another program launch runs of one quick agent over MCP on
// standard input and output. Floors are a call of a tool that does nothing, and
// the same run by conclave run, without the start of the process.
func launches(ctx context.Context, dir string) ([]row, error) {
	file, err := furnish(dir)
	if err != nil {
		return nil, err
	}
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	src := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(src, []byte(emptyServer), 0o600); err != nil {
		return nil, err
	}
	empty, err := build(dir, "empty", src)
	if err != nil {
		return nil, err
	}
	other, err := connects(ctx, dir, empty)
	if err != nil {
		return nil, err
	}
	told, err := connects(ctx, dir, prog, "mcp", "--config", file)
	if err != nil {
		return nil, err
	}
	start, run, err := paired(15,
		command(dir, prog, "--version"),
		command(dir, prog, "run", "--config", file, "--single", "--quick", "What is six times seven?"))
	if err != nil {
		return nil, err
	}
	nothing, err := connect(ctx, dir, empty)
	if err != nil {
		return nil, err
	}
	defer nothing.Close()
	ours, err := connect(ctx, dir, prog, "mcp", "--config", file)
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	var calls, took []time.Duration
	for n := range manyLaunches {
		begin := time.Now()
		if err := use(ctx, nothing, "nothing", map[string]any{}, ""); err != nil {
			return nil, err
		}
		between := time.Now()
		if err := use(ctx, ours, "launch_run", map[string]any{"task": fmt.Sprintf("What is %d times seven?", n), "agent_mode": "single", "refinement": false}, "success"); err != nil {
			return nil, err
		}
		calls, took = append(calls, between.Sub(begin)), append(took, time.Since(between))
	}
	call, launch, last := middle(calls), middle(took[:25]), middle(took[manyLaunches-25:])
	r := against("`conclave mcp` started, until a client knows its tools", "a server with one empty tool", other, told, 0)
	r.budget, r.ok = "≤ 60 ms over it", told-other <= 60*time.Millisecond
	floor := fmt.Sprintf("the same by `conclave run`, %s without its start, and an empty call, %s", short(run-start), short(call))
	return []row{
		r,
		against("`launch_run` over MCP: one quick agent, no model latency", floor, run-start+call, launch, 1.5),
		against(fmt.Sprintf("the same after %d runs of one client", manyLaunches-25), "the first", launch, last, 2),
	}, nil
}

// connects takes the time from the start of a server until a client has listed
// its tools.
func connects(ctx context.Context, dir string, argv ...string) (time.Duration, error) {
	var all []time.Duration
	for range 15 {
		begin := time.Now()
		s, err := connect(ctx, dir, argv...)
		if err != nil {
			return 0, err
		}
		_, err = s.ListTools(ctx, nil)
		all = append(all, time.Since(begin))
		if err = errors.Join(err, s.Close()); err != nil {
			return 0, err
		}
	}
	return middle(all), nil
}

func connect(ctx context.Context, dir string, argv ...string) (*sdk.ClientSession, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	return sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
}

func command(dir, name string, args ...string) func() error {
	return func() error {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
		return nil
	}
}

// use calls a tool; its result has to have the given status, if any.
func use(ctx context.Context, s *sdk.ClientSession, name string, args map[string]any, status string) error {
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err
	}
	got, _ := res.StructuredContent.(map[string]any)
	if res.IsError || status != "" && got["status"] != status {
		return fmt.Errorf("%s gave back %v %v", name, got, res.Content)
	}
	return nil
}
