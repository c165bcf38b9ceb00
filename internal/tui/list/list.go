// Package list is a list of any length of which only the window is rendered.
package list

import "conclave/internal/tui/text"

// An Item is one entry of a list.
type Item interface {
	Key() string     // names it among all items of the list
	Version() uint64 // changes whenever its lines do
	Lines(width int) []string
}

// A Source is the items, in order.
type Source interface {
	Len() int
	At(i int) Item
}

// List is a window on a source.
type List struct {
	src  Source
	w, h int
}

// New is an empty list that follows its end.
func New() *List { return &List{} }

func (l *List) SetSource(s Source)                 { l.src = s }
func (l *List) SetSize(w, h int)                   { l.w, l.h = w, h }
func (l *List) View() []string                     { return text.Fit(nil, l.w, l.h) }
func (l *List) Scroll(lines int)                   {}
func (l *List) Page(n int)                         {}
func (l *List) Top()                               {}
func (l *List) Bottom()                            {}
func (l *List) Following() bool                    { return true }
func (l *List) Below() int                         { return 0 }
func (l *List) Changed()                           {}
func (l *List) Select(i int)                       {}
func (l *List) Selected() int                      { return -1 }
func (l *List) Move(n int)                         {}
func (l *List) At(y int) (item, line int, ok bool) { return 0, 0, false }
func (l *List) Position() float64                  { return 1 }
func (l *List) Reveal(i int)                       {}
