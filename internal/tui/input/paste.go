package input

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui/text"
)

// What is at least this long is shown as a chip when it is pasted.
const (
	manyLines = 10
	manyChars = 500
)

// maxDrop is how long a paste may be that is looked at as names of pictures.
const maxDrop = 4096

// paste puts in what the terminal says was pasted. Whatever it contains is text:
// a line break in it sends nothing.
func (m *Model) paste(s string) tea.Cmd {
	if m.find != nil {
		m.find.query.insert(oneLineTyped(cutBytes(text.Clean(s), manyChars)))
		m.find.filter()
		return nil
	}
	m.edited()
	if paths := m.pictures(s); len(paths) > 0 {
		for i, p := range paths {
			if i > 0 {
				m.buf.insert(" ")
			}
			m.buf.put([]atom{{chip: &chip{image: p}}})
		}
		return m.complete(true)
	}
	s = text.Clean(s)
	if s == "" {
		return nil
	}
	if lines(s) >= manyLines || utf8.RuneCountInString(s) >= manyChars {
		m.buf.put([]atom{m.collapse(s)})
	} else {
		m.buf.put(cut(s))
	}
	return m.complete(true)
}

// lines is how many lines a text has; a break at its end begins no other.
func lines(s string) int { return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 }

// cutBytes is the beginning of s, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// collapse makes a long text a numbered chip.
func (m *Model) collapse(s string) atom {
	n := 1
	for _, a := range m.buf.atoms {
		if a.chip != nil {
			n = max(n, a.chip.pasted+1)
		}
	}
	size := fmt.Sprintf("+%d lines", lines(s))
	if lines(s) == 1 {
		size = fmt.Sprintf("+%d characters", utf8.RuneCountInString(s))
	}
	return atom{chip: &chip{label: fmt.Sprintf("Pasted text #%d %s", n, size), text: s, pasted: n}}
}

// pictures are the paths in a paste that is nothing but paths of pictures: what
// terminals make of a file that is dropped on them.
func (m *Model) pictures(s string) []string {
	s = strings.TrimSpace(s)
	if m.opt.Image == nil || s == "" || len(s) > maxDrop || text.Clean(s) != s || m.shell() {
		return nil
	}
	if p := local(s); !strings.Contains(s, "\n") && m.opt.Image(p) {
		return []string{p}
	}
	var out []string
	for _, p := range words(s) {
		if p = local(p); p == "" || !m.opt.Image(p) {
			return nil
		}
		out = append(out, p)
	}
	return out
}

// local is the path of a file that may be named by its address.
func local(s string) string {
	if u, err := url.Parse(s); err == nil && u.Scheme == "file" && text.Clean(u.Path) == u.Path {
		return u.Path
	}
	return s
}

// words splits a text as a shell would that knows only quotes and backslashes.
func words(s string) []string {
	var out []string
	var b strings.Builder
	var quote rune
	in, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			in, quote = true, r
		case quote == 0 && (r == ' ' || r == '\n' || r == '\t'):
			if in {
				out = append(out, b.String())
			}
			b.Reset()
			in = false
		default:
			in = true
			b.WriteRune(r)
		}
	}
	if in {
		out = append(out, b.String())
	}
	return out
}
