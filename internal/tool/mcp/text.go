package mcp

import (
	"strings"
	"unicode"

	"conclave/internal/tool/typed"
)

// clean is a text of a server's as data: without characters that nobody sees,
// and not longer than most.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unseen(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "?"))
	return typed.Cut(strings.TrimSpace(s), most)
}

// unseen are control characters, marks that turn or hide text, and characters
// that have no meaning of their own.
func unseen(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) }

// fits reports whether a name is among patterns, in which * stands for anything.
func fits(name string, patterns []string) bool {
	for _, p := range patterns {
		if wild(p, name) {
			return true
		}
	}
	return false
}

func wild(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	for _, p := range parts[1 : len(parts)-1] {
		if !ok {
			break
		}
		_, s, ok = strings.Cut(s, p)
	}
	return ok && strings.HasSuffix(s, parts[len(parts)-1])
}
