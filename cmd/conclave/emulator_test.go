package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// An emulator is as much of a terminal as the live display may rely on. It knows
// the escape sequences that the program is expected to use and no other.
type emulator struct {
	width, height int
	lines         []string // everything that was ever shown, also what has scrolled off
	row           int      // of the cursor
	column        int
	frames        []string // the screen at the end of each frame
	wrong         []string // what should not have come
}

func newEmulator(width, height int) *emulator {
	return &emulator{width: width, height: height, lines: []string{""}}
}

var sequence = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

// play shows what a program has printed.
func (m *emulator) play(s string) {
	for len(s) > 0 {
		if s[0] == '\x1b' {
			seq := sequence.FindStringSubmatch(s)
			if seq == nil {
				m.complain("escape %.20q", s)
				s = s[1:]
				continue
			}
			m.control(seq[1], seq[2])
			s = s[len(seq[0]):]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		m.char(r)
		s = s[n:]
	}
}

func (m *emulator) complain(format string, args ...any) {
	if len(m.wrong) < 5 {
		m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
	}
}

func (m *emulator) control(params, final string) {
	switch params + final {
	case "?2026h", "K", "0m", "1m", "2m", "31m", "32m", "33m":
	case "?2026l":
		m.frames = append(m.frames, m.screen())
	case "J":
		m.lines = m.lines[:m.row+1]
		m.lines[m.row] = left(m.lines[m.row], m.column)
	default:
		n, err := strconv.Atoi(params)
		if final != "A" || err != nil {
			m.complain("sequence %q", params+final)
			return
		}
		if m.row-n < m.top() {
			m.complain("up %d lines from line %d of the screen", n, m.row-m.top())
		}
		m.row = max(m.row-n, m.top())
	}
}

func (m *emulator) char(r rune) {
	switch {
	case r == '\n':
		m.row++
		if m.row == len(m.lines) {
			m.lines = append(m.lines, "")
		}
	case r == '\r':
		m.column = 0
	case r < 0x20 || r == 0x7f:
		m.complain("control character %q", r)
	default:
		w := runewidth.RuneWidth(r)
		if m.column+w > m.width {
			m.complain("line %q is wider than %d", m.lines[m.row], m.width)
		}
		m.lines[m.row] = left(m.lines[m.row], m.column) + string(r)
		m.column += w
	}
}

// top is the first line that is on the screen.
func (m *emulator) top() int { return max(0, len(m.lines)-m.height) }

// screen is what can be seen.
func (m *emulator) screen() string { return strings.Join(m.lines[m.top():], "\n") }

// all is what can be seen or scrolled back to.
func (m *emulator) all() string { return strings.Join(m.lines, "\n") }

// shows reports whether there was a frame in which every expression matched.
func (m *emulator) shows(exprs ...string) bool {
	return slices.ContainsFunc(m.frames, func(f string) bool {
		for _, e := range exprs {
			if !regexp.MustCompile("(?m)" + e).MatchString(f) {
				return false
			}
		}
		return true
	})
}

// left is the first columns of a line.
func left(s string, columns int) string {
	s = runewidth.Truncate(s, columns, "")
	return s + strings.Repeat(" ", columns-runewidth.StringWidth(s))
}
