package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// expand replaces ${VAR} by the environment's value; $${ is a literal ${. What
// the environment holds may be a secret and appears in no message. Values are
// written to the log, so a variable whose name says that it is a secret is
// refused unless the value is only referred to.
func (r *reader) expand(e entry, s string, refer bool) (string, bool) {
	var out strings.Builder
	ok := true
	for {
		before, rest, found := strings.Cut(s, "${")
		if !found {
			out.WriteString(s)
			return out.String(), ok
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString(strings.TrimSuffix(before, "$") + "${")
			s = rest
			continue
		}
		out.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !variable(name) {
			r.fault(e, r.locate(e, "${"+clipName(name)), "this is not a variable such as ${HOME}", "write $${ for a literal ${")
			return "", false
		}
		value, set := r.lookup(name)
		if !set {
			r.fault(e, r.locate(e, "${"+name+"}"), fmt.Sprintf("the environment variable %s is not set", name), fmt.Sprintf("set it where you start the program (export %s=…), or take the reference out", name))
			ok = false
		} else if !refer && secretVariable(name) {
			r.fault(e, r.locate(e, "${"+name+"}"), fmt.Sprintf("%s looks like a secret, and %s is written to the log", name, e.key),
				"only api_key and the env, headers, args and url of MCP servers may refer to it")
			ok = false
		}
		out.WriteString(value)
		s = after
	}
}

// clipName is the part of a broken reference that is on its first line.
func clipName(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// secretVariable reports whether a variable's name says that it is a secret.
func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	return secret(name) || name == "KEY" || strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_PAT")
}

func variable(s string) bool {
	for i, c := range s {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// locate finds a piece of a value in the file: the first occurrence from the
// value's beginning on. Text that is written otherwise, with escapes or folded,
// may hide it; then the value's beginning has to do.
func (r *reader) locate(e entry, piece string) position {
	at := e.valueAt()
	for i := at.line - 1; i < len(r.lines); i++ {
		line, from := []rune(r.lines[i]), 0
		if i == at.line-1 {
			from = min(at.column-1, len(line))
		}
		if before, _, found := strings.Cut(string(line[from:]), piece); found {
			return position{i + 1, from + utf8.RuneCountInString(before) + 1}
		}
	}
	return at
}
