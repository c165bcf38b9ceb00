package app

import (
	"context"
	"fmt"

	"conclave/internal/cli"
	"conclave/internal/control"
	"conclave/internal/mcpserve"
)

// serveMCP offers runs to other programs on behalf of the command line.
func serveMCP(ctx context.Context, c control.Control, o cli.MCPOptions) error {
	s, err := mcpserve.New(ctx, c, mcpserve.Options{Config: o.Config, Version: Version, Wait: o.Wait, Say: o.Say})
	if err != nil {
		return err
	}
	if o.HTTP == "" {
		return s.Stdio(ctx, o.In, o.Out)
	}
	l, err := mcpserve.Listen(o.HTTP)
	if err != nil {
		return &control.Usage{Err: err}
	}
	url := "http://" + l.Addr().String() + mcpserve.Path
	if o.Token != "" {
		o.Say("Listening on " + url)
		return s.HTTP(ctx, l, o.Token)
	}
	o.Token = mcpserve.NewToken()
	o.Say(fmt.Sprintf(`Listening on %s
Token, shown once: %s
  claude mcp add --transport http conclave %[1]s --header "Authorization: Bearer %[2]s"
  codex: url = "%[1]s" and bearer_token_env_var in [mcp_servers.conclave] of its config.toml`, url, o.Token))
	return s.HTTP(ctx, l, o.Token)
}
