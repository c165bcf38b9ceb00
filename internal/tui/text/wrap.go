package text

import "strings"

// Wrap is s in lines of at most width cells, broken between words. A word that
// is too long for a line is broken where the line ends, wide characters may be
// broken between, a style goes on in the next line. Blank space at a break is
// gone; the blanks a line of s begins with stay. There is always one line.
func Wrap(s string, width int) []string { return wrap(s, width, true) }

// Chop is s in lines of at most width cells, broken only where a line ends: for
// text whose blanks matter.
func Chop(s string, width int) []string { return wrap(s, width, false) }

func wrap(s string, width int, words bool) []string {
	s = Expand(s)
	width = max(width, 1)
	if len(s) <= width && plain(s) {
		return []string{s}
	}
	if width == 1 {
		s = narrow(s)
	}
	w := wrapper{s: s, width: width, words: words}
	w.out = make([]string, 0, len(s)/width+1)
	for i := 0; i < len(s); {
		if s[i] == '\n' {
			w.end(i)
			i++
			w.begin(i)
			continue
		}
		n, cells := step(s[i:])
		w.take(i, n, cells)
		i += n
	}
	w.end(len(s))
	return w.out
}

// plain reports whether every byte of s takes one cell of one line.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// narrow puts something of one cell in the place of every wider character: a
// line of one cell has no room for them.
func narrow(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n, cells := step(s[i:])
		if cells > 1 {
			b.WriteString(ellipsis)
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// place is a position in the text: the byte, the cells of the line before it and
// the pen there.
type place struct {
	at    int
	cells int
	pen   pen
}

// wrapper finds the lines of s as pieces of s, so that a plain line is not
// copied.
type wrapper struct {
	s     string
	width int
	words bool
	out   []string

	start place // of the line
	here  place
	text  place // the end of the last thing seen that is not blank
	// The last place in this line where it may be broken: what is before stop
	// stays, the next line begins at next.
	stop, next place
	canBreak   bool
	blank      bool // the last thing was a blank
}

// begin starts a line at a byte.
func (w *wrapper) begin(at int) {
	w.here.at, w.here.cells = at, 0
	w.start, w.text = w.here, w.here
	w.canBreak, w.blank = false, false
}

// take adds a piece of n bytes at byte at.
func (w *wrapper) take(at, n, cells int) {
	piece := w.s[at : at+n]
	w.here.at = at
	switch {
	case cells == 0:
		w.here.pen.see(piece)
		w.here.at = at + n
		if !w.blank {
			w.text = w.here
		}
		return
	case w.words && piece == " ":
		w.blank = true
		w.here.at, w.here.cells = at+n, w.here.cells+1
		return
	}
	if w.words && (w.blank || cells > 1) {
		// Blanks a line begins with are its own: there is no line without them.
		w.stop, w.next, w.canBreak = w.text, w.here, w.text.cells > 0 || w.blank
	}
	if w.here.cells+cells > w.width {
		w.turn()
	}
	w.here.at, w.here.cells = at+n, w.here.cells+cells
	w.text, w.blank = w.here, false
	if w.words && cells > 1 {
		w.stop, w.next, w.canBreak = w.text, w.here, true
	}
}

// turn ends the line at the last place where it may be broken, or right here.
func (w *wrapper) turn() {
	stop, next := w.here, w.here
	if w.canBreak {
		stop, next = w.stop, w.next
	}
	if stop.cells > 0 {
		w.emit(stop)
	}
	here := w.here
	w.start = next
	w.start.cells = 0
	w.here.cells = here.cells - next.cells
	w.text = w.start
	w.canBreak = false
	if w.here.cells > 0 { // the word that did not fit begins the new line
		w.text = w.here
	}
}

// end ends the last line of a paragraph at byte at.
func (w *wrapper) end(at int) {
	w.here.at = at
	if w.here.cells > w.width { // blanks that hang over the edge
		w.emit(w.text)
		return
	}
	w.emit(w.here)
}

// emit adds the line that ends at a place.
func (w *wrapper) emit(to place) {
	line := w.s[w.start.at:to.at]
	if w.start.pen != "" || to.pen != "" {
		line = w.start.pen.open() + line + to.pen.close()
	}
	w.out = append(w.out, line)
}
