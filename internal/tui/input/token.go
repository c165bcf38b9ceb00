package input

import "strings"

// A kind is what is being completed.
type kind int

const (
	nothing kind = iota
	commands
	mentions
)

// A token is the part of a text that a menu completes.
type token struct {
	kind     kind
	from, to int    // its atoms, the / or @ among them
	query    string // what of it stands between the mark and the cursor
	write    bool   // a mention that ends in :w
}

// Characters a mention may follow, besides the beginning of a line, and
// characters that end one that is not in quotes.
const (
	mentionAfter = " \t\n\"'`([{<"
	mentionEnds  = " \t\n\"'`()[]{}<>,;"
)

// mentioning reports whether anything can be named with an @.
func (m *Model) mentioning() bool { return m.opt.Paths != nil || m.opt.Agents != nil }

// token is what stands at the cursor.
func (m *Model) token() token {
	b := &m.buf
	if m.opt.Commands != nil && begins(b.atoms, "/") {
		if end := wordEnd(b.atoms); b.at >= 1 && b.at <= end {
			return token{kind: commands, to: end, query: plain(b.atoms[1:b.at])}
		}
	}
	if m.shell() || !m.mentioning() {
		return token{}
	}
	for _, t := range b.mentions(b.lineStart(), b.lineEnd()) {
		if b.at > t.from && b.at <= t.to {
			return b.typed(t)
		}
	}
	return token{}
}

// typed is a mention with what of it was typed so far. At the end of one that is
// complete nothing is asked for any more.
func (b *buffer) typed(t token) token {
	from := t.from + 1
	q := plain(b.atoms[from:b.at])
	if quoted, ok := strings.CutPrefix(q, `"`); ok {
		if path, ends := unquote(quoted); ends {
			return token{}
		} else {
			q = path
		}
	} else if t.write && b.at > t.to-len(":w") {
		return token{}
	}
	t.query = q
	return t
}

// mentions are the @paths among atoms of one line, whether they are complete or
// not. An address of mail and \@ are none.
func (b *buffer) mentions(from, to int) []token {
	var out []token
	for i := from; i < to; i++ {
		if b.atoms[i].s != "@" || i > from && !strings.Contains(mentionAfter, b.atoms[i-1].s) {
			continue
		}
		end := b.mentionEnd(i+1, to)
		t := token{kind: mentions, from: i, to: end}
		t.write = end-i > len("@:w") && plain(b.atoms[end-2:end]) == ":w"
		out = append(out, t)
		i = max(i, end-1)
	}
	return out
}

// mentionEnd is where a mention ends that begins before i.
func (b *buffer) mentionEnd(i, to int) int {
	if i == to || b.atoms[i].s != `"` {
		for i < to && b.atoms[i].chip == nil && !strings.Contains(mentionEnds, b.atoms[i].s) {
			i++
		}
		return i
	}
	for i++; i < to && b.atoms[i].chip == nil; i++ {
		switch b.atoms[i].s {
		case `\`:
			if i+1 < to && b.atoms[i+1].chip == nil {
				i++
			}
		case `"`:
			i++
			if i+2 <= to && plain(b.atoms[i:i+2]) == ":w" {
				i += 2
			}
			return i
		}
	}
	return i
}

// unquote is a path up to its closing quote, and whether there is one.
func unquote(s string) (path string, ends bool) {
	var out strings.Builder
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			out.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			return out.String(), true
		default:
			out.WriteRune(r)
		}
	}
	return out.String(), false
}

// mention is how a path stands in a text. One that goes on, because it is a
// folder, leaves its quotes open.
func mention(path string, write, goesOn bool) string {
	if strings.ContainsAny(path, mentionEnds) {
		path = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path)
		if !goesOn {
			path += `"`
		}
	}
	if write && !goesOn {
		path += ":w"
	}
	return "@" + path
}
