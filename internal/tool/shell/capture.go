package shell

import (
	"fmt"
	"strings"
	"sync"
)

// capture keeps the first and the last part of what is written to it and counts
// the rest. The zero value is ready. Standard output and error of a command may
// write to it at once.
type capture struct {
	mu   sync.Mutex
	head []byte
	tail ring
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	first := min(keepHead-len(c.head), n)
	c.head = append(c.head, p[:first]...)
	c.tail.max = keepTail
	c.tail.add(p[first:])
	return n, nil
}

// said is what was written under a heading, for the model.
func (c *capture) said(heading string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail, lost := c.tail.since(0)
	if len(c.head) == 0 {
		return "It printed nothing."
	}
	if heading != "" {
		heading += "\n"
	}
	var gap string
	if lost > 0 {
		gap = fmt.Sprintf("\n[%d bytes left out here]\n", lost)
	}
	return heading + text(c.head, []byte(gap), tail)
}

// text joins pieces into valid UTF-8 that is no longer than they are.
func text(pieces ...[]byte) string {
	var all strings.Builder
	for _, p := range pieces {
		all.Write(p)
	}
	return strings.ToValidUTF8(all.String(), "?")
}

// ring keeps the last max bytes of what was added to it.
type ring struct {
	max   int
	buf   []byte
	total int64 // bytes added so far
}

func (r *ring) add(p []byte) {
	r.total += int64(len(p))
	if over := len(p) - r.max; over > 0 {
		p = p[over:]
	}
	// Appending is amortized: what is too old is dropped when it is as much
	// again as what is kept.
	if len(r.buf)+len(p) > 2*r.max {
		r.buf = append(r.buf[:0], r.buf[len(r.buf)-min(len(r.buf), r.max):]...)
	}
	r.buf = append(r.buf, p...)
}

// since is what was added after the first seen bytes, and how much of that is
// no longer there.
func (r *ring) since(seen int64) (p []byte, lost int64) {
	kept := r.buf[len(r.buf)-min(len(r.buf), r.max):]
	first := r.total - int64(len(kept))
	if seen >= first {
		return kept[seen-first:], 0
	}
	return kept, first - seen
}
