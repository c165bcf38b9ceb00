// Package app puts the program together: it is the only package that imports
// everything, and it holds the tables of what there is to choose from.
//
// [Main] runs one command line. An [App] implements [control.Control] for the
// surfaces; it opens the log of its project when something first needs it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"conclave/internal/backend/wire"
	"conclave/internal/cli"
	"conclave/internal/control"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/live"
	"conclave/internal/sandbox"
)

// Version is the program's version.
const Version = "0.1.0"

// Main runs the program with its arguments and returns its exit code.
func Main(args []string, streams cli.Streams) int {
	return cli.Main(args, streams, Version, func(dir string) (control.Control, func() error, error) {
		a, err := Open(dir)
		if err != nil {
			return nil, nil, err
		}
		return a, a.Close, nil
	}, window, serveMCP, serveWeb)
}

// An App is the program at work on one project.
type App struct {
	project string // the directory that holds .conclave
	dir     string // where the program was started
	hub     live.Hub
	pools   wire.Pools
	looked  looked        // the flows that were looked at last, as they were then
	rows    sync.Map      // flows as they were listed last: event.FlowID → listing
	brood   brood         // background processes of ours
	finder  finder        // of passages in jobs
	linger  time.Duration // how long a job at rest is still driven; zero is a lull

	mu      sync.Mutex
	log     eventlog.Log     // opened when first needed
	engines []sandbox.Engine // made when first needed
}

var _ control.Control = (*App)(nil)

// Open finds the project that dir belongs to: the nearest directory upwards that
// holds a .conclave, or dir itself.
func Open(dir string) (*App, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, control.Usagef("%s is not a directory", dir)
	}
	// By its real name: what agents are shown and what is kept from them are told
	// apart by paths, and no sandbox takes one that leads over a link.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	for d := dir; ; d = filepath.Dir(d) {
		if info, err := os.Stat(filepath.Join(d, ".conclave")); err == nil && info.IsDir() {
			return &App{project: d, dir: dir}, nil
		}
		if d == filepath.Dir(d) {
			return &App{project: dir, dir: dir}, nil
		}
	}
}

func (a *App) state(names ...string) string {
	return filepath.Join(append([]string{a.project, ".conclave"}, names...)...)
}

// Close releases the log.
func (a *App) Close() error {
	errs := []error{a.finder.close()}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pools.Close()
	for _, e := range a.engines {
		if c, ok := e.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	a.engines = nil
	if a.log != nil {
		errs = append(errs, a.log.Close())
		a.log = nil
	}
	return errors.Join(errs...)
}

// events is the project's log, made if it is not there.
func (a *App) events(ctx context.Context) (eventlog.Log, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.log != nil {
		return a.log, nil
	}
	a.markOwn()
	log, err := sqlite.Open(ctx, a.state())
	if err != nil {
		return nil, &control.Usage{Err: err} // nothing was done
	}
	a.log = log
	a.ignore()
	return log, nil
}

// existing is the project's log if there is one: looking around must not leave
// anything behind.
func (a *App) existing(ctx context.Context) (eventlog.Log, error) {
	if _, err := os.Stat(a.state("conclave.db")); errors.Is(err, fs.ErrNotExist) {
		return nil, &control.NotFound{}
	}
	return a.events(ctx)
}

// ignore keeps version control away from the log. A project where that cannot
// be written works all the same.
func (a *App) ignore() {
	name := a.state(".gitignore")
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		_ = os.WriteFile(name, []byte("# The configuration and descriptions of teams may be shared, everything else is this machine's.\n/*\n!/.gitignore\n!/config.yaml\n!/teams/\n/teams/*\n!/teams/*.yaml\n"), 0o600)
	}
}
