package memory

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed memory_read.md
var aboutRead string

type nameIn struct {
	Name string `json:"name" jsonschema_description:"The note."`
}

func (k *keeper) reader() tool.Tool {
	return typed.New(typed.Spec[nameIn]{
		Name: "memory_read", About: aboutRead, Tier: tool.Read,
		Run: func(_ context.Context, i nameIn) (tool.Result, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			n, err := k.find(i.Name)
			if err != nil {
				return tool.Failed("Not read: " + err.Error() + "."), nil
			}
			return tool.Result{Text: fmt.Sprintf("%s (%s term, %s): %s\n\n%s", n.Name, n.Tier, since(n.Updated), n.Description, n.Content)}, nil
		},
	})
}

// since is when a note was last written.
func since(t time.Time) string {
	if t.IsZero() {
		return "of unknown age"
	}
	return "of " + t.UTC().Format("2006-01-02 15:04")
}
