package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"conclave/internal/backend"
)

// A Command is how a program is begun.
type Command struct {
	Argv []string
	Env  []string // the whole of it, besides what every room has
	// Hear is given each line the program writes, one after the other, from a
	// goroutine of the process. While it waits the program does, too. If it is nil
	// the streams are the caller's: see Streams.
	Hear func(line []byte)
}

// A Process is a program that runs in a room.
type Process struct {
	name    string
	running backend.Running
	stdin   *os.File // our end
	stdout  *os.File // our end
	queue   *queue   // nil if the streams are the caller's
	stderr  tail
	gone    chan struct{} // closed when the program has ended
	done    chan struct{} // closed when everything about it is over

	// Valid after done.
	exit    int
	err     error
	readErr error
}

// Start begins a program. When ctx ends it is stopped, with all it started.
//
// Its streams are pipes of the system, and our copies of its ends stay open until
// it has ended: a room may hand them on or copy them, both work.
func Start(ctx context.Context, room backend.Room, c Command) (*Process, error) {
	p := &Process{name: filepath.Base(c.Argv[0]), gone: make(chan struct{}), done: make(chan struct{})}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, broken("make a pipe", err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, broken("make a pipe", err)
	}
	p.stdin, p.stdout = in, out
	if c.Hear != nil {
		p.queue = newQueue()
	}
	p.running, err = room.Start(ctx, backend.Start{Argv: c.Argv, Env: c.Env, Stdin: theirIn, Stdout: theirOut, Stderr: &p.stderr})
	if err != nil {
		for _, f := range []*os.File{theirIn, in, out, theirOut} {
			f.Close()
		}
		return nil, unstarted(c.Argv[0], err)
	}
	go p.own(c.Hear, theirIn, theirOut)
	return p, nil
}

// unstarted is that a program could not be started. A file that is none will not be
// one the next time.
func unstarted(name string, err error) error {
	if errors.Is(err, syscall.ENOEXEC) {
		return &backend.Error{Kind: backend.Invalid, Err: err,
			Message: name + " is no program of this machine; its installation was perhaps not finished: install it again"}
	}
	return broken("start "+name, err)
}

// own waits for the program and for whoever reads and writes.
func (p *Process) own(hear func([]byte), theirIn, theirOut *os.File) {
	defer close(p.done)
	var both sync.WaitGroup
	if hear != nil {
		both.Go(func() {
			if p.readErr = readLines(output{p.stdout, p.gone}, maxLine, hear); p.readErr != nil {
				p.running.Stop() // nobody would understand the rest
			}
		})
		both.Go(func() { p.queue.write(p.stdin, p.gone) })
	}
	p.exit, p.err = p.running.Wait()
	close(p.gone)
	theirIn.Close()
	theirOut.Close()
	p.stdin.Close()
	_ = p.stdout.SetReadDeadline(time.Now().Add(leftover))
	if hear != nil {
		both.Wait()
		p.stdout.Close()
	}
}

// Send has one line written after all that were sent before. It does not wait for
// the program to read it.
func (p *Process) Send(v any) error {
	line, err := Line(v)
	if err != nil {
		return err
	}
	return p.queue.add(line)
}

// CloseInput tells the program that nothing more will be sent, after what was.
func (p *Process) CloseInput() {
	if p.queue != nil {
		p.queue.close()
		return
	}
	p.stdin.Close()
}

// Streams are the program's input and output, for a library that does its own
// framing; only of a process without Hear. The output has ended when the program
// has, and has to be read until then.
func (p *Process) Streams() (io.WriteCloser, io.Reader) {
	return p.stdin, drained{output{p.stdout, p.gone}}
}

// leftover is how long more is waited for from a program that has ended: somebody
// may have got away with the other end of its output.
const leftover = 2 * time.Second

// output is what a program writes. Whoever reads it may take longer than the program
// lives: what it has written by then is read all the same.
type output struct {
	f    *os.File
	gone <-chan struct{}
}

func (o output) Read(b []byte) (int, error) {
	select {
	case <-o.gone:
		_ = o.f.SetReadDeadline(time.Now().Add(leftover))
	default:
	}
	n, err := o.f.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, io.EOF
	}
	return n, err
}

// drained closes a file that was read to its end.
type drained struct{ output }

func (d drained) Read(b []byte) (int, error) {
	n, err := d.output.Read(b)
	if err != nil {
		d.f.Close()
	}
	return n, err
}

// Done is closed when the program has ended, with everything it started, and all
// it wrote was heard.
func (p *Process) Done() <-chan struct{} { return p.done }

// End closes the program's input, gives it a while to end by itself, and stops it
// with everything it started. It returns when that is done.
func (p *Process) End(within time.Duration) {
	p.CloseInput()
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
	}
	p.Stop()
}

// Stop ends the program with everything it started: INT, TERM, KILL.
func (p *Process) Stop() {
	p.running.Stop()
	<-p.done
}

// Complaints are the end of what the program wrote to its standard error.
func (p *Process) Complaints() string { return p.stderr.String() }

// Ended waits for the program's end and says how it ended, as the failure of a
// turn that was not over.
func (p *Process) Ended() *backend.Error {
	<-p.done
	how := fmt.Sprintf("%s ended in the middle of its turn, with exit code %d", p.name, p.exit)
	if p.exit > 128 {
		how = fmt.Sprintf("%s was ended in the middle of its turn by signal %d", p.name, p.exit-128)
	}
	if said := grave(p.Complaints()); said != "" {
		how += "; it complained: " + said
	}
	kind := backend.Broken
	if p.readErr != nil {
		kind, how = backend.Garbled, fmt.Sprintf("what %s writes cannot be read: %v", p.name, p.readErr)
	}
	return &backend.Error{Kind: kind, Message: how, Err: p.err}
}

// grave are complaints without mere warnings: those are no reason to end.
func grave(complaints string) string {
	var out strings.Builder
	for line := range strings.Lines(complaints) {
		if !strings.HasPrefix(line, "WARNING: ") {
			out.WriteString(line)
		}
	}
	return strings.TrimSpace(out.String())
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// maxTail is how much of its complaints a program is remembered by.
const maxTail = 4 << 10

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxTail):]...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), ""))
}
