package backendtest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"conclave/internal/backend"
)

// garbling: bytes that are not the right ones.
func garbling() []wireFault {
	return []wireFault{
		{"a byte flipped anywhere", flipped},
		{"a NUL anywhere", nuls},
		{"events doubled", doubled},
		{"events lost", lost},
		{"other ways to write the same", synonyms},
		{"whole or not at all", wholeOrNot},
		{"a line without end", endless},
	}
}

// sent is a turn whose answer has another body.
func (r *rig) sent(body []byte) (backend.Reply, error) {
	return r.turn(func(w http.ResponseWriter, _ *http.Request) { r.whole.send(w, body) })
}

// flipped: most of the bytes are text, where nobody can notice. So all there is
// to ask for is that nothing breaks.
func flipped(r *rig) {
	bit := 0
	r.at(300, func(p int) {
		body := bytes.Clone(r.whole.body)
		body[p] ^= 1 << bit
		reply, err := r.sent(body)
		r.sane(fmt.Sprintf("bit %d of byte %d flipped", bit, p), reply, err)
		bit = (bit + 1) % 8
	})
}

func nuls(r *rig) {
	r.at(60, func(p int) {
		reply, err := r.sent(slices.Concat(r.whole.body[:p], []byte{0}, r.whole.body[p:]))
		r.sane(fmt.Sprintf("NUL before byte %d", p), reply, err)
	})
}

func doubled(r *rig) {
	events := r.whole.events()
	for i := range events {
		body := bytes.Join(slices.Insert(slices.Clone(events), i, events[i]), nil)
		reply, err := r.sent(body)
		r.sane(fmt.Sprintf("event %d twice", i), reply, err)
	}
}

func lost(r *rig) {
	events := r.whole.events()
	for i := range events {
		reply, err := r.sent(bytes.Join(slices.Delete(slices.Clone(events), i, i+1), nil))
		r.sane(fmt.Sprintf("event %d is missing", i), reply, err)
	}
	_, err := r.sent(bytes.Join(events[:1], nil))
	if len(events) > 1 {
		r.failed("only the first event", err, backend.Truncated)
	}
}

// synonyms are bodies that mean what the healthy one means.
func synonyms(r *rig) {
	body, events := r.whole.body, r.whole.events()
	between := func(s string) []byte {
		return slices.Concat([]byte(s), bytes.Join(events, []byte(s)), []byte(s))
	}
	for _, s := range []struct {
		what string
		body []byte
	}{
		{"CRLF line ends", bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))},
		{"comments", between(": keep-alive\n\n")},
		{"comments in events", prefixed(events, ": on we go\n")},
		{"ids and retry times", prefixed(events, "id: 7\nretry: 100\n")},
		{"more blank lines", between("\n\n\n")},
		{"events of another type", between("event: novelty\ndata: {\"type\":\"novelty\",\"value\":1}\n\n")},
		{"no space after the colon", bytes.ReplaceAll(body, []byte("data: "), []byte("data:"))},
		{"bytes after the end", slices.Concat(body, []byte("data: {\"never\": \"read"))},
	} {
		reply, err := r.sent(s.body)
		r.identical(s.what, reply, err)
	}
}

// prefixed are events with a line before each.
func prefixed(events [][]byte, line string) []byte {
	var out []byte
	for _, e := range events {
		out = append(append(out, line...), e...)
	}
	return out
}

// wholeOrNot: what an engine may or may not put up with. It must not lose a part
// and say nothing.
func wholeOrNot(r *rig) {
	body := r.whole.body
	for _, s := range []struct {
		what string
		body []byte
	}{
		{"a byte order mark", slices.Concat([]byte("\uFEFF"), body)},
		{"no blank lines", bytes.ReplaceAll(body, []byte("\n\n"), []byte("\n"))},
		{"no last blank line", body[:len(body)-1]},
		{"CR line ends", bytes.ReplaceAll(body, []byte("\n"), []byte("\r"))},
		{"no line ends", bytes.ReplaceAll(body, []byte("\n"), nil)},
	} {
		reply, err := r.sent(s.body)
		if err == nil {
			r.identical(s.what, reply, err)
			continue
		}
		r.failed(s.what, err, backend.Garbled, backend.Truncated)
	}
}

// maxLine is how much of one line an engine may take in.
const maxLine = 64 << 20

// endless: what comes does not end, and memory does.
func endless(r *rig) {
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	var taken atomic.Int64
	_, err := r.turn(func(w http.ResponseWriter, _ *http.Request) {
		r.whole.send(w, []byte("data: {\"x\":\""))
		for taken.Load() < 4*maxLine {
			n, err := w.Write(chunk)
			if taken.Add(int64(n)); err != nil {
				return
			}
		}
	})
	r.failed("an endless line", err, backend.Garbled, backend.Truncated)
	if n := taken.Load(); n > maxLine {
		r.errorf("%d MiB of one line were taken in", n>>20)
	}
}
