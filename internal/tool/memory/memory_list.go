package memory

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed memory_list.md
var aboutList string

func (k *keeper) lister() tool.Tool {
	return typed.New(typed.Spec[struct{}]{
		Name: "memory_list", About: aboutList, Tier: tool.Read,
		Run: func(context.Context, struct{}) (tool.Result, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			var out strings.Builder
			for _, t := range tiers {
				notes, problems := load(k.Files, t)
				for _, n := range notes {
					fmt.Fprintf(&out, "- %s (%s term, %s): %s\n", n.Name, t, since(n.Updated), n.Description)
				}
				for _, p := range problems {
					fmt.Fprintf(&out, "- not a note: %v\n", p)
				}
			}
			if out.Len() == 0 {
				return tool.Result{Text: "There are no notes."}, nil
			}
			return tool.Result{Text: out.String()}, nil
		},
	})
}
