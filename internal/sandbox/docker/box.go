package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/layout"
	"conclave/internal/sandbox/internal/scratch"
)

// box is one container.
type box struct {
	api    *client.Client
	plan   plan
	image  []string // its environment
	dir    *scratch.Dir
	hold   *layout.Hold
	clocks clocks
	life   context.Context // ends with the box
	end    context.CancelFunc

	mending sync.Mutex // held by who starts or replaces the container
	mu      sync.Mutex
	id      string
	keeper  keeper
	mounted anchors
	closed  bool
	gone    bool
	starts  sync.WaitGroup
	procs   map[*process]bool
}

var errClosed = errors.New("the box is closed")

func (b *box) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, fmt.Errorf("start a command in docker: %w", errClosed)
	}
	b.starts.Add(1)
	b.mu.Unlock()
	defer b.starts.Done()
	p, err := b.start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start a command in docker: %w", err)
	}
	return p, nil
}

// start begins a command. In a container that does not run, because somebody in
// it has killed everyone, it is begun again.
func (b *box) start(ctx context.Context, c sandbox.Command) (*process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("there is no command")
	}
	call, cancel := b.call(ctx)
	defer cancel()
	if err := b.mend(call); err != nil {
		return nil, err
	}
	p, err := b.begin(ctx, call, c)
	if err == nil || context.Cause(ctx) != nil || !b.stopped(call) {
		return p, err
	}
	if err := b.restart(call); err != nil {
		return nil, err
	}
	return b.begin(ctx, call, c)
}

// begin begins a command and returns when it has.
func (b *box) begin(ctx, call context.Context, c sandbox.Command) (*process, error) {
	p := newProcess(b, c)
	id, k := b.current()
	made, err := b.api.ExecCreate(call, id, client.ExecCreateOptions{
		AttachStdin: c.Stdin != nil, AttachStdout: true, AttachStderr: true,
		Env: env(b.image, b.plan.spec, c), WorkingDir: workdir(b.plan.spec.Place, c), Cmd: runArgv(p.mark, k, c.Argv),
	})
	if err != nil {
		return nil, fmt.Errorf("hand Docker the command: %w", err)
	}
	p.exec = made.ID
	// From here on the end of the context stops a command that may have begun.
	late, cancel := b.call(context.WithoutCancel(ctx))
	defer cancel()
	p.conn, err = b.api.ExecAttach(late, p.exec, client.ExecAttachOptions{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("have Docker run the command: %w", err), b.kill())
	}
	b.mu.Lock()
	b.procs[p] = true
	b.mu.Unlock()
	go p.run(ctx)
	<-p.greeter.heard
	if _, err := p.greeter.result(); err != nil {
		if _, err := p.Wait(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// call is a context for one call of the API.
func (b *box) call(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, b.clocks.answer)
	stop := context.AfterFunc(b.life, cancel)
	return ctx, func() { stop(); cancel() }
}

func (b *box) current() (id string, k keeper) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.id, b.keeper
}

// mend makes another container if what was mounted is not there any more: a
// mount goes with its folder, and what it protected with it.
func (b *box) mend(ctx context.Context) error {
	b.mending.Lock()
	defer b.mending.Unlock()
	changed := b.mounted.intact()
	if changed == nil {
		return nil
	}
	b.mu.Lock()
	running := len(b.procs)
	b.mu.Unlock()
	if running > 0 {
		return fmt.Errorf("%w; wait until nothing runs in the box", changed)
	}
	id, _ := b.current()
	if err := remove(ctx, b.api, id); err != nil {
		return err
	}
	return b.build(ctx)
}

// stopped reports whether the container has ended, or is about to.
func (b *box) stopped(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	id, _ := b.current()
	w := b.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-w.Result:
		return true
	case <-w.Error:
		return false
	}
}

// restart has a container run again that somebody in it has ended.
func (b *box) restart(ctx context.Context) error {
	b.mending.Lock()
	defer b.mending.Unlock()
	id, _ := b.current()
	info, err := b.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("look at the container: %w", err)
	}
	if info.Container.State != nil && info.Container.State.Running {
		return nil // by somebody else meanwhile
	}
	return b.wake(ctx)
}

// kill ends everyone in the container at once, the container included. The next
// command starts it again.
func (b *box) kill() error {
	ctx, cancel := b.call(context.Background())
	defer cancel()
	id, _ := b.current()
	_, err := b.api.ContainerKill(ctx, id, client.ContainerKillOptions{})
	if err == nil || errdefs.IsConflict(err) || errdefs.IsNotFound(err) || b.life.Err() != nil {
		return nil
	}
	return fmt.Errorf("end everything in the container %.12s: %w", id, err)
}

// Close removes the container with everything in it.
func (b *box) Close() error {
	b.mu.Lock()
	if b.gone {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	b.mu.Unlock()
	b.end()
	b.starts.Wait()

	var err error
	if id, _ := b.current(); id != "" {
		ctx, cancel := context.WithTimeout(context.Background(), b.clocks.removal)
		defer cancel()
		err = remove(ctx, b.api, id)
	}
	b.mu.Lock()
	left := make([]*process, 0, len(b.procs))
	for p := range b.procs {
		left = append(left, p)
	}
	b.gone = err == nil
	b.mu.Unlock()
	for _, p := range left {
		p.conn.Close()
	}
	for _, p := range left {
		<-p.done
	}
	if err != nil {
		return fmt.Errorf("close a box in docker: %w", err) // what is under its mounts has to stay
	}
	b.mounted.close()
	b.hold.Give()
	return b.dir.Remove()
}

// left forgets a command that has ended.
func (b *box) left(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.procs, p)
}

// newMark is a word nobody else says first.
func newMark() string {
	id, _ := proc.Self()
	return fmt.Sprintf("conclave-%d-%s", id.PID, random())
}
