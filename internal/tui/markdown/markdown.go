// Package markdown renders Markdown as lines for a terminal.
package markdown

import (
	"conclave/internal/tui/text"
	"conclave/internal/tui/theme"
)

// Render is src as styled lines of at most width cells.
func Render(src string, width int, t theme.Theme) []string {
	return text.Wrap(text.Clean(src), width)
}

// A Stream is Markdown that grows at its end.
type Stream struct {
	src string
	t   theme.Theme
}

// NewStream is an empty stream.
func NewStream(t theme.Theme) *Stream { return &Stream{t: t} }

// Append adds text at the end.
func (s *Stream) Append(more string) { s.src += more }

// Set makes src the whole text.
func (s *Stream) Set(src string) { s.src = src }

// Lines is the text as styled lines of at most width cells. They belong to the
// stream and hold until it changes.
func (s *Stream) Lines(width int) []string { return Render(s.src, width, s.t) }
