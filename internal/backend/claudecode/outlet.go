package claudecode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/backend"
)

// An outlet is where a turn's deltas go. Whoever reads them may leave.
type outlet struct {
	yield func(backend.Delta, error) bool
	left  bool // nobody reads any more
	last  rune // of the text so far
	apart bool // the next text is of another message
}

func (o *outlet) put(d backend.Delta) {
	if !o.left {
		o.left = !o.yield(d, nil)
	}
}

func (o *outlet) fail(err error) {
	if !o.left {
		o.left = true
		o.yield(backend.Delta{}, err)
	}
}

// text passes on a piece of what is said. What the program says before and after it
// uses a tool are messages of their own, which nothing else would keep apart.
func (o *outlet) text(s string) {
	if s == "" {
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	if o.apart && o.last != 0 && !unicode.IsSpace(o.last) && !unicode.IsSpace(first) {
		s = "\n\n" + s
	}
	o.apart = false
	o.last, _ = utf8.DecodeLastRuneInString(s)
	o.put(backend.Delta{Text: s})
}

func (o *outlet) thinking(s string) {
	if s != "" {
		o.put(backend.Delta{Thinking: s})
	}
}

// Speech is what one message of the model has said so far, piece by piece, so that
// the whole of it, which comes as well, is not said twice.
type speech struct{ text, thinking strings.Builder }

// rest is what a whole block adds to the pieces. A block that does not begin with
// them is another one: the program tried again.
func rest(pieces *strings.Builder, whole string) string {
	said := pieces.String()
	pieces.Reset()
	if more, ok := strings.CutPrefix(whole, said); ok {
		return more
	}
	return whole
}
