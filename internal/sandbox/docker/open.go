package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"

	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/layout"
	"conclave/internal/sandbox/internal/scratch"
)

// deepReadOnly is the version of the API since which a mount is read-only with
// everything that is mounted inside.
const deepReadOnly = "1.44"

// Open removes the container of the box's flow and owner, if there is one, and
// makes another.
func (e *Engine) Open(ctx context.Context, s sandbox.Spec) (sandbox.Box, error) {
	b, err := e.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("open a box in docker: %w", err)
	}
	return b, nil
}

func (e *Engine) open(ctx context.Context, s sandbox.Spec) (*box, error) {
	if err := possible(s.Limits); err != nil {
		return nil, err
	}
	api, err := e.reach(ctx)
	if err != nil {
		return nil, err
	}
	p := plan{spec: s, mark: newMark(), image: s.Image, network: e.options.Network}
	if p.image == "" {
		p.image = e.options.Image
	}
	if p.network == "" {
		p.network = "bridge"
	}
	image, err := e.image(ctx, api, p.image)
	if err != nil {
		return nil, err
	}
	if p.user, err = e.as(ctx, api); err != nil {
		return nil, err
	}
	if p.labels, err = labels(s); err != nil {
		return nil, err
	}
	// First the container, then its files: they are under it.
	if err := removeBox(ctx, api, s); err != nil {
		return nil, err
	}
	dir, err := scratch.Open(e.options.Boxes, s.Flow, s.Owner)
	if err != nil {
		return nil, err
	}
	b := &box{api: api, plan: p, image: image, dir: dir, hold: e.shared.holds.New(dir.Note), clocks: usual, procs: map[*process]bool{}}
	b.life, b.end = context.WithCancel(context.Background())
	if err := b.build(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// possible is which limits Docker takes.
func possible(l sandbox.Limits) error {
	const least = 6 << 20
	if l.Memory < 0 || l.CPUs < 0 || l.Procs < 0 || l.Memory > 0 && l.Memory < least {
		return fmt.Errorf("limits of %d bytes, %g CPUs and %d processes: none may be negative, and memory has to be %d at least", l.Memory, l.CPUs, l.Procs, least)
	}
	return nil
}

// build makes the container and has it run.
func (b *box) build(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*b.clocks.answer)
	defer cancel()
	items, err := b.hold.Take(b.plan.spec.Place)
	if err != nil {
		return err
	}
	if err := exposed(b.api.DaemonHost(), items); err != nil {
		return err
	}
	if b.plan.mounts, err = b.furnish(items); err != nil {
		return err
	}
	b.mounted.close()
	if b.mounted, err = hold(items); err != nil {
		return err
	}
	made, err := b.api.ContainerCreate(ctx, b.plan.options())
	if err != nil {
		return fmt.Errorf("create the container: %w", err)
	}
	b.mu.Lock()
	b.id = made.ID
	b.mu.Unlock()
	if err := b.wake(ctx); err != nil {
		return err
	}
	// Between looking and mounting somebody may have put something else there.
	return b.mounted.intact()
}

// furnish makes what a container has mounted besides the place, and returns all
// of it.
func (b *box) furnish(items []layout.Item) ([]mount.Mount, error) {
	base := filepath.Dir(b.dir.Home())
	covers, inside := filepath.Join(base, "covers"), filepath.Join(base, "scripts")
	for _, dir := range []string{covers, inside} {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			return nil, fmt.Errorf("make the box's folder: %w", err)
		}
	}
	if err := writeScripts(inside); err != nil {
		return nil, err
	}
	out, err := mounts(items, covers, versions.LessThan(b.api.ClientVersion(), deepReadOnly))
	return append(out, mount.Mount{Type: mount.TypeBind, Source: inside, Target: scriptDir, ReadOnly: true}), err
}

// wake starts the container and waits until its first process has said hello.
func (b *box) wake(ctx context.Context) error {
	a, err := b.api.ContainerAttach(ctx, b.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attach to the container: %w", err)
	}
	defer a.Close()
	if _, err := b.api.ContainerStart(ctx, b.id, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("start the container (its image %s needs sh and sleep): %w", b.plan.image, err)
	}
	if limit, ok := ctx.Deadline(); ok {
		_ = a.Conn.SetDeadline(limit)
	}
	g := newGreeter(b.plan.mark, nil)
	if _, err := stdcopy.StdCopy(g, g, &until{a.Reader, g.heard}); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("wait for the container's first process: %w", err)
	}
	g.close()
	who, err := g.result()
	if err != nil {
		return fmt.Errorf("start the container (its image %s needs sh and sleep): %w", b.plan.image, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keeper = keeper{pid: who.pid, init: who.word}
	return nil
}

// until is a reader that ends when something has happened.
type until struct {
	io.Reader
	over <-chan struct{}
}

func (u *until) Read(b []byte) (int, error) {
	select {
	case <-u.over:
		return 0, io.EOF
	default:
		return u.Reader.Read(b)
	}
}

// removeBox removes the containers of a flow and owner.
func removeBox(ctx context.Context, api *client.Client, s sandbox.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, usual.removal)
	defer cancel()
	found, err := api.ContainerList(ctx, client.ContainerListOptions{All: true,
		Filters: client.Filters{}.Add("label", labelFlow+"="+string(s.Flow), labelOwner+"="+s.Owner)})
	if err != nil {
		return fmt.Errorf("look for the box that was there: %w", err)
	}
	for _, c := range found.Items {
		if err := remove(ctx, api, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a container and returns when it is gone, whoever removed it.
func remove(ctx context.Context, api *client.Client, id string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil, errdefs.IsNotFound(err):
			return nil
		case !errdefs.IsConflict(err): // somebody else is about to remove it
			return fmt.Errorf("remove the container %.12s: %w; docker rm -f %.12s does it by hand", id, err, id)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("remove the container %.12s: %w", id, err)
		}
	}
}
