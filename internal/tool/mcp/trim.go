package mcp

import "conclave/internal/tool"

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
	limit   int // of a string; zero is what a tool may return
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
		if !t.in {
			n := 0
			for n < len(p) && !structural(p[n]) {
				n++
			}
			out = t.keep(out, p[:n])
			if p = p[n:]; len(p) > 0 {
				out = t.step(out, p[0])
				p = p[1:]
			}
			continue
		}
		n, end := t.text(p)
		out = t.keep(out, p[:n])
		p = p[n:]
		switch end {
		case closed:
			t.in, t.cutting = false, false
			out = t.keep(out, p[:1])
			p = p[1:]
		case full:
			t.cutting = true
			out = append(out, cutMark...)
		}
	}
	return out
}

// structural are the characters that mean something outside a string.
func structural(b byte) bool {
	switch b {
	case '"', ':', ',', '{', '}', '[', ']':
		return true
	}
	return false
}

// Where a piece of a string ends: with what there is, at the quote, or where it
// is long enough.
const (
	more = iota
	closed
	full
)

// text is how many bytes at the beginning of p belong to the string. It is cut
// within no escape and no character.
func (t *trimmer) text(p []byte) (n, end int) {
	room := t.most() - t.length
	if t.cutting {
		room = len(p)
	}
	hex, slash := t.hex, t.slash
	defer func() { t.hex, t.slash = hex, slash }()
	for i, b := range p {
		switch {
		case hex > 0:
			hex--
		case slash:
			slash = false
			if b == 'u' {
				hex = 4
			}
		case b == '"':
			return i, closed
		case i >= room && b&0xC0 != 0x80:
			return i, full
		default:
			slash = b == '\\'
		}
	}
	return len(p), more
}

// most is how long the string may be: pictures come as one and cannot be cut.
func (t *trimmer) most() int {
	switch {
	case t.key == "data" || t.key == "blob":
		return maxMessage
	case t.limit > 0:
		return t.limit
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

// step takes a byte that is structural.
func (t *trimmer) step(out []byte, b byte) []byte {
	switch b {
	case '"':
		out = t.keep(out, []byte{b})
		t.in, t.length, t.last = true, 0, t.last[:0]
		return out
	case ':':
		t.key = string(t.last)
		if t.depth == 1 && t.key == "id" {
			t.taking, t.id = true, nil
			return append(out, b)
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
