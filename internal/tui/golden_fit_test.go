package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

var styles = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// misfit is what is wrong with a frame: it must be exactly so many lines of
// exactly so many cells, and have nothing in it that a terminal acts upon, but
// for styles.
func misfit(frame string, w, h int) string {
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		return fmt.Sprintf("it has %d lines", len(lines))
	}
	for i, l := range lines {
		bare := styles.ReplaceAllString(l, "")
		for _, r := range bare {
			if unicode.IsControl(r) || r == 0xfffe || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 {
				return fmt.Sprintf("line %d has %q: %q", i+1, r, bare)
			}
		}
		if n := ansi.StringWidthWc(bare); n != w { // as most terminals count
			return fmt.Sprintf("line %d is %d cells wide: %q", i+1, n, bare)
		}
	}
	return ""
}

// What is to be found is found.
func TestMisfit(t *testing.T) {
	for frame, wrong := range map[string]bool{
		"ab\ncd": false, "\x1b[1;38;2;1;2;3mab\x1b[m\n日": false,
		"ab": true, "abc\nde": true, "a\ncd": true, "ab\n\x1b[2Jcd": true, "a\tb\ncd": true, "ab\x1b]8;;x\x07\ncd": true, "ab\n\u202ecd": true, "a\u009bb\ncd": true,
	} {
		if got := misfit(frame, 2, 2); (got != "") != wrong {
			t.Errorf("%q: %q", frame, got)
		}
	}
}
