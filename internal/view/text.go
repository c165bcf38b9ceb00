package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/event"
)

// Models and tools write what they like. Nothing of it may reach a terminal but
// printable text: an escape sequence can move the cursor over what was really
// said, retitle the window or fill the clipboard.

// Clean returns s with escape sequences, control characters and text direction
// overrides taken out. Line breaks and tabs stay.
func Clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	printable(s, func(r rune) bool {
		b.WriteRune(r)
		return true
	})
	return b.String()
}

// OneLine returns s cleaned and with every run of white space made one space.
func OneLine(s string) string { return oneLine(s, len(s)) }

// Shorten returns s on one line of at most width characters. A longer text is
// cut, between words where that keeps at least half of it, and ends in "…".
func Shorten(s string, width int) string {
	if width < 1 {
		return ""
	}
	line := []rune(oneLine(s, width+1))
	if len(line) <= width {
		return string(line)
	}
	cut := width - 1
	for i := cut; i > 0 && 2*i >= width; i-- {
		if line[i] == ' ' {
			cut = i
			break
		}
	}
	return strings.TrimRight(string(line[:cut]), " ") + "…"
}

// oneLine reads no more of s than it takes to give max characters.
func oneLine(s string, max int) string {
	var b strings.Builder
	n, space := 0, false
	printable(s, func(r rune) bool {
		if unicode.IsSpace(r) {
			space = n > 0
			return n < max
		}
		if space && n < max {
			b.WriteByte(' ')
			n++
		}
		space = false
		if n < max {
			b.WriteRune(r)
			n++
		}
		return n < max
	})
	return b.String()
}

// printable yields what of s may be shown, until yield says stop.
func printable(s string, yield func(rune) bool) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && strings.HasPrefix(s[i+size:], "\n"):
			r = 0
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			r = '\n'
		case r == '\x1b' || r >= 0x80 && r <= 0x9f:
			i += escape(s[i:])
			continue
		case r != '\n' && r != '\t' && hidden(r):
			r = 0
		}
		i += size
		if r != 0 && !yield(r) {
			return
		}
	}
}

// hidden reports whether r is a control character, or one of those that reorder
// or conceal the text around them.
func hidden(r rune) bool {
	switch {
	case unicode.IsControl(r),
		r == 0x061c, r == 0x200e, r == 0x200f, r == 0xfeff,
		r >= 0x202a && r <= 0x202e,
		r >= 0x2066 && r <= 0x2069,
		r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// escape is the length of the escape sequence s begins with. Of one that is not
// complete only the introducer counts, so that it cannot swallow what follows.
func escape(s string) int {
	intro, n := utf8.DecodeRuneInString(s)
	if intro == '\x1b' {
		if len(s) == 1 {
			return 1
		}
		if s[1] < 0x40 || s[1] > 0x5f {
			return escapeShort(s)
		}
		intro, n = rune(s[1])+0x40, 2 // ESC [ is 0x9b in one character
	}
	switch intro {
	case 0x9b: // control sequence: parameters, intermediates, one final
		for i := n; i < len(s) && s[i] >= 0x20 && s[i] < 0x7f; i++ {
			if s[i] >= 0x40 {
				return i + 1
			}
		}
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // strings, up to BEL or ST
		for i, r := range s[n:] {
			switch {
			case r == '\a':
				return n + i + 1
			case r == 0x9c:
				return n + i + 2
			case strings.HasPrefix(s[n+i:], "\x1b\\"):
				return n + i + 2
			case unicode.IsControl(r):
				return n
			}
		}
	}
	return n
}

// escapeShort measures ESC, intermediates, one final.
func escapeShort(s string) int {
	for i := 1; i < len(s) && s[i] >= 0x20 && s[i] < 0x7f; i++ {
		if s[i] >= 0x30 {
			return i + 1
		}
	}
	return 1
}

// preview is the beginning of a text on one line, or its size if the text is
// not at hand.
func preview(c event.Content, width int) string {
	if c.Text == "" && c.Blob != "" {
		return Shorten(fmt.Sprintf("(%s of text)", size(c.Size)), width)
	}
	return Shorten(c.Text, width)
}

func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
