package app

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"conclave/internal/config"
	"conclave/internal/control"
	"conclave/internal/event"
)

// A log that came with a project was written by whoever wrote the project. What
// a run in it would do is in the log, not in any configuration, so resuming it
// could start their programs. A log of the user's own is known by an id that
// stands beside it and in the user's own state.

var originForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{32}$`) })

// markOwn gives a log that is about to be made here its id. A user whose own
// state cannot be written does without, and is asked when a run is resumed.
func (a *App) markOwn() {
	if _, err := os.Lstat(a.state("conclave.db")); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	_ = a.adopt()
}

// adopt records the project's log as the user's own.
func (a *App) adopt() error {
	id, ok := a.origin()
	if !ok {
		var b [16]byte
		_, _ = rand.Read(b[:])
		id = hex.EncodeToString(b[:])
		if err := os.MkdirAll(a.state(), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(a.state("origin"), []byte(id+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(ownFile(id)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(ownFile(id), []byte(a.project+"\n"), 0o600)
}

func (a *App) origin() (string, bool) {
	p, err := os.ReadFile(a.state("origin"))
	id := strings.TrimSpace(string(p))
	return id, err == nil && originForm().MatchString(id)
}

func ownFile(id string) string { return filepath.Join(userState(), "logs", id) }

// own reports whether the project's log was made by this user.
func (a *App) own() bool {
	id, ok := a.origin()
	if !ok {
		return false
	}
	_, err := os.Stat(ownFile(id))
	return err == nil
}

// mayResume refuses a run of a log that is not known to be the user's own, if
// there is anything in it that matters.
func (a *App) mayResume(id event.FlowID, spec event.RunSpec) error {
	risks := a.risks(configured(spec))
	if len(risks) == 0 || a.own() {
		return nil
	}
	return control.Usagef("the log in %s is not known to be yours, and going on with %s would\n  - %s\nIf that is all right say: conclave trust", a.state(), id, strings.Join(risks, "\n  - "))
}

// configured is what a run was configured with.
func configured(spec event.RunSpec) *config.File {
	f := &config.File{Settings: config.Settings{ContextPaths: spec.ContextPaths}}
	for _, s := range spec.Seats {
		c := config.Agent{ID: s.Agent}
		var into any = &c.API
		if _, ok := config.FindProgram(s.Backend); ok {
			into = &c.CLI
		}
		_ = json.Unmarshal(s.Options, into) // whoever cannot be read cannot be opened
		_ = json.Unmarshal(s.Gear, &c.Gear)
		f.Agents = append(f.Agents, c)
	}
	return f
}

// trustLog records the log as the user's own, if there is one.
func (a *App) trustLog() (bool, error) {
	if _, err := os.Stat(a.state("conclave.db")); err != nil {
		return false, nil
	}
	if err := a.adopt(); err != nil {
		return false, fmt.Errorf("remember the log as yours: %w", err)
	}
	return true, nil
}
