package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/control"
)

// MCP is the server for other programs. The program gives it to the command line:
// surfaces know nothing of one another. It serves until its client goes or ctx
// ends.
type MCP func(ctx context.Context, c control.Control, o MCPOptions) error

// MCPOptions are what the server is started with.
type MCPOptions struct {
	Config string
	// HTTP is the address to listen on; empty is standard input and output.
	HTTP string
	// Token is what clients have to show over HTTP; empty is a new one.
	Token string
	Wait  time.Duration

	In  io.Reader
	Out io.Writer
	// Say tells the person who started it something.
	Say func(string)
}

// tokenVariable holds the token for clients over HTTP.
const tokenVariable = "CONCLAVE_MCP_TOKEN"

func newMCP(e *env) *cobra.Command {
	var o MCPOptions
	var tokenFile string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Offer runs to other programs over MCP",
		Long: `Mcp serves the Model Context Protocol: other programs launch runs with the tool
launch_run, watch them, cancel them and read what they have come to. It speaks on
standard input and output, for a client that starts it; with --http it listens on
this machine for any client that has the token.

Where a person has to approve runs, the client asks its user if it can; else
conclave approve does it. When the client goes, runs that go on are handed over to
a background process.`,
		Example: `  claude mcp add conclave -- conclave mcp
  codex mcp add conclave -- conclave mcp
  conclave mcp --http 127.0.0.1:8765`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tokenFile != "" && o.HTTP == "" {
				return control.Usagef("--token-file is for --http; on standard input and output nobody else can be")
			}
			var err error
			if o.HTTP != "" {
				if o.Token, err = token(tokenFile); err != nil {
					return err
				}
			}
			o.In, o.Out = e.In, e.out.Writer
			o.Say = func(s string) { fmt.Fprintln(e.Err, s) }
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return e.with(func(c control.Control) error { return e.mcp(ctx, c, o) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.Config, "config", "", "the agents and their rules, a YAML `file`")
	f.StringVar(&o.HTTP, "http", "", "listen on this `address` of this machine, for example 127.0.0.1:8765")
	f.StringVar(&tokenFile, "token-file", "", "the `file` with the token for --http; else "+tokenVariable+", or a new token that is printed")
	f.DurationVar(&o.Wait, "wait", 10*time.Minute, "how long a call waits for a run before it returns without the result")
	return c
}

// token is what clients have to show, if it was said. Whoever guesses it has agents
// at work here.
func token(file string) (string, error) {
	t, from := os.Getenv(tokenVariable), tokenVariable
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", control.Usagef("read the token: %w", err)
		}
		t, from = string(text), file
	} else if t == "" {
		return "", nil
	}
	if t = strings.TrimSpace(t); len(t) < 16 || strings.ContainsAny(t, " \t\r\n") {
		return "", control.Usagef("the token in %s has to be one word of at least 16 characters; make one with: openssl rand -hex 16", from)
	}
	return t, nil
}
