package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"conclave/internal/sandbox"
)

const (
	drain   = 2 * time.Second        // for output of a command that has ended
	pause   = 5 * time.Millisecond   // between two looks for it
	moment  = 500 * time.Millisecond // for a container that is dying
	patient = 12 * time.Second       // for a command to be stopped
	unswept = 125                    // the exit code of a script that could not sweep
	killed  = 128 + 9                // the exit code of who was killed
)

func random() string { return rand.Text() }

// process is an exec.
type process struct {
	box     *box
	command sandbox.Command
	mark    string
	exec    string
	conn    client.ExecAttachResult
	greeter *greeter
	stop    chan struct{} // closed when somebody wants it stopped
	stopped sync.Once
	done    chan struct{} // closed when it has ended
	exit    int           // valid after done
	err     error
}

func newProcess(b *box, c sandbox.Command) *process {
	mark := newMark()
	return &process{
		box: b, command: c, mark: mark, greeter: newGreeter(mark, c.Stdout),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
}

func (p *process) Wait() (int, error) {
	<-p.done
	return p.exit, p.err
}

func (p *process) Stop() {
	p.stopped.Do(func() { close(p.stop) })
	<-p.done
}

// run follows the command to its end.
func (p *process) run(ctx context.Context) {
	defer close(p.done)
	defer p.box.left(p)
	defer p.conn.Close()
	drained := make(chan error, 1)
	go func() { drained <- p.copy() }()
	if p.command.Stdin != nil {
		go p.feed()
	}
	err := p.follow(ctx, drained)
	p.exit, p.err = p.status()
	if err == nil && p.err == nil && (p.exit == killed || p.exit == unswept) {
		p.err = p.finish(nil) // perhaps nobody was there any more to sweep
	}
	p.err = errors.Join(err, p.err)
	if p.err != nil && p.box.life.Err() != nil && err == nil {
		p.exit, p.err = killed, nil // with its box
	}
}

// follow returns when all output was read, and says why that was not the
// command's own doing.
func (p *process) follow(ctx context.Context, drained <-chan error) error {
	tick := time.NewTicker(p.box.clocks.watch)
	defer tick.Stop()
	silent := 0 // how often Docker did not answer
	for {
		select {
		case err := <-drained:
			if err != nil && p.box.life.Err() == nil {
				return errors.Join(fmt.Errorf("pass on the output: %w", err), p.finish(nil))
			}
			return nil
		case <-p.stop:
			return p.finish(drained)
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), p.finish(drained))
		case <-tick.C:
			running, err := p.running()
			if err == nil && running {
				silent = 0
				continue
			}
			if err == nil { // it has ended, and somebody keeps its output open
				return p.finish(drained)
			}
			if silent++; silent > 1 {
				p.conn.Close()
				<-drained
				return fmt.Errorf("the command may still run: %w", err)
			}
		}
	}
}

// finish ends the command with everything it started, by force if need be, and
// waits for the rest of its output.
func (p *process) finish(drained <-chan error) error {
	err := p.halt()
	if err != nil {
		if err = p.box.kill(); err != nil {
			err = fmt.Errorf("the command may still run: %w", err)
		}
	}
	if drained == nil {
		return err
	}
	t := time.NewTimer(drain)
	defer t.Stop()
	select {
	case <-drained:
	case <-t.C:
		p.conn.Close()
		<-drained
	}
	return err
}

// halt has the command stopped by another one.
func (p *process) halt() error {
	t := time.NewTimer(p.box.clocks.answer)
	defer t.Stop()
	select {
	case <-p.greeter.heard:
	case <-p.box.life.Done():
		return nil // everyone in the box is about to end
	case <-t.C:
		return errors.New("it has not begun")
	}
	who, err := p.greeter.result()
	if err != nil {
		return nil // it never began
	}
	ctx, cancel := context.WithTimeout(p.box.life, patient)
	defer cancel()
	id, k := p.box.current()
	made, err := p.box.api.ExecCreate(ctx, id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Cmd: stopArgv(k, who)})
	if err != nil {
		return err
	}
	a, err := p.box.api.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer a.Close()
	if limit, ok := ctx.Deadline(); ok {
		_ = a.Conn.SetDeadline(limit)
	}
	stop := context.AfterFunc(ctx, a.Close)
	defer stop()
	if _, err := stdcopy.StdCopy(io.Discard, io.Discard, a.Reader); err != nil {
		return err
	}
	if exit, err := p.box.exit(made.ID); err != nil || exit != 0 {
		return errors.Join(err, fmt.Errorf("stopping it ended with %d", exit))
	}
	return nil
}

// copy writes the command's output until it ends.
func (p *process) copy() error {
	defer p.greeter.close()
	stderr := p.command.Stderr
	if stderr == nil {
		stderr = io.Discard
	}
	_, err := stdcopy.StdCopy(p.greeter, stderr, p.conn.Reader)
	return err
}

// feed writes the command's input.
func (p *process) feed() {
	if _, err := io.Copy(p.conn.Conn, p.command.Stdin); err == nil {
		_ = p.conn.CloseWrite()
	}
}

// running asks Docker.
func (p *process) running() (bool, error) {
	ctx, cancel := p.box.call(context.Background())
	defer cancel()
	info, err := p.box.api.ExecInspect(ctx, p.exec, client.ExecInspectOptions{})
	if err != nil {
		return false, fmt.Errorf("ask Docker about the command: %w", err)
	}
	return info.Running, nil
}

// status is how the command ended.
func (p *process) status() (int, error) {
	exit, err := p.box.exit(p.exec)
	if err != nil {
		return exit, err
	}
	if _, err := p.greeter.result(); err != nil {
		return exit, fmt.Errorf("run %s in docker: %w", p.command.Argv[0], err)
	}
	return exit, nil
}

// exit is the exit code of an exec that has ended, or is about to.
func (b *box) exit(exec string) (int, error) {
	ctx, cancel := context.WithTimeout(b.life, b.clocks.settle)
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		info, err := b.api.ExecInspect(ctx, exec, client.ExecInspectOptions{})
		switch {
		case errdefs.IsNotFound(err):
			return -1, fmt.Errorf("how the command ended is not known: Docker has lost it, with its container or by a restart: %w", err)
		case err != nil:
			return -1, fmt.Errorf("how the command ended is not known: Docker went away while it ran: %w", err)
		case !info.Running:
			return info.ExitCode, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return -1, errors.New("how the command ended is not known: Docker cut its output off and says that it still runs")
		}
	}
}
