package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxMessage is the longest message that is kept, in bytes; maxLine is as far
	// as a longer one is read to find its end.
	maxMessage = 8 << 20
	maxLine    = 256 << 20
	// maxGarbage is how much a server may write between messages: many print a
	// greeting where they should not.
	maxGarbage = 16 << 10
	sample     = 200 // of the garbage, for people
	// maxAsked is how many requests of a server wait for an answer at once.
	maxAsked = 64
	// patience is how long a server may leave its input unread, whoever waits.
	patience = 5 * time.Second
)

// A pipe is the connection with a server that is a program: a message per line.
// It differs from the one in the SDK in what it does about a server that means
// ill or does badly: one message too long fails the call it answers and not the
// connection, a few lines that are no messages are passed over, and a server
// that does not read what it is sent does not keep us waiting.
type pipe struct {
	in  *os.File // what the server reads
	out *os.File // what it writes
	buf *bufio.Reader
	// changed is told that the list of tools has changed.
	changed func()

	writing sync.Mutex
	asked   chan struct{} // a token for each request of the server's under way
	closed  chan struct{}
	once    sync.Once

	garbage []byte
	strays  int // bytes of garbage

	mu    sync.Mutex
	dead  bool
	cause error // why it broke, in words of ours
}

func newPipe(in, out *os.File, changed func()) *pipe {
	return &pipe{
		in: in, out: out, buf: bufio.NewReaderSize(out, 64<<10), changed: changed,
		asked: make(chan struct{}, maxAsked), closed: make(chan struct{}),
	}
}

// Connect implements [sdk.Transport].
func (p *pipe) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID implements [sdk.Connection]: there is but one.
func (*pipe) SessionID() string { return "" }

// Close implements [sdk.Connection].
func (p *pipe) Close() error {
	p.once.Do(func() {
		close(p.closed)
		_ = p.in.Close()
		_ = p.out.Close()
	})
	return nil
}

// hangUp tells the server that nothing more will come.
func (p *pipe) hangUp() { _ = p.in.Close() }

// Read implements [sdk.Connection].
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := p.next()
		if err != nil {
			return nil, p.broken(err)
		}
		req, ok := msg.(*jsonrpc.Request)
		switch {
		case msg == nil:
			continue
		case !ok:
			return msg, nil
		case !req.IsCall():
			// There is but one piece of news that matters, and a server may have
			// many: none are queued.
			if req.Method == "notifications/tools/list_changed" {
				p.changed()
			}
			continue
		}
		// A server that asks faster than it listens to the answers is not read
		// any further.
		select {
		case p.asked <- struct{}{}:
			return msg, nil
		case <-p.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// next reads a line. It is nil if that is no message.
func (p *pipe) next() (jsonrpc.Message, error) {
	var line []byte
	var t trimmer
	read, long := 0, false
	for {
		chunk, err := p.buf.ReadSlice('\n')
		first := read == 0
		read += len(chunk)
		if first {
			chunk = bytes.TrimLeft(chunk, " \t\r")
		}
		if first && len(chunk) > 0 && chunk[0] != '{' && chunk[0] != '\n' {
			return nil, p.stray(chunk, err)
		}
		if !long {
			line = t.add(line, chunk)
			long = len(line) > maxMessage
		} else {
			t.add(line[:0], chunk)
		}
		switch {
		case err == nil && long:
			return tooLong(t.id, read), nil
		case err == nil:
			return p.decode(line)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case read > maxLine:
			return nil, fmt.Errorf("it wrote a message of more than %d bytes", maxLine)
		}
	}
}

func (p *pipe) decode(line []byte) (jsonrpc.Message, error) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, nil
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, p.strayed(line)
	}
	return msg, nil
}

// stray passes over a line that is no message, of which chunk was read.
func (p *pipe) stray(chunk []byte, err error) error {
	for {
		if bad := p.strayed(chunk); bad != nil {
			return bad
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		chunk, err = p.buf.ReadSlice('\n')
	}
}

// strayed takes note of garbage, and fails when there is too much of it.
func (p *pipe) strayed(b []byte) error {
	p.strays += len(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if room := sample - len(p.garbage); room > 0 {
		p.garbage = append(p.garbage, b[:min(room, len(b))]...)
	}
	if p.strays > maxGarbage {
		return errGarbage
	}
	return nil
}

var errGarbage = errors.New("it writes what are no messages")

// tooLong is the answer in place of one that was too long; nil if nobody knows
// what it would have answered.
func tooLong(id []byte, size int) jsonrpc.Message {
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"the answer had %d bytes, and %d is the most that is read; ask for less"}}`,
		bytes.TrimSpace(id), jsonrpc.CodeInternalError, size, maxMessage)
	msg, err := jsonrpc.DecodeMessage([]byte(raw))
	if err != nil {
		return nil
	}
	return msg
}

// Write implements [sdk.Connection].
func (p *pipe) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if _, ok := msg.(*jsonrpc.Response); ok {
		defer func() {
			select {
			case <-p.asked:
			default:
			}
		}()
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	switch n, err := p.send(ctx, append(data, '\n')); {
	case err == nil:
		return nil
	case n == 0 && ctx.Err() != nil:
		return ctx.Err() // nothing has gone, so nothing is broken
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.hopeless(errors.New("it does not read what it is sent"))
	default:
		return p.hopeless(err)
	}
}

// hopeless ends a connection over which half a message may have gone.
func (p *pipe) hopeless(err error) error {
	err = p.broken(err)
	_ = p.out.Close()
	return err
}

// send writes until the context ends, and for no longer than our patience. Where pipes have no deadlines it waits.
func (p *pipe) send(ctx context.Context, data []byte) (int, error) {
	_ = p.in.SetWriteDeadline(time.Now().Add(patience))
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = p.in.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := p.in.Write(data)
	if !stop() {
		<-fired // before somebody else sets a deadline
	}
	return n, err
}

// broken is err, in words where there are any, and is remembered.
func (p *pipe) broken(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	if p.cause == nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		p.cause = err
	}
	return err
}

// isBroken reports whether reading or writing has failed.
func (p *pipe) isBroken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// why is what is known about the end of the connection.
func (p *pipe) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.garbage) > 0 && (p.cause == nil || errors.Is(p.cause, errGarbage)) {
		said := strings.TrimSpace(clean(string(p.garbage), sample))
		return fmt.Errorf("it wrote to its standard output what is no message: %q", said)
	}
	return p.cause
}
