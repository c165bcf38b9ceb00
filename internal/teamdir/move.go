package teamdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/internal/event"
)

// moveFile has where a tree is being moved to, until its owner's turn has ended. Files
// and branch change one after the other: if the program dies in between, what is in
// the folder must not be taken for somebody's work.
const moveFile = "conclave-move"

// A move is what moveFile says.
type move struct {
	From string       `json:"from"`
	To   string       `json:"to"`
	Sync event.Synced `json:"sync,omitzero"`
}

// move has a tree, whose files are all committed, be at another commit.
func (t tree) move(ctx context.Context, m move) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := assert(filepath.Join(t.GitDir, moveFile), string(text)); err != nil {
		return err
	}
	return t.arrive(ctx)
}

// moving is the move that was begun last; false if its owner's turn has ended since.
func (t tree) moving() (m move, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(t.GitDir, moveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, false, fmt.Errorf("read %s: %w", moveFile, err)
	}
	return m, true, nil
}

// arrive ends a move that was cut. One that has changed the branch is over.
func (t tree) arrive(ctx context.Context) error {
	m, ok, err := t.moving()
	if err != nil || !ok {
		return err
	}
	head, err := t.head(ctx)
	if err != nil || head != m.From {
		return err
	}
	t.unlock()
	if _, err := t.Run(ctx, nil, nil, "read-tree", "--reset", "-u", m.To); err != nil {
		return err
	}
	if err := t.update(ctx, m.To, m.From); err != nil {
		return err
	}
	t.memo.keep(t, m.To)
	return nil
}

// forget ends the memory of a move.
func (t tree) forget() error {
	err := os.Remove(filepath.Join(t.GitDir, moveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
