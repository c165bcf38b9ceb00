// Package list shows a window on a list of any length.
//
// Only the items in the window are rendered, so a list of 100,000 costs what one
// of fifty costs. Items may change their height, come and go at any time: after
// [List.Changed] the line that was first in the window still is, unless the list
// follows its end, which it does from the start and whenever somebody goes
// there. Nothing here knows the height of the whole list; what depends on it
// ([List.Position], [List.Share]) is an estimate that is right at both ends.
//
// A list is not safe for use by several goroutines.
package list

import "conclave/internal/tui/text"

// An Item is one entry of a list. It should have a line: a source had better
// leave out what is not to be seen than give items without height.
type Item interface {
	// Key names the item among all items of the list.
	Key() string
	// Version changes whenever the lines do.
	Version() uint64
	// Lines are what to show. The list keeps them and changes nothing in them.
	Lines(width int) []string
}

// A Source is the items, in order.
type Source interface {
	Len() int
	At(i int) Item
}

// A List is a window on the items of a source.
type List struct {
	src  Source
	w, h int
	memo memo

	top    place // the first line of the window
	topKey string
	follow bool
	seen   int // items that have been in the window or above, once following stopped

	selected    int
	selectedKey string

	rows  []row // what is in the window, if fresh
	view  []string
	fresh bool // rows hold
	drawn bool // view holds
}

// place is a line of an item.
type place struct{ item, line int }

// row is a line of the window.
type row struct {
	place
	text string
}

// New is an empty list that follows its end.
func New() *List { return &List{follow: true, selected: -1} }

// SetSource makes s the items. The list begins anew: at the end, nothing
// selected.
func (l *List) SetSource(s Source) {
	*l = List{src: s, w: l.w, h: l.h, follow: true, selected: -1}
}

// SetSize makes the window w cells wide and h lines high. The item at its top
// stays there.
func (l *List) SetSize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if w == l.w && h == l.h {
		return
	}
	if w != l.w && w > 0 && l.w > 0 && !l.follow && l.top.item < l.len() {
		// The same share of the item is above the window, at any width.
		old := len(l.lines(l.top.item))
		l.w = w
		l.top.line = l.top.line * len(l.lines(l.top.item)) / max(old, 1)
	}
	l.w, l.h = w, h
	l.memo.room(h)
	l.stale()
}

// Changed says that the source has more or fewer items, or that some changed.
func (l *List) Changed() {
	switch {
	case l.len() == 0:
		l.follow, l.seen, l.selected = true, 0, -1
	case !l.follow:
		l.seen += l.find(&l.top.item, l.topKey)
	}
	if l.selected >= 0 {
		l.find(&l.selected, l.selectedKey)
		l.Select(l.selected)
	}
	l.stale()
}

// find moves an index to where the item of a key is now, and says how far that
// was. An item that is gone leaves its place to what is there now.
func (l *List) find(i *int, key string) int {
	n := l.len()
	is := func(j int) bool { return j >= 0 && j < n && l.src.At(j).Key() == key }
	for d := 0; *i-d >= 0 || *i+d < n; d++ {
		for _, j := range [2]int{*i - d, *i + d} {
			if is(j) {
				shift := j - *i
				*i = j
				return shift
			}
		}
	}
	*i = max(0, min(*i, n-1))
	return 0
}

func (l *List) len() int {
	if l.src == nil {
		return 0
	}
	return l.src.Len()
}

// lines are the lines of an item, rendered or remembered.
func (l *List) lines(i int) []string { return l.memo.lines(l.src.At(i), l.w) }

// stale says that the window has to be laid out again.
func (l *List) stale() { l.fresh, l.drawn = false, false }

// View is the window: exactly as many lines as it is high, each exactly as many
// cells as it is wide. The lines belong to the list until the next call.
func (l *List) View() []string {
	if l.drawn {
		return l.view
	}
	l.layout()
	l.view = l.view[:0]
	for _, r := range l.rows {
		l.view = append(l.view, text.Pad(r.text, l.w))
	}
	for len(l.view) < l.h {
		l.view = append(l.view, text.Spaces(l.w))
	}
	l.drawn = true
	return l.view
}

// At is the item, and the line of it, that is in line y of the window.
func (l *List) At(y int) (item, line int, ok bool) {
	l.layout()
	if y < 0 || y >= len(l.rows) {
		return 0, 0, false
	}
	return l.rows[y].item, l.rows[y].line, true
}

// Following reports whether the list stays at its end when that moves.
func (l *List) Following() bool { return l.follow }

// Below is how many items came below the window since the list stopped following
// its end, and have not been seen.
func (l *List) Below() int {
	l.layout()
	if l.follow {
		return 0
	}
	return max(0, l.len()-l.seen)
}

// Position is how much of what is out of sight is above the window: 0 at the
// beginning of the list, 1 at its end.
func (l *List) Position() float64 {
	above, below := l.hidden()
	if below == 0 {
		return 1
	}
	return above / (above + below)
}

// Share is how much of the list is in the window: 1 if all of it is.
func (l *List) Share() float64 {
	above, below := l.hidden()
	if n := float64(l.len()); n > 0 {
		return (n - above - below) / n
	}
	return 1
}

// hidden is what is above and below the window, in items and parts of items.
func (l *List) hidden() (above, below float64) {
	l.layout()
	if len(l.rows) == 0 {
		return 0, 0
	}
	part := func(p place) float64 {
		return float64(p.item) + float64(p.line)/float64(max(len(l.lines(p.item)), 1))
	}
	last := l.rows[len(l.rows)-1].place
	last.line++
	above, below = part(l.rows[0].place), float64(l.len())-part(last)
	if l.atEnd() {
		below = 0
	}
	return above, below
}
