package mcp

import (
	"bytes"

	"conclave/internal/tool"
)

const (
	// cutMark stands, in JSON, where the rest of a text was left out.
	cutMark = `\n[cut here]`
	// maxKey is as long as a field can be that matters here, maxID an id.
	maxKey = 16
	maxID  = 128
)

// A trimmer goes through a JSON text as it arrives and leaves out the end of
// every string that is longer than a tool may return, so that ten megabytes of
// output cost one. It judges nothing: what is no JSON stays none. On the way it
// takes note of the id of a message, wherever in it that stands.
type trimmer struct {
	depth   int
	in      bool   // inside a string
	slash   bool   // behind a backslash in it
	hex     int    // digits of \u0000 still to come
	length  int    // of the string so far
	cutting bool   // the rest of it is left out
	last    []byte // its beginning
	key     string // the field whose value comes
	id      []byte // of the message, as it was written
	taking  bool   // what comes is part of it
}

// add is out with what is kept of p behind it.
func (t *trimmer) add(out, p []byte) []byte {
	for len(p) > 0 {
		n := t.run(p)
		if n > 0 {
			out = t.keep(out, p[:n])
		} else {
			n = 1
			out = t.step(out, p[0])
		}
		p = p[n:]
	}
	return out
}

// run is how many bytes at the beginning of p are plain text of a string, as far
// as it is taken.
func (t *trimmer) run(p []byte) int {
	if !t.in || t.slash || t.hex > 0 {
		return 0
	}
	n := bytes.IndexAny(p, `"\`)
	if n < 0 {
		n = len(p)
	}
	if !t.cutting {
		n = min(n, max(t.most()-t.length, 0))
	}
	return n
}

// most is how long the string may be: pictures come as one and cannot be cut.
func (t *trimmer) most() int {
	if t.key == "data" || t.key == "blob" {
		return maxMessage
	}
	return tool.MaxText
}

// keep takes bytes over, unless the string they belong to is long enough.
func (t *trimmer) keep(out, p []byte) []byte {
	if t.in {
		t.length += len(p)
		if room := maxKey - len(t.last); room > 0 {
			t.last = append(t.last, p[:min(room, len(p))]...)
		}
	}
	if t.cutting {
		return out
	}
	if room := maxID - len(t.id); t.taking && room > 0 {
		t.id = append(t.id, p[:min(room, len(p))]...)
	}
	return append(out, p...)
}

// step takes one byte.
func (t *trimmer) step(out []byte, b byte) []byte {
	if t.in {
		return t.inside(out, b)
	}
	switch b {
	case '"':
		out = t.keep(out, []byte{b})
		t.in, t.length, t.last = true, 0, t.last[:0]
		return out
	case ':':
		t.key = string(t.last)
		if t.depth == 1 && t.key == "id" {
			out = t.keep(out, []byte{b})
			t.taking, t.id = true, nil
			return out
		}
	case '{', '[':
		t.depth++
		t.key = ""
	case '}', ']', ',':
		t.taking = t.taking && t.depth > 1
		t.key = ""
		if b != ',' {
			t.depth--
		}
	}
	return t.keep(out, []byte{b})
}

// inside takes one byte of a string that is not plain, or at which it is cut:
// never within an escape or a character.
func (t *trimmer) inside(out []byte, b byte) []byte {
	switch {
	case t.hex > 0:
		t.hex--
	case t.slash:
		t.slash = false
		if b == 'u' {
			t.hex = 4
		}
	case b == '"':
		t.in, t.cutting = false, false
		return t.keep(out, []byte{b})
	default:
		if !t.cutting && t.length >= t.most() && b&0xC0 != 0x80 {
			t.cutting = true
			out = append(out, cutMark...)
		}
		t.slash = b == '\\'
	}
	return t.keep(out, []byte{b})
}
