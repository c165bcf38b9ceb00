package app

import (
	"context"
	"fmt"

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
	tools := set.(*mcp.Set).Tools(ctx)
	for _, s := range set.(*mcp.Set).Status() {
		if s.Err != nil {
			b.Notice(fmt.Sprintf("the MCP server %s is not to be had: %v", s.Server, s.Err))
		}
		for _, n := range s.Notes {
			b.Notice(fmt.Sprintf("MCP server %s: %s", s.Server, n))
		}
	}
	return tools, nil
}
