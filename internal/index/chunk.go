package index

import (
	"crypto/sha256"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long passages and windows are. A passage is what is given back; a window is
// what one vector stands for: the meaning of more words would be blurred.
const (
	chunkWords  = 110
	enoughWords = 80 // from here on a blank line ends a passage
	chunkBytes  = 2400
	windowWords = 40
	pathBytes   = 160 // of headings
)

// A chunk is a passage.
type chunk struct {
	first, last int    // lines, from 1
	head        string // headings above the passage, not those in it
	text        string // its lines as they are
	windows     []string
}

// A hash names the content of a window.
func windowHash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

// kindOf is the kind of a document that does not say it.
func kindOf(d Doc) Kind {
	if d.Kind != "" {
		return d.Kind
	}
	switch strings.ToLower(path.Ext(d.Path)) {
	case ".md", ".markdown", ".mdx":
		return Markdown
	}
	return Text
}

// A unit is a line, or a part of one that is too long.
type unit struct {
	line    int
	text    string
	words   int
	level   int // of a heading, else 0
	joins   bool
	heading string
}

// split cuts a document. Every line is in a passage, in order; passages overlap
// in at most the one line that was cut. A text without a word has no passage.
func split(kind Kind, text string) []chunk {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var s splitter
	for _, u := range units(kind, text) {
		s.add(u)
	}
	s.close()
	return s.out
}

// units cuts text into lines and finds headings.
func units(kind Kind, text string) []unit {
	var out []unit
	fence := ""
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		level, heading := 0, ""
		if kind == Markdown {
			if fence = fenced(fence, line); fence == "" {
				level, heading = headingOf(line)
			}
		}
		for rest, first := line, true; first || rest != ""; first = false {
			n := cutAt(rest)
			out = append(out, unit{line: i + 1, text: rest[:n], words: len(strings.Fields(rest[:n])), level: level, heading: heading, joins: !first})
			rest, level, heading = rest[n:], 0, ""
		}
	}
	return out
}

// cutAt is where a line must be cut: behind as many words, or bytes, as a passage
// may have.
func cutAt(line string) int {
	words, in := 0, false
	for i, r := range line {
		space := unicode.IsSpace(r)
		if !space && !in {
			if words++; words > chunkWords {
				return i
			}
		}
		in = !space
		if i+utf8.RuneLen(max(r, 0)) > chunkBytes && i > 0 {
			return i
		}
	}
	return len(line)
}

// fenced is the fence of code that is open after a line.
func fenced(open, line string) string {
	t := strings.TrimLeft(line, " ")
	if len(line)-len(t) > 3 {
		return open
	}
	for _, f := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(t, f):
		case open == "":
			return f
		case open == f && strings.Trim(t, f[:1]+" \t") == "":
			return ""
		}
	}
	return open
}

// headingOf is the level and the text of a heading of Markdown: "## Risks".
func headingOf(line string) (int, string) {
	t := strings.TrimLeft(line, " ")
	level := len(t) - len(strings.TrimLeft(t, "#"))
	if len(line)-len(t) > 3 || level < 1 || level > 6 || len(t) > level && t[level] != ' ' && t[level] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(t[level:]), "#"))
}

// A splitter gathers units into passages.
type splitter struct {
	out   []chunk
	path  [6]string // headings above the current line
	above int       // how many of them are above the current passage, not in it
	units []unit
	words int // but for headings
	bytes int
	blank bool // the last line was
}

func (s *splitter) add(u unit) {
	blank := strings.TrimSpace(u.text) == ""
	if !blank && s.words > 0 && (u.level > 0 || s.words+u.words > chunkWords || s.bytes+len(u.text) > chunkBytes || s.blank && s.words >= enoughWords) {
		s.close()
	}
	if len(s.units) == 0 {
		s.above = len(s.path)
	}
	if u.level > 0 {
		s.above = min(s.above, u.level-1)
		s.path[u.level-1] = u.heading
		clear(s.path[u.level:])
	} else {
		s.words += u.words
	}
	s.units, s.bytes, s.blank = append(s.units, u), s.bytes+len(u.text), blank
}

// headings are the outermost n of those above the current line.
func (s *splitter) headings(n int) string {
	var parts []string
	for _, h := range s.path[:n] {
		if h != "" {
			parts = append(parts, h)
		}
	}
	return shorten(strings.Join(parts, " > "), pathBytes)
}

// close ends the passage.
func (s *splitter) close() {
	if len(s.units) == 0 {
		return
	}
	var text strings.Builder
	var words []string
	for i, u := range s.units {
		if i > 0 && !u.joins {
			text.WriteByte('\n')
		}
		text.WriteString(u.text)
		if u.level == 0 {
			words = append(words, strings.Fields(u.text)...)
		}
	}
	s.out = append(s.out, chunk{
		first: s.units[0].line, last: s.units[len(s.units)-1].line,
		head: s.headings(s.above), text: text.String(), windows: windows(s.headings(len(s.path)), words),
	})
	s.units, s.words, s.bytes, s.blank = nil, 0, 0, false
}

// windows are the words in stretches of about the same length, each with the
// headings before it.
func windows(head string, words []string) []string {
	n := max(1, (len(words)+windowWords-1)/windowWords)
	var out []string
	for i := range n {
		text := strings.Join(words[len(words)*i/n:len(words)*(i+1)/n], " ")
		if head != "" {
			text = strings.TrimSpace(head + "\n" + text)
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// shorten cuts text to n bytes between two characters.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
