package flowtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
)

// Words splits a line at spaces; a word in double quotes may hold some. Such a word
// keeps the quote it begins with.
func Words(line string) ([]string, error) {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		i := strings.IndexAny(line, ` "`)
		if i >= 0 && line[i] == '"' {
			rest, tail, ok := strings.Cut(line[i+1:], `"`)
			if !ok {
				return nil, fmt.Errorf("no closing quote")
			}
			out, line = append(out, line[:i]+`"`+rest), tail
			continue
		}
		word, tail, _ := strings.Cut(line, " ")
		out, line = append(out, word), tail
	}
	return out, nil
}

// Args are the words of a line: bare ones, texts in quotes, and settings. A bare word
// is a setting too, which is on.
type Args struct {
	Bare  []string
	Texts []string
	Set   map[string]string
	Order []string // of the settings with a value, as often as they stand there
	Each  []string // their values
}

// Parse sorts words.
func Parse(w []string) Args {
	a := Args{Set: map[string]string{}}
	for _, x := range w {
		k, v, ok := strings.Cut(x, "=")
		switch {
		case strings.HasPrefix(x, `"`):
			a.Texts = append(a.Texts, x[1:])
		case ok:
			v = strings.TrimPrefix(v, `"`)
			a.Set[k] = v
			a.Order, a.Each = append(a.Order, k), append(a.Each, v)
		default:
			a.Bare = append(a.Bare, x)
			a.Set[x] = "on"
		}
	}
	return a
}

// On reports whether a bare word stands there.
func (a Args) On(k string) bool { return a.Set[k] == "on" }

// Text is the first text.
func (a Args) Text() string { return a.TextOr("") }

// TextOr is the first text, or another if there is none.
func (a Args) TextOr(or string) string {
	if len(a.Texts) == 0 {
		return or
	}
	return a.Texts[0]
}

// Word is one of the bare words.
func (a Args) Word(i int) string {
	if i >= len(a.Bare) {
		return ""
	}
	return a.Bare[i]
}

// Or is a setting, or what holds without it.
func (a Args) Or(k, or string) string {
	if v, ok := a.Set[k]; ok {
		return v
	}
	return or
}

// Num is a setting that is a number.
func (a Args) Num(k string, or int) int {
	if n, err := strconv.Atoi(a.Set[k]); err == nil {
		return n
	}
	return or
}

// Time is a setting that is a time.
func (a Args) Time(k string) event.Duration {
	d, _ := time.ParseDuration(a.Set[k])
	return event.Duration(d)
}

// Tokens is a setting that is a budget; without it, or with none, there is no limit.
func (a Args) Tokens(k string) event.Budget {
	n := int64(a.Num(k, 0))
	if n == 0 {
		return event.Budget{}
	}
	return event.Budget{Tokens: &n}
}

// List is what stands between commas.
func List(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

// Agents are names with commas between them.
func Agents(s string) []event.AgentID {
	var out []event.AgentID
	for _, x := range List(s) {
		out = append(out, event.AgentID(x))
	}
	return out
}
