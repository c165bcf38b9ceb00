package memory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed memory_write.md
var aboutWrite string

type writeIn struct {
	Name        string `json:"name" jsonschema_description:"Small letters, digits, dashes and underscores."`
	Tier        Tier   `json:"tier" jsonschema:"enum=short,enum=long" jsonschema_description:"Short: in your prompt from now on. Long: named there, to be read when needed."`
	Description string `json:"description" jsonschema_description:"One line by which you will know what is in it."`
	Content     string `json:"content" jsonschema_description:"The note, in Markdown."`
}

func (k *keeper) writer() tool.Tool {
	return typed.New(typed.Spec[writeIn]{
		Name: "memory_write", About: aboutWrite, Tier: tool.Write,
		Action: func(i writeIn) policy.Action { return k.act(policy.Write, i.Name, i.Tier) },
		Run: func(_ context.Context, i writeIn) (tool.Result, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			said, err := k.write(i)
			if err != nil {
				return tool.Failed("The note was not kept: " + err.Error() + "."), nil
			}
			return tool.Result{Text: said}, nil
		},
	})
}

// check is what is wrong with a note to be, if anything.
func (i writeIn) check() error {
	if err := named(i.Name); err != nil {
		return err
	}
	if !slices.Contains(tiers, i.Tier) {
		return fmt.Errorf("%.80q is no tier: use short or long", string(i.Tier))
	}
	most := maxLong
	if i.Tier == Short {
		most = maxShort
	}
	switch n := len(i.Content); {
	case n > most:
		return fmt.Errorf("it has %d bytes; %d is the most of this tier", n, most)
	case strings.TrimSpace(i.Content) == "":
		return errors.New("it is empty")
	case strings.TrimSpace(i.Description) == "":
		return errors.New("it has no description")
	}
	return nil
}

// write keeps a note, in one tier only.
func (k *keeper) write(i writeIn) (string, error) {
	if err := i.check(); err != nil {
		return "", err
	}
	now := k.Now()
	n := Note{Name: i.Name, Tier: i.Tier, Description: oneLine(i.Description), Created: now, Updated: now, Content: i.Content}
	old, err := k.find(i.Name)
	if err == nil && !old.Created.IsZero() {
		n.Created = old.Created
	}
	was, there := k.where(i.Name)
	if !there || was != i.Tier {
		if names, _ := k.Files.List(i.Tier.folder()); len(names) >= maxNotes {
			return "", fmt.Errorf("there are %d notes in this tier, which is the most; delete some first", len(names))
		}
	}
	if err := write(k.Files, n); err != nil {
		return "", err
	}
	if there && was != i.Tier {
		if err := k.Files.Remove(was.path(i.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("it is in %s now, and cannot be taken out of %s: %w", n.Tier.path(n.Name), was.path(n.Name), err)
		}
	}
	return fmt.Sprintf("Kept as %s.", n.Tier.path(n.Name)), nil
}
