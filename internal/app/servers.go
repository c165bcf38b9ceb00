package app

import (
	"context"

	"conclave/internal/kit"
	"conclave/internal/tool"
	"conclave/internal/tool/mcp"
)

// serverTools are those of MCP servers, which are started once for an agent and
// end with the run.
func serverTools(ctx context.Context, b *kit.Bench) ([]tool.Tool, error) {
	if len(b.Gear.Servers) == 0 {
		return nil, nil
	}
	set, err := b.Keep("mcp", func() (any, error) {
		return mcp.Open(context.WithoutCancel(ctx), b.Gear.Servers, mcp.Options{Env: b.Env, Version: Version, Flow: b.Flow, Records: b.Records}), nil
	})
	if err != nil {
		return nil, err
	}
	return set.(*mcp.Set).Tools(ctx), nil
}
