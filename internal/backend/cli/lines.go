package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a line against a program gone mad; no message comes near it.
const maxLine = 256 << 20

var errLongLine = errors.New("a line does not come to an end")

// readLines gives every line of r that is not blank to hear, without its end. A
// line may be of any length up to the limit. The last one counts even if it was not
// ended.
func readLines(r io.Reader, limit int, hear func([]byte)) error {
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(b, limit)
		if line = bytes.TrimSpace(line); len(line) > 0 && !errors.Is(err, errLongLine) {
			hear(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(b *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		piece, err := b.ReadSlice('\n')
		if len(line)+len(piece) > limit {
			return nil, errLongLine
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Line is a value as one line of JSON with its end. Programs end at once when they
// are sent a line they cannot read, so it is checked to be one object.
func Line(v any) ([]byte, error) {
	p, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write a line: %w", err)
	}
	if len(p) == 0 || p[0] != '{' || bytes.IndexByte(p, '\n') >= 0 {
		return nil, fmt.Errorf("write a line: it is not one JSON object: %.60q", p)
	}
	return append(p, '\n'), nil
}

// ErrClosed is the failure to send to a program that is not listening any more.
var ErrClosed = errors.New("the program does not listen any more")

// A queue is what is to be written, in order. Adding to it never waits: whoever
// hears the program has to be able to answer while the program is not reading.
type queue struct {
	mu     sync.Mutex
	lines  [][]byte
	closed bool
	more   chan struct{} // has room for one
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) add(line []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.lines = append(q.lines, line)
	q.ring()
	return nil
}

// close lets nothing more in; what is in it is still written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ring()
}

func (q *queue) ring() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) take() (lines [][]byte, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	lines, q.lines = q.lines, nil
	return lines, q.closed
}

// write writes what is added until the queue is closed, the writer fails, or gone
// is closed; then the writer is closed.
func (q *queue) write(w io.WriteCloser, gone <-chan struct{}) {
	defer w.Close()
	defer q.close()
	for {
		lines, closed := q.take()
		for _, line := range lines {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
		if closed && len(lines) == 0 {
			return
		}
		if closed {
			continue
		}
		select {
		case <-q.more:
		case <-gone:
			return
		}
	}
}
