package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"conclave/internal/policy"
	"conclave/internal/tool"
)

// Options say where notes are and what time it is.
type Options struct {
	Files Files
	Now   func() time.Time
}

// keeper is the notes of one agent. Calls take turns.
type keeper struct {
	Options
	mu sync.Mutex
}

// Tools are how an agent works with its notes.
func Tools(o Options) []tool.Tool {
	k := &keeper{Options: o}
	return []tool.Tool{k.writer(), k.reader(), k.lister(), k.deleter()}
}

// where is the tier a note is in.
func (k *keeper) where(name string) (Tier, bool) {
	for _, t := range tiers {
		names, _ := k.Files.List(t.folder())
		for _, n := range names {
			if n == name+".md" {
				return t, true
			}
		}
	}
	return "", false
}

// find is a note by its name. The error is a sentence for the model.
func (k *keeper) find(name string) (Note, error) {
	if err := named(name); err != nil {
		return Note{}, err
	}
	for _, t := range tiers {
		n, err := read(k.Files, t, name)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Note{}, fmt.Errorf("%s cannot be read: %w", t.path(name), err)
		}
	}
	return Note{}, unknown(name)
}

func unknown(name string) error {
	return fmt.Errorf("there is no note %q; memory_list names those there are", name)
}

// named is what is wrong with a name, if anything.
func named(name string) error {
	if !slug().MatchString(name) {
		return fmt.Errorf("%.80q is no name for a note: use small letters, digits, dashes and underscores, 64 at most", name)
	}
	return nil
}

// act is an action on the file of a note.
func (k *keeper) act(kind policy.Kind, name string, t Tier) policy.Action {
	if t == "" {
		var ok bool
		if t, ok = k.where(name); !ok {
			t = Long // nothing is there, so nothing will be done
		}
	}
	return policy.Action{Kind: kind, Target: t.path(name)}
}
