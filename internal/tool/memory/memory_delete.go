package memory

import (
	"context"
	_ "embed"
	"fmt"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed memory_delete.md
var aboutDelete string

func (k *keeper) deleter() tool.Tool {
	return typed.New(typed.Spec[nameIn]{
		Name: "memory_delete", About: aboutDelete, Tier: tool.Write,
		Action: func(i nameIn) policy.Action { return k.act(policy.Delete, i.Name, "") },
		Run: func(_ context.Context, i nameIn) (tool.Result, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			if err := k.delete(i.Name); err != nil {
				return tool.Failed("Not deleted: " + err.Error() + "."), nil
			}
			return tool.Result{Text: fmt.Sprintf("Deleted the note %s.", i.Name)}, nil
		},
	})
}

// delete takes a note away, also one that can no longer be read.
func (k *keeper) delete(name string) error {
	if err := named(name); err != nil {
		return err
	}
	t, ok := k.where(name)
	if !ok {
		return unknown(name)
	}
	if err := k.Files.Remove(t.path(name)); err != nil {
		return fmt.Errorf("%s: %w", t.path(name), err)
	}
	return nil
}
