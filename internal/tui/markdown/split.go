package markdown

import "strings"

const (
	maxChunk = 128 << 10 // a longer chunk is shown as it is written
	maxRefs  = 16 << 10  // bytes of link definitions
	maxNest  = 24        // markers of quotes and lists one line may begin with
	maxCells = 20_000    // of a table
	maxMarks = 3000      // of emphasis and links outside code
)

// A splitter finds chunks: parts of the source that mean the same alone. One
// ends at a blank line before a line that begins a new block for certain, so a
// chunk that is done stays as it is, whatever follows.
type splitter struct {
	done  []string
	open  strings.Builder // the lines since
	refs  []byte          // definitions of links anywhere
	blank bool            // the last line was blank
	fence string          // what the code block we are in began with
}

// add takes whole lines.
func (s *splitter) add(lines string) {
	for line := range strings.Lines(lines) {
		s.line(line)
	}
}

func (s *splitter) line(line string) {
	body := strings.TrimRight(line, " \t\n")
	switch {
	case s.fence != "":
		if closes(body, s.fence) {
			s.fence = ""
		}
	case s.blank && starts(body):
		s.done = append(s.done, s.open.String())
		s.open = strings.Builder{}
		fallthrough
	default:
		s.fence = opens(body)
		if defines(body) && len(s.refs)+len(line) < maxRefs {
			s.refs = append(s.refs, body...)
			s.refs = append(s.refs, "\n\n"...)
		}
	}
	s.blank = body == "" && s.fence == ""
	s.open.WriteString(line)
}

// starts reports whether a line after a blank one belongs to nothing before it:
// it is not indented and no item of a list.
func starts(line string) bool {
	if line == "" || line[0] == ' ' || line[0] == '\t' {
		return false
	}
	return marker(line) == 0 || line[0] == '>'
}

// marker is the length of the marker of a quote or a list item a line begins
// with.
func marker(line string) int {
	digits := 0
	for digits < len(line) && digits < 10 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	switch {
	case line == "":
		return 0
	case line[0] == '>':
		return 1
	case digits > 0 && digits < 10 && digits < len(line) && (line[digits] == '.' || line[digits] == ')'):
		digits++
	case line[0] == '-' || line[0] == '+' || line[0] == '*':
		digits = 1
	default:
		return 0
	}
	if digits == len(line) || line[digits] == ' ' || line[digits] == '\t' {
		return digits
	}
	return 0
}

// opens is the fence of the code block a line begins, if it does.
func opens(line string) string {
	indent := strings.TrimLeft(line, " ")
	if len(line)-len(indent) > 3 || len(indent) < 3 {
		return ""
	}
	c := indent[:1]
	if c != "`" && c != "~" {
		return ""
	}
	rest := strings.TrimLeft(indent, c)
	n := len(indent) - len(rest)
	if n < 3 || c == "`" && strings.Contains(rest, "`") {
		return ""
	}
	return indent[:n]
}

// closes reports whether a line ends the code block that began with a fence.
func closes(line, fence string) bool {
	indent := strings.TrimLeft(line, " ")
	return len(line)-len(indent) <= 3 && strings.HasPrefix(indent, fence) && strings.Trim(indent, fence[:1]) == ""
}

// defines reports whether a line defines what a link in brackets leads to.
func defines(line string) bool {
	line = strings.TrimLeft(line, " ")
	return len(line) > 4 && line[0] == '[' && strings.Contains(line, "]:")
}

// costly reports whether a chunk would take far longer to render than its length
// tells: tables that are padded to a huge size, nesting without end, marks each
// of which is held against all others.
func costly(src string) bool {
	columns, rows, marks, fence := 0, 0, 0, ""
	for line := range strings.Lines(src) {
		rows++
		switch body := strings.TrimRight(line, " \t\n"); {
		case fence == "":
			// Only a fence that is not indented is one for certain.
			if body != "" && body[0] != ' ' {
				fence = opens(body)
			}
			marks += strings.Count(line, "*") + strings.Count(line, "_") + strings.Count(line, "~") + strings.Count(line, "[")
		case closes(body, fence):
			fence = ""
		}
		if strings.Trim(line, " \t\n|:->") == "" {
			columns = max(columns, strings.Count(line, "|")+1)
		}
		if nested(line) > maxNest {
			return true
		}
	}
	return columns > 2 && columns*rows > maxCells || marks > maxMarks
}

// prose reports whether a chunk is one line without any markup.
func prose(src string) bool {
	src = strings.TrimRight(src, "\n")
	return src != "" && letter(src[0]) && !strings.ContainsAny(src, "\n\\`*_~[<&|")
}

// nested counts the markers a line begins with.
func nested(line string) int {
	for n := 0; ; n++ {
		line = strings.TrimLeft(line, " \t")
		m := marker(line)
		if m == 0 || n > maxNest {
			return n
		}
		line = line[m:]
	}
}
