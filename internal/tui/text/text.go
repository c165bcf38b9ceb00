// Package text measures, cuts and wraps text in cells of a terminal.
//
// A cell is what a terminal gives one narrow character. Combining marks take
// none, wide characters two, and a character that is put together from several
// (an emoji with a skin tone, a family) is as wide as terminals draw it. Every
// function takes plain text or text with colours and other SGR sequences, and
// counts only what is seen. Text of others goes through [Clean] first: nothing
// else here takes out what could move the cursor.
//
// A tab counts up to the next column that four divides, and becomes spaces in
// whatever a function gives back; where one line is asked for, a line break is a
// space.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"conclave/internal/view"
)

const (
	tabWidth = 4
	reset    = "\x1b[m"
	ellipsis = "…"

	softHyphen      = 0xad
	jungseongFiller = 0x1160
)

// blank is where spaces are cut from.
const blank = "                                                                                                                                "

// Spaces is n spaces.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Clean takes out of s whatever is no text: escape sequences with all they say
// (colours, links, titles), control characters, what reorders or hides the text
// around it. Line breaks of every kind are \n afterwards, and tabs stay.
func Clean(s string) string {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f {
			return strings.Map(alone, view.Clean(s))
		}
	}
	return s
}

// prepended are the rare characters that become one with whatever follows, so
// that blanks we add would vanish into them.
var prepended = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0600, Hi: 0x0605, Stride: 1}, {Lo: 0x06dd, Hi: 0x06dd, Stride: 1}, {Lo: 0x070f, Hi: 0x070f, Stride: 1},
		{Lo: 0x0890, Hi: 0x0891, Stride: 1}, {Lo: 0x08e2, Hi: 0x08e2, Stride: 1}, {Lo: 0x0d4e, Hi: 0x0d4e, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x110bd, Hi: 0x110bd, Stride: 1}, {Lo: 0x110cd, Hi: 0x110cd, Stride: 1}, {Lo: 0x111c2, Hi: 0x111c3, Stride: 1},
		{Lo: 0x113d1, Hi: 0x113d1, Stride: 1}, {Lo: 0x1193f, Hi: 0x1193f, Stride: 1}, {Lo: 0x11941, Hi: 0x11941, Stride: 1}, {Lo: 0x11a3a, Hi: 0x11a3a, Stride: 1},
		{Lo: 0x11a84, Hi: 0x11a89, Stride: 1}, {Lo: 0x11d46, Hi: 0x11d46, Stride: 1}, {Lo: 0x11f02, Hi: 0x11f02, Stride: 1}},
}

// alone is r, or a sign for it if it does not stand alone, or nothing if terminals
// do not agree on whether it can be seen.
func alone(r rune) rune {
	if r == softHyphen || r == jungseongFiller {
		return -1
	}
	if r >= 0x0600 && unicode.Is(prepended, r) {
		return unicode.ReplacementChar
	}
	return r
}

// step measures the first piece of s: how many bytes it has and how many cells
// it takes. A piece is one character as people see it, or an escape sequence.
func step(s string) (n, width int) {
	if c := s[0]; c >= 0x20 && c < 0x7f && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1 // what follows cannot change it
	}
	if n := sgr(s); n > 0 {
		return n, 0
	}
	if c := s[0]; c < 0x20 || c == 0x7f {
		_, width, n, _ = ansi.DecodeSequence(s, ansi.NormalState, nil)
		return max(n, 1), width
	}
	return First(s)
}

// First measures the first character of s: how many bytes it has and how many
// cells it takes. Terminals do not agree on characters that are put together from
// several. Emoji are as wide as the newer ones have them, which [Steady] makes
// true everywhere; for all others it is the most that any of them takes.
func First(s string) (n, width int) {
	cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if r, one := utf8.DecodeRuneInString(cluster); one < len(cluster) && !(symbol(r) && joined(cluster)) {
		width = max(width, ansi.StringWidthWc(cluster))
	}
	return max(len(cluster), 1), width
}

// What joins emoji and changes how they look.
const (
	emojiStyle = "\ufe0f"
	joiner     = "\u200d"
	skinTones  = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
)

// joined reports whether an emoji in s has something that not every terminal
// knows how to draw as one.
func joined(s string) bool {
	return strings.Contains(s, emojiStyle) || strings.Contains(s, joiner) || strings.Contains(s, skinTones[:3]) && strings.ContainsAny(s, skinTones)
}

// Steady is s, plain or with colours and of any number of lines, with every emoji
// that terminals draw in different widths made the first one in it, in as many
// cells as [Width] counts: a family is one of its members and a heart has no
// colour, but what stands beside them stays in its place.
func Steady(s string) string {
	if !joined(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		n, width := step(s[i:])
		piece := s[i : i+n]
		i += n
		first, one := utf8.DecodeRuneInString(piece)
		if one == n || first < 0x20 || !joined(piece) || !symbol(first) {
			b.WriteString(piece)
			continue
		}
		b.WriteString(piece[:one])
		b.WriteString(Spaces(width - ansi.StringWidthWc(piece[:one])))
	}
	return b.String()
}

// symbol reports whether emoji begin with r; scripts have joiners of their own.
func symbol(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sm, r) || unicode.Is(unicode.Po, r) || unicode.Is(unicode.Sk, r) || r >= '0' && r <= '9'
}

// sgr is the length of the style sequence s begins with, 0 if there is none.
func sgr(s string) int {
	if len(s) < 3 || s[0] != '\x1b' || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == ';', c == ':':
		case c == 'm':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// Width is how many cells s takes on one line.
func Width(s string) int {
	s = oneLine(s)
	w := 0
	for i := 0; i < len(s); {
		n, cells := step(s[i:])
		i, w = i+n, w+cells
	}
	return w
}

// Cut is s on one line of at most width cells. What is longer ends in "…".
func Cut(s string, width int) string {
	s, _ = cut(s, width)
	return s
}

// cut is Cut, and how many cells it comes to.
func cut(s string, width int) (string, int) {
	s = oneLine(s)
	if width <= 0 {
		return "", 0
	}
	var p, kept pen
	w, at, room := 0, 0, 0 // at: where to cut so that the ellipsis has room
	for i := 0; i < len(s); {
		n, cells := step(s[i:])
		if w+cells > width {
			return s[:at] + ellipsis + kept.close(), room + 1
		}
		w += cells
		p.see(s[i : i+n])
		i += n
		if w < width {
			at, room, kept = i, w, p
		}
	}
	return s, w
}

// CutLeft is the end of s on one line of at most width cells. What is longer
// begins with "…".
func CutLeft(s string, width int) string {
	s = oneLine(s)
	if width <= 0 {
		return ""
	}
	over := Width(s) - width
	if over <= 0 {
		return s
	}
	var p pen
	for i := 0; i < len(s); {
		n, cells := step(s[i:])
		if over < 0 && cells > 0 {
			return p.open() + ellipsis + s[i:]
		}
		over -= cells
		p.see(s[i : i+n])
		i += n
	}
	return ellipsis
}

// Pad is s on one line of exactly width cells: cut, or filled with spaces.
func Pad(s string, width int) string {
	s, w := cut(s, width)
	if w < width {
		return s + Spaces(width-w)
	}
	return s
}

// Fit is lines made exactly height lines of exactly width cells. What is below
// is left out, what is missing is blank.
func Fit(lines []string, width, height int) []string {
	out := make([]string, 0, max(height, 0))
	for i := range height {
		if i < len(lines) {
			out = append(out, Pad(lines[i], width))
		} else {
			out = append(out, Spaces(width))
		}
	}
	return out
}

// oneLine is s with tabs and line breaks made spaces.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') >= 0 {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	return Expand(s)
}

// Expand is s with every tab made spaces, up to the next column that four
// divides. Lines stay lines.
func Expand(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, col := 0, 0; i < len(s); {
		switch s[i] {
		case '\t':
			n := tabWidth - col%tabWidth
			b.WriteString(Spaces(n))
			i, col = i+1, col+n
			continue
		case '\n':
			b.WriteByte('\n')
			i, col = i+1, 0
			continue
		}
		n, cells := step(s[i:])
		b.WriteString(s[i : i+n])
		i, col = i+n, col+cells
	}
	return b.String()
}
