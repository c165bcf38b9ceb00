package kit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
)

// room is where an agent that is a program runs in one turn: the turn's place, a
// folder of the program's own, and what the program needs of the machine. It has a
// network in every sandbox, for the program's model is out there.
type room struct {
	lodge    *lodge
	engine   sandbox.Engine
	spec     sandbox.Spec
	key      string
	home     string
	readOnly bool
}

var _ interface {
	backend.Room
	backend.Secluded
} = (*room)(nil)

// Key implements [backend.Room].
func (r *room) Key() string { return r.key }

// Dir implements [backend.Room].
func (r *room) Dir() string { return r.spec.Place.Dir }

// ReadOnly implements [backend.Room].
func (r *room) ReadOnly() bool { return r.readOnly }

// Home implements [backend.Room].
func (r *room) Home() string { return r.home }

// Boxed implements [backend.Room].
func (r *room) Boxed() bool { return boxed(r.engine) }

// Doorway implements [backend.Secluded].
func (r *room) Doorway(ctx context.Context) (backend.Doorway, error) {
	s, ok := r.engine.(sandbox.Secluded)
	if !ok {
		return backend.Doorway{Listen: loopback, Name: loopback}, nil
	}
	d, err := s.Doorway(ctx)
	return backend.Doorway(d), err
}

// loopback is shared by every room that is in the network of the machine.
const loopback = "127.0.0.1"

// Start implements [backend.Room].
func (r *room) Start(ctx context.Context, c backend.Start) (backend.Running, error) {
	return r.lodge.start(ctx, r, c)
}

func boxed(e sandbox.Engine) bool { return e.Name() != "host" }

// lodge keeps the box of an agent's program from turn to turn, for as long as the
// rooms of the turns are alike. Its zero value is ready.
type lodge struct {
	mu     sync.Mutex
	key    string // of the room the box is for
	box    sandbox.Box
	closed bool
}

// start begins a program in the box of a room. The box of another room is taken
// down first, with whatever runs in it: nobody keeps rights that are over.
func (l *lodge) start(ctx context.Context, r *room, c backend.Start) (backend.Running, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the agent's room is closed")
	}
	if l.box != nil && l.key != r.key {
		err := l.box.Close()
		l.box = nil
		if err != nil {
			return nil, fmt.Errorf("close the agent's earlier room: %w", err)
		}
	}
	if l.box == nil {
		box, err := r.engine.Open(context.WithoutCancel(ctx), r.spec)
		if err != nil {
			return nil, fmt.Errorf("open the agent's room: %w", err)
		}
		l.box, l.key = box, r.key
	}
	p, err := l.box.Start(ctx, sandbox.Command{Argv: c.Argv, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr})
	if err != nil {
		return nil, fmt.Errorf("start %s in the agent's room: %w", filepath.Base(c.Argv[0]), err)
	}
	return p, nil
}

func (l *lodge) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.box == nil {
		return nil
	}
	err := l.box.Close()
	l.box = nil
	return err
}

// own is a folder of the agent's for its program. Its name says no more of the
// agent than the others know: not its id, not its model.
func (k *Kit) own(more string) (string, error) {
	dir := filepath.Join(k.shop.State, "cli", string(k.shop.Flow), cmp.Or(string(k.seat.Label), "agent")+more)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the agent's program: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// lodged makes the room of the turn.
func (h *hand) lodged(ctx context.Context, p policy.Place) error {
	k := h.kit
	s := k.shell()
	engine, err := k.shop.Engine(ctx, s)
	if err != nil {
		return err
	}
	env, err := environment(s, k.shop.Env)
	if err != nil {
		return err
	}
	slices.Sort(env) // the set ones come in any order
	home, err := k.own("")
	if err != nil {
		return err
	}
	if engine.Name() == "landlock" && !k.shop.Firm {
		p = loosened(p)
	}
	p.Mounts = append(slices.Clip(p.Mounts), policy.Mount{Path: home, Write: true})
	if k.shop.Program != nil && engine.Name() != "docker" { // which has the programs of its image
		needs, err := k.shop.Program(k.seat)
		if err != nil {
			return err
		}
		p.Mounts = beside(p.Mounts, needs)
	}
	h.room = &room{lodge: &k.lodge, engine: engine, home: home, readOnly: h.need.Planning, spec: sandbox.Spec{
		Flow: k.shop.Flow, Owner: string(k.seat.Label) + "-room", Place: p, Network: true, Env: env, Image: s.Image,
		Limits: sandbox.Limits{Memory: s.Memory, CPUs: s.CPUs, Procs: s.Procs},
	}}
	h.room.key, err = keyOf(engine.Name(), h.room.spec)
	h.scene.Own, h.scene.Shell = true, sentence(h.room.Boxed(), true)
	return err
}

// keyOf names a room by everything that its rights depend on.
func keyOf(engine string, s sandbox.Spec) (string, error) {
	p, err := json.Marshal(struct {
		Engine string
		Spec   sandbox.Spec
	}{engine, s})
	if err != nil {
		return "", fmt.Errorf("name the agent's room: %w", err)
	}
	return string(event.HashOf(p)), nil
}

// beside adds mounts that are not there yet: what a place says of a path holds.
func beside(mounts, more []policy.Mount) []policy.Mount {
	out := slices.Clip(mounts)
	for _, m := range more {
		if !slices.ContainsFunc(out, func(o policy.Mount) bool { return o.Path == m.Path }) {
			out = append(out, m)
		}
	}
	return out
}
