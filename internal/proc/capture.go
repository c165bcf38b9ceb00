package proc

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Capture is a writer that keeps the first and the last bytes of what is
// written to it and counts the rest. It may be used concurrently.
type Capture struct {
	mu         sync.Mutex
	head, tail []byte // tail is a ring once it is full
	next       int    // where the ring goes on
	first      int    // how much head may hold
	last       int    // how much tail may hold
	total      int64
}

// NewCapture keeps the first and the last so many bytes.
func NewCapture(first, last int) *Capture {
	return &Capture{first: max(first, 0), last: max(last, 0)}
}

// Write never fails.
func (c *Capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(b)
	c.total += int64(n)
	if room := c.first - len(c.head); room > 0 {
		take := min(room, len(b))
		c.head, b = append(c.head, b[:take]...), b[take:]
	}
	if len(b) > c.last {
		b = b[len(b)-c.last:]
	}
	if room := c.last - len(c.tail); room > 0 {
		take := min(room, len(b))
		c.tail, b = append(c.tail, b[:take]...), b[take:]
	}
	for len(b) > 0 {
		did := copy(c.tail[c.next:], b)
		c.next, b = (c.next+did)%c.last, b[did:]
	}
	return n, nil
}

// Total is how many bytes were written.
func (c *Capture) Total() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Omitted is how many of them were not kept.
func (c *Capture) Omitted() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.omitted()
}

func (c *Capture) omitted() int64 { return c.total - int64(len(c.head)+len(c.tail)) }

// String is what was kept, as valid UTF-8, with a line that says how much is
// missing where something is. A character cut in two by that is left out.
func (c *Capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := string(c.tail[c.next:]) + string(c.tail[:c.next])
	if c.omitted() == 0 {
		return valid(string(c.head) + tail)
	}
	head, tail := wholeEnd(string(c.head)), wholeStart(tail)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	gap := c.total - int64(len(c.head)+len(c.tail))
	return valid(head) + fmt.Sprintf("… %d bytes left out …\n", gap) + valid(tail)
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// wholeEnd cuts off a character that began at the end and was not finished.
func wholeEnd(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if tail := s[len(s)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// wholeStart cuts off the rest of a character that began before.
func wholeStart(s string) string {
	for i := 0; i < utf8.UTFMax-1 && len(s) > 0 && !utf8.RuneStart(s[0]); i++ {
		s = s[1:]
	}
	return s
}
