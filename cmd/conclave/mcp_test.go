package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
)

// connect is a client of ours on the server's standard input and output.
func (o *office) connect(t *testing.T, opts *sdk.ClientOptions, more ...string) *sdk.ClientSession {
	t.Helper()
	command, args := o.stdio(t, more...)
	cmd := exec.Command(command, args...)
	cmd.Env, cmd.Dir = o.command().Env, o.dir
	c, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, opts).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// launch has a run launched; what comes of it is sent on.
func launch(ctx context.Context, c *sdk.ClientSession) <-chan map[string]any {
	out := make(chan map[string]any, 1)
	go func() {
		res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "launch_run", Arguments: task})
		if err != nil {
			out <- map[string]any{"status": "failed: " + err.Error()}
			return
		}
		got, _ := res.StructuredContent.(map[string]any)
		if got == nil {
			p, _ := json.Marshal(res)
			got = map[string]any{"status": string(p)}
		}
		out <- got
	}()
	return out
}

// A client launches a run and goes away, or its server is told to end while it
// waits: the run goes on in the background, and a client that comes back has its
// result.
func TestMCPHandOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*os.Process, io.Closer) error{
		"client gone": func(_ *os.Process, in io.Closer) error { return in.Close() },
		"SIGTERM":     func(p *os.Process, _ io.Closer) error { return p.Signal(syscall.SIGTERM) },
		"SIGINT":      func(p *os.Process, _ io.Closer) error { return p.Signal(os.Interrupt) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handOver(t, end)
		})
	}
}

func handOver(t *testing.T, end func(*os.Process, io.Closer) error) {
	o := newOffice(t, false)
	command, args := o.stdio(t)
	cmd := exec.Command(command, args...)
	cmd.Env, cmd.Dir = o.command().Env, o.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := launch(t.Context(), c)
	<-o.asked
	if err := end(cmd.Process, in); err != nil { // in the middle of the call
		t.Fatal(err)
	}
	<-gone
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	<-o.asked // by the background process
	again := launch(t.Context(), o.connect(t, nil))
	o.answer <- "the answer is 42" // to the request that nobody waits for any more
	o.answer <- "the answer is 42"
	if got := <-again; got["status"] != "success" || got["final_answer"] != "the answer is 42" {
		t.Errorf("got %v", got)
	}
	if got := o.states(t); got != "success" {
		t.Errorf("the runs: %s", got)
	}
}

// A run waits for a person where one has to be asked, and conclave approve is
// heard by the client that waits. What is said over MCP approves nothing.
// IM-04.1
func TestMCPApproval(t *testing.T) {
	t.Parallel()
	o := newOffice(t, true)
	c := o.connect(t, nil)
	told := launch(t.Context(), c)
	x := o.start(t, "sessions")
	for x.ends(0); !strings.Contains(x.out.String(), "waiting for you"); x.ends(0) {
		x = o.start(t, "sessions")
	}
	o.output(t, "approve")
	<-o.asked
	o.answer <- "the answer is 42"
	if got := <-told; got["status"] != "success" {
		t.Errorf("got %v", got)
	}
}

// The user of a client that can ask is asked.
// IM-04.1
func TestMCPElicitation(t *testing.T) {
	t.Parallel()
	for _, decision := range []string{event.LaunchApprove, event.LaunchDeny} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, true)
			c := o.connect(t, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				if !strings.Contains(r.Params.Message, "six times seven") {
					t.Errorf("asked %s", r.Params.Message)
				}
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
			}})
			told := launch(t.Context(), c)
			want := "cancelled"
			if decision == event.LaunchApprove {
				want = "success"
				<-o.asked
				o.answer <- "the answer is 42"
			}
			if got := <-told; got["status"] != want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A client that is told to end ends, and so does a server that is.
func TestMCPSignals(t *testing.T) {
	t.Parallel()
	o := newOffice(t, false)
	_, _, p := o.listen(t)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(0)
}

// The MCP inspector lists and calls every tool, on both transports.
func TestInspector(t *testing.T) {
	t.Parallel()
	npm(t)
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, false)
			go func() {
				<-o.asked
				o.answer <- "the answer is 42"
			}()
			servers := map[string]any{"type": "stdio"}
			if way == "http" {
				servers = o.remote(t)
			} else {
				servers["command"], servers["args"] = o.stdio(t)
				servers["env"] = o.environment()
			}
			p, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"conclave": servers}})
			if err != nil {
				t.Fatal(err)
			}
			file := o.write(t, "servers.json", string(p))
			inspect := func(args ...string) map[string]any {
				t.Helper()
				out, err := node(t, "mcp-inspector", append([]string{"--cli", "--config", file, "--server", "conclave", "--method"}, args...)...).Output()
				var v map[string]any
				if json.Unmarshal(out, &v) != nil || err != nil && v["isError"] != true {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				return v
			}
			use := func(tool string, args ...string) map[string]any {
				t.Helper()
				v, _ := inspect(append([]string{"tools/call", "--tool-name", tool, "--tool-arg"}, args...)...)["structuredContent"].(map[string]any)
				return v
			}
			if tools := inspect("tools/list")["tools"].([]any); len(tools) != 5 {
				t.Errorf("%d tools", len(tools))
			}
			got := use("launch_run", "task=What is six times seven?", "agent_mode=single", "refinement=false")
			if got["status"] != "success" {
				t.Fatalf("launch_run: %v", got)
			}
			run, _ := got["run_id"].(string)
			if got := use("get_run", "run_id="+run); got["final_answer"] != "the answer is 42" {
				t.Errorf("get_run: %v", got)
			}
			if got := use("get_answer", "run_id="+run); got["content"] != "the answer is 42" {
				t.Errorf("get_answer: %v", got)
			}
			if got := use("list_runs", "limit=1"); len(got["runs"].([]any)) != 1 {
				t.Errorf("list_runs: %v", got)
			}
			if got := inspect("tools/call", "--tool-name", "cancel_run", "--tool-arg", "run_id="+run); got["isError"] != true {
				t.Errorf("cancel_run of a run that is over: %v", got)
			}
			if got, _ := json.Marshal(inspect("resources/read", "--uri", "conclave://runs/"+run+"/answer")); !strings.Contains(string(got), "the answer is 42") {
				t.Errorf("the answer as a resource: %s", got)
			}
		})
	}
}

// What the official suite asks of any server holds of ours.
func TestConformance(t *testing.T) {
	t.Parallel()
	npm(t)
	o := newOffice(t, false)
	at, token, _ := o.listen(t)
	target, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	target.Path = ""
	// The suite has no token to show.
	shows := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	defer shows.Close()
	// The others call tools, prompts and resources that are made for them.
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams", "dns-rebinding-protection"} {
		out, err := node(t, "conformance", "server", "--url", shows.URL+"/mcp", "--scenario", scenario).CombinedOutput()
		if err != nil || !strings.Contains(string(out), ", 0 failed, 0 warnings") {
			t.Errorf("%s: %v\n%s", scenario, err, out)
		}
	}
	if res, err := http.Get(at); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %v %v", res, err)
	} else {
		res.Body.Close()
	}
}

// A token comes from a file, and what is wrong with one is said.
func TestMCPToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t, false)
	o.write(t, "short", "abc\n")
	for _, tt := range []struct {
		env  string
		args []string
		want string
	}{
		{"", []string{"--http", "127.0.0.1:0", "--token-file", "short"}, "at least 16 characters"},
		{"", []string{"--http", "127.0.0.1:0", "--token-file", "none"}, "read the token"},
		{"abc", []string{"--http", "127.0.0.1:0"}, "at least 16 characters"},
		{" ", []string{"--http", "127.0.0.1:0"}, "at least 16 characters"},
		{"", []string{"--token-file", "short"}, "--token-file is for --http"},
		{"", []string{"--http", "0.0.0.0:0"}, "other machines"},
		{"", []string{"--config", filepath.Join(o.dir, "nothing.yaml")}, "nothing.yaml"},
	} {
		o := &office{project: &project{dir: o.dir, env: append(slices.Clone(o.env), "CONCLAVE_MCP_TOKEN="+tt.env)}}
		x := o.start(t, append([]string{"mcp", "--config", "team.yaml"}, tt.args...)...)
		x.ends(1)
		if !strings.Contains(x.err.String(), tt.want) {
			t.Errorf("%v: %s", tt.args, x.err)
		}
	}
}
