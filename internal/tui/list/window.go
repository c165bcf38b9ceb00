package list

// layout finds out which lines are in the window, if that is not known.
func (l *List) layout() {
	if l.fresh {
		return
	}
	l.fresh = true
	n := l.len()
	l.rows = l.rows[:0]
	if n == 0 || l.h == 0 || l.w == 0 {
		return
	}
	if l.follow {
		l.top = l.up(l.end(), l.h)
	}
	l.top = l.valid(l.top)
	l.collect()
	if len(l.rows) < l.h && l.top != (place{}) {
		// There is less below than the window has room for.
		l.rows = l.rows[:0]
		l.top = l.up(l.end(), l.h)
		l.collect()
	}
	if len(l.rows) > 0 {
		l.top = l.rows[0].place
		l.seen = max(l.seen, l.rows[len(l.rows)-1].item+1)
	}
	if l.follow {
		l.seen = n
	}
	l.seen = min(l.seen, n)
	l.topKey = l.src.At(l.top.item).Key()
}

// collect takes lines from the top of the window down, until it is full.
func (l *List) collect() {
	n := l.len()
	for i, from := l.top.item, l.top.line; i < n && len(l.rows) < l.h; i, from = i+1, 0 {
		lines := l.lines(i)
		for j := from; j < len(lines) && len(l.rows) < l.h; j++ {
			l.rows = append(l.rows, row{place{i, j}, lines[j]})
		}
	}
}

// end is the place after the last line.
func (l *List) end() place { return place{l.len(), 0} }

// valid is the line at a place, or the nearest if items are shorter or fewer
// than they were.
func (l *List) valid(p place) place {
	if n := l.len(); p.item >= n {
		return l.up(l.end(), 1)
	}
	if h := len(l.lines(p.item)); p.line >= h {
		p.line = max(0, h-1)
	}
	return p
}

// up is the place n lines above p, or the first of all.
func (l *List) up(p place, n int) place {
	for n > 0 {
		if p.line >= n {
			return place{p.item, p.line - n}
		}
		n -= p.line
		p.line = 0
		if p.item == 0 {
			return p
		}
		p.item--
		p.line = len(l.lines(p.item))
	}
	return p
}

// down is the place n lines below p, or the end.
func (l *List) down(p place, n int) place {
	for n > 0 && p.item < l.len() {
		left := len(l.lines(p.item)) - p.line
		if left > n {
			return place{p.item, p.line + n}
		}
		n -= left
		p = place{p.item + 1, 0}
	}
	return p
}

// atEnd reports whether the last line of the list is in the window.
func (l *List) atEnd() bool {
	if len(l.rows) < l.h {
		return true
	}
	last := l.rows[len(l.rows)-1].place
	last.line++
	for i := last.item; i < l.len(); i++ {
		if len(l.lines(i)) > last.line {
			return false
		}
		last.line = 0
	}
	return true
}

// jump puts the top of the window at a place, as somebody wished.
func (l *List) jump(to place) {
	if l.follow {
		l.seen = l.len()
	}
	l.top, l.follow = to, false
	l.stale()
	l.layout()
	l.follow = l.atEnd()
}

// Scroll moves the window down, or up if lines is negative.
func (l *List) Scroll(lines int) {
	l.layout()
	switch {
	case len(l.rows) == 0:
	case lines < 0:
		l.jump(l.up(l.top, -lines))
	case lines > 0 && !l.follow:
		l.jump(l.down(l.top, lines))
	}
}

// Page moves the window by n times its height, less a line to go on from.
func (l *List) Page(n int) { l.Scroll(n * max(1, l.h-1)) }

// Top goes to the beginning of the list.
func (l *List) Top() {
	l.layout()
	if len(l.rows) > 0 {
		l.jump(place{})
	}
}

// Bottom goes to the end of the list, and stays there.
func (l *List) Bottom() {
	l.follow = true
	l.stale()
}

// Reveal moves the window as little as it takes to show item i: the whole of it,
// or its beginning if it is higher than the window.
func (l *List) Reveal(i int) {
	l.layout()
	if i < 0 || i >= l.len() || len(l.rows) == 0 {
		return
	}
	height := len(l.lines(i))
	switch first, last := l.rows[0].place, l.rows[len(l.rows)-1].place; {
	case i < first.item, i == first.item && first.line > 0:
		l.jump(place{i, 0})
	case i > last.item, i == last.item && last.line < height-1:
		if height >= l.h {
			l.jump(place{i, 0})
			return
		}
		l.jump(l.up(place{i, height}, l.h))
	}
}

// Select makes i the selected item, -1 none. The window stays where it is.
func (l *List) Select(i int) {
	if i = min(i, l.len()-1); i < 0 {
		l.selected, l.selectedKey = -1, ""
		return
	}
	l.selected, l.selectedKey = i, l.src.At(i).Key()
}

// Selected is the selected item, -1 if none is. It stays selected when items
// come or go before it.
func (l *List) Selected() int { return l.selected }

// Move selects the item n further down, or up, and shows it. If none was
// selected it begins with what is in the window. A list of which another item
// than the last is selected does not follow its end.
func (l *List) Move(n int) {
	l.layout()
	if l.len() == 0 || len(l.rows) == 0 || n == 0 {
		return
	}
	switch {
	case l.selected >= 0:
		l.Select(max(0, min(l.selected+n, l.len()-1)))
	case n > 0:
		l.Select(l.rows[0].item)
	default:
		l.Select(l.rows[len(l.rows)-1].item)
	}
	l.Reveal(l.selected)
	if l.follow && l.selected < l.len()-1 && l.top != (place{}) {
		l.follow, l.seen = false, l.len()
	}
}
