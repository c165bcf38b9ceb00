package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A CommandFilter holds regular expressions about single commands, for users who
// bring them along. Each is held against the beginning of the words of a simple
// command, put together with single spaces: never against the text of a line.
// A filter narrows what runs. It confines nothing: that is what sandboxes do.
type CommandFilter struct {
	Allowed []string `json:"allowed,omitempty"` // all when empty
	Blocked []string `json:"blocked,omitempty"`
}

// Check says which expressions cannot be used.
func (f CommandFilter) Check() error {
	_, err1 := compiled(f.Allowed)
	_, err2 := compiled(f.Blocked)
	return errors.Join(err1, err2)
}

// Judge allows a command line if none of its commands is blocked and each is
// allowed. With expressions to obey it denies what cannot be read for sure.
func (f CommandFilter) Judge(line string) Verdict {
	if len(f.Allowed)+len(f.Blocked) == 0 {
		return Verdict{Decision: Allow}
	}
	allowed, err1 := compiled(f.Allowed)
	blocked, err2 := compiled(f.Blocked)
	if err := errors.Join(err1, err2); err != nil {
		return denied("The list of commands cannot be used: %v.", err)
	}
	s := parseScript(line)
	if s.opaque || !s.plain && len(allowed) > 0 {
		return denied("Which commands this line runs cannot be told for sure, and only listed ones may run. Write plain commands, without variables, substitutions and redirections to files.")
	}
	for _, c := range s.commands {
		text := c.text()
		if e := matching(blocked, text); e != "" {
			return Verdict{Decision: Deny, Rule: e, Reason: fmt.Sprintf("The command %q is blocked by %q.", text, e)}
		}
		if len(allowed) > 0 && matching(allowed, text) == "" {
			return denied("The command %q is not among the allowed ones: %s.", text, strings.Join(f.Allowed, ", "))
		}
	}
	return Verdict{Decision: Allow}
}

// text is the command with single spaces between its words.
func (c simple) text() string {
	var words []string
	for _, w := range c.words {
		words = append(words, w.text)
	}
	return strings.Join(words, " ")
}

// A listed expression, and how it was written.
type listedExpr struct {
	re   *regexp.Regexp
	text string
}

func compiled(list []string) ([]listedExpr, error) {
	var out []listedExpr
	var all []error
	for _, text := range list {
		re, err := regexp.Compile(`\A(?:` + text + `)`)
		if err != nil {
			all = append(all, fmt.Errorf("%q is no regular expression: %w", text, err))
			continue
		}
		out = append(out, listedExpr{re, text})
	}
	return out, errors.Join(all...)
}

func matching(list []listedExpr, text string) string {
	for _, e := range list {
		if e.re.MatchString(text) {
			return e.text
		}
	}
	return ""
}
