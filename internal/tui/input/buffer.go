package input

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/tui/text"
)

// tabWidth is how many cells a tab takes, wherever it stands.
const tabWidth = 4

// maxName is how many cells of a picture's name are shown.
const maxName = 24

// An atom is what the cursor steps over at once: what a person sees as one
// character, or a chip.
type atom struct {
	s    string // the grapheme cluster; nothing for a chip
	w    int    // its cells
	chip *chip
	n    int // of a picture: which one it is
}

// A chip is a piece of text, or a picture, that is shown as one short label and
// removed as a whole. It does not change.
type chip struct {
	label  string
	text   string // what it stands for
	image  string // the path of a picture
	pasted int    // of a paste: its number
}

// label is what a chip is shown as. Pictures are numbered as they stand.
func (a atom) label() string {
	if a.chip.image != "" {
		name := text.Cut(oneLine(path.Base(filepath.ToSlash(a.chip.image))), maxName)
		return fmt.Sprintf("[Image #%d %s]", a.n, name)
	}
	return "[" + a.chip.label + "]"
}

func (a atom) space() bool { return a.chip == nil && (a.s == " " || a.s == "\t" || a.s == "\n") }

// word reports whether an atom is part of a word, as readline understands words.
func (a atom) word() bool {
	r, _ := utf8.DecodeRuneInString(a.s)
	return a.chip != nil || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// A state is a text and the place of the cursor in it.
type state struct {
	atoms []atom // shared by the buffer, its undo steps and the history: never written to
	at    int
}

// A buffer is a text being edited. The zero value is an empty one.
type buffer struct {
	state
	ver  int // another number is another text
	goal int // the column that moving up and down keeps to, one too many; 0 is none

	undo  []state
	kills [][]atom // newest last
	last  op
	yank  [2]int // what the last yank put in
}

// An op is a kind of change: some go together with the one before.
type op int

const (
	moving op = iota
	typing
	killing
	yanking
)

const (
	maxUndo  = 200
	maxAtoms = 1 << 18 // in all undo steps together
	maxKills = 16
)

// cut makes atoms of a text that has been cleaned.
func cut(s string) []atom {
	out := make([]atom, 0, len(s))
	for s != "" {
		size, w := 1, 1
		switch {
		case s[0] == '\n':
			w = 0
		case s[0] == '\t':
			w = tabWidth
		case s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf): // nothing joins two of these
		default:
			size, w = text.First(s)
		}
		out = append(out, atom{s: s[:size], w: w})
		s = s[size:]
	}
	return out
}

// size is the number of bytes of atoms; a chip counts as one.
func size(atoms []atom) int {
	n := 0
	for _, a := range atoms {
		n += len(a.s)
		if a.chip != nil {
			n++
		}
	}
	return n
}

// plain is the text of atoms without chips.
func plain(atoms []atom) string {
	var b strings.Builder
	for _, a := range atoms {
		b.WriteString(a.s)
	}
	return b.String()
}

// recut is atoms whose neighbours may have become one character.
func recut(atoms []atom) []atom {
	out := make([]atom, 0, len(atoms))
	for len(atoms) > 0 {
		n := slices.IndexFunc(atoms, func(a atom) bool { return a.chip != nil })
		switch {
		case n == 0:
			out, atoms = append(out, atoms[0]), atoms[1:]
			continue
		case n < 0:
			n = len(atoms)
		}
		out, atoms = append(out, cut(plain(atoms[:n]))...), atoms[n:]
	}
	return out
}

// replace puts something in place of atoms[from:to] and the cursor behind it.
func (b *buffer) replace(from, to int, with []atom) {
	// What is typed may join with what stands around it, up to the next ASCII
	// character on either side, which stands for itself.
	lo, hi := from, to
	for lo > 0 && (lo == from || len(b.atoms[lo].s) != 1) {
		lo--
	}
	for hi < len(b.atoms) && (hi == to || len(b.atoms[hi-1].s) != 1) {
		hi++
	}
	middle := slices.Concat(b.atoms[lo:from], with)
	behind := size(middle)
	middle = recut(append(middle, b.atoms[to:hi]...))
	at := 0
	for n := 0; at < len(middle) && n < behind; at++ {
		n += size(middle[at : at+1])
	}
	b.set(slices.Concat(b.atoms[:lo], middle, b.atoms[hi:]), lo+at)
}

// set takes over atoms that nobody else has.
func (b *buffer) set(atoms []atom, at int) {
	n := 0
	for i := range atoms {
		c := atoms[i].chip
		if c == nil {
			continue
		}
		if c.image != "" {
			n++
			atoms[i].n = n
		}
		atoms[i].w = text.Width(atoms[i].label())
	}
	b.atoms, b.at = atoms, at
	b.ver++
	b.goal = 0
}

// keep remembers the state for undo, unless the change goes on with the last.
func (b *buffer) keep(o op, goesOn bool) {
	if o != b.last || !goesOn {
		b.undo = append(b.undo, b.state)
		total := 0
		for _, s := range b.undo {
			total += len(s.atoms)
		}
		for len(b.undo) > 1 && (len(b.undo) > maxUndo || total > maxAtoms) {
			total -= len(b.undo[0].atoms)
			b.undo = slices.Delete(b.undo, 0, 1)
		}
	}
	b.last = o
}

// insert types a text. The characters of one word are undone together.
func (b *buffer) insert(s string) {
	starts := strings.HasPrefix(s, " ") && b.at > 0 && !b.atoms[b.at-1].space()
	b.keep(typing, !starts)
	b.replace(b.at, b.at, cut(s))
}

// put inserts atoms in one step.
func (b *buffer) put(atoms []atom) {
	b.keep(moving, false)
	b.replace(b.at, b.at, atoms)
}

// load makes it another text, in one step.
func (b *buffer) load(s state) {
	b.keep(moving, false)
	b.set(slices.Clone(s.atoms), s.at)
}

// back undoes the last step.
func (b *buffer) back() {
	if n := len(b.undo); n > 0 {
		s := b.undo[n-1]
		b.undo = b.undo[:n-1]
		b.set(slices.Clone(s.atoms), s.at)
	}
	b.last = moving
}

// remove deletes atoms for good.
func (b *buffer) remove(from, to int) {
	if from < to {
		b.keep(moving, false)
		b.replace(from, to, nil)
	}
}

// take deletes atoms and keeps them for yank. Those taken one after the other
// come back together.
func (b *buffer) take(from, to int) {
	if from == to {
		return
	}
	gone := slices.Clone(b.atoms[from:to])
	if n := len(b.kills); b.last != killing || n == 0 {
		b.kills = append(b.kills, gone)
		b.kills = b.kills[max(0, len(b.kills)-maxKills):]
	} else if to == b.at {
		b.kills[n-1] = append(gone, b.kills[n-1]...)
	} else {
		b.kills[n-1] = append(slices.Clip(b.kills[n-1]), gone...)
	}
	b.keep(killing, false)
	b.replace(from, to, nil)
}

// paste yanks what was taken last.
func (b *buffer) paste() {
	n := len(b.kills)
	if n == 0 {
		return
	}
	before := b.at
	b.keep(yanking, false)
	b.replace(b.at, b.at, b.kills[n-1])
	b.yank = [2]int{min(before, b.at), b.at}
}

// pasteOlder puts what was taken before in place of what was just yanked.
func (b *buffer) pasteOlder() {
	n := len(b.kills)
	if b.last != yanking || n == 0 {
		return
	}
	b.kills = slices.Concat(b.kills[n-1:], b.kills[:n-1])
	from := b.yank[0]
	b.replace(from, b.yank[1], b.kills[n-1])
	b.yank = [2]int{min(from, b.at), b.at}
}
