package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/parser"

	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

// A Stream is Markdown that grows at its end. What can no longer change, whatever
// follows, is rendered once.
type Stream struct {
	pens pens
	raw  []byte // all of it, as it came
	read int    // how much of it are whole lines that went into split

	split splitter
	refs  []parser.Reference
	nrefs int // the definitions refs were made of

	width  int
	out    []string
	stable int // chunks in out
	lines  int // lines of out that are of them
	fresh  bool
}

// NewStream is an empty text in a theme.
func NewStream(t theme.Theme) *Stream { return &Stream{pens: newPens(t)} }

// SetTheme changes how everything looks.
func (s *Stream) SetTheme(t theme.Theme) {
	s.pens = newPens(t)
	s.restart()
}

// Append adds text at the end.
func (s *Stream) Append(more string) {
	if more != "" {
		s.raw = append(s.raw, more...)
		s.fresh = false
	}
}

// Set makes src the whole text. If it is what was there and more, only that is
// new.
func (s *Stream) Set(src string) {
	if n := len(s.raw); len(src) >= n && src[:n] == string(s.raw) {
		s.Append(src[n:])
		return
	}
	s.raw, s.read, s.split, s.refs, s.nrefs = []byte(src), 0, splitter{}, nil, 0
	s.restart()
}

// Len is the length of the text in bytes.
func (s *Stream) Len() int { return len(s.raw) }

// Lines is the text as styled lines of at most width cells. They belong to the
// stream and hold until it changes.
func (s *Stream) Lines(width int) []string {
	width = max(width, 1)
	if width != s.width {
		s.width = width
		s.restart()
	}
	if s.fresh {
		return s.out
	}
	s.fresh = true
	s.take()
	s.out = s.out[:s.lines]
	for ; s.stable < len(s.split.done); s.stable++ {
		s.out = add(s.out, chunk(s.split.done[s.stable], s.refs, width, s.pens))
	}
	s.lines = len(s.out)
	tail := s.split.open.String() + text.Clean(string(s.raw[s.read:]))
	s.out = add(s.out, chunk(tail, s.refs, width, s.pens))
	return s.out
}

// restart forgets what was rendered.
func (s *Stream) restart() { s.out, s.stable, s.lines, s.fresh = nil, 0, 0, false }

// take reads the lines that have become whole. A definition of a link changes
// what was written before it.
func (s *Stream) take() {
	end := bytes.LastIndexByte(s.raw, '\n') + 1
	if end > s.read {
		s.split.add(text.Clean(string(s.raw[s.read:end])))
		s.read = end
	}
	if n := len(s.split.refs); n != s.nrefs {
		_, pc := parse(slices.Clone(s.split.refs), nil)
		s.refs, s.nrefs = pc.References(), n
		s.restart()
		s.fresh = true
	}
}

// add puts a blank line between chunks.
func add(lines, more []string) []string {
	if len(lines) > 0 && len(more) > 0 {
		lines = append(lines, "")
	}
	return append(lines, more...)
}
