package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// funcs are what templates can call besides the built-in ones.
var funcs = template.FuncMap{
	"words":    words,
	"sentence": sentence,
	"line":     line,
	"count":    func(s string) int { return len(strings.Fields(s)) },
	"lower":    strings.ToLower,
	"upper":    strings.ToUpper,
	"trim":     strings.TrimSpace,
	"quote":    quote,
	"repeat":   repeat,
	"labels":   labels,
	"first":    func(as []Answer) Answer { return at(as, 0) },
	"last":     func(as []Answer) Answer { return at(as, len(as)-1) },
	"find":     find,
	"field":    fieldOf,
	"match":    match,
	"longest":  func(as []Answer) Answer { return at(ordered(as, "longest"), 0) },
	"shortest": func(as []Answer) Answer { return at(ordered(as, "shortest"), 0) },
}

func funcNames() []string { return slices.Sorted(maps.Keys(funcs)) }

// words is the first n words of s, with an ellipsis if there are more.
func words(n int, s string) string {
	f := strings.Fields(s)
	if n < 0 || len(f) <= n {
		return strings.Join(f, " ")
	}
	return strings.Join(f[:n], " ") + " …"
}

// sentence is s up to the first full stop, question or exclamation mark.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	for i, c := range s {
		if strings.ContainsRune(".?!", c) && (i+1 == len(s) || strings.ContainsRune(" \n\t", rune(s[i+1]))) {
			return s[:i+1]
		}
	}
	return s
}

// line is the first line of s that is not blank.
func line(s string) string {
	l, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(l)
}

// quote sets s as a Markdown quotation.
func quote(s string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ")
}

// maxRepeat bounds what one repeat may make.
const maxRepeat = 16 << 20

func repeat(n int, s string) (string, error) {
	if n < 0 || n > 0 && len(s) > maxRepeat/n {
		return "", fmt.Errorf("repeat %d of %d bytes is not between nothing and %d bytes", n, len(s), maxRepeat)
	}
	return strings.Repeat(s, n), nil
}

// labels names the authors: "agent1, agent2 and agent4".
func labels(as []Answer) string {
	var out strings.Builder
	for i, a := range as {
		switch {
		case i == 0:
		case i == len(as)-1:
			out.WriteString(" and ")
		default:
			out.WriteString(", ")
		}
		out.WriteString(a.Label)
	}
	return out.String()
}

// at is the answer at i, an empty one if there is none.
func at(as []Answer, i int) Answer {
	if i < 0 || i >= len(as) {
		return Answer{}
	}
	return as[i]
}

// find is the first answer in which the expression matches, or nil, so that a
// template can say {{with find "heap" .Peers}}{{.Label}} is right{{end}}.
func find(expr string, as []Answer) (*Answer, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	for i := range as {
		if re.MatchString(as[i].Text) {
			return &as[i], nil
		}
	}
	return nil, nil
}

// match is what the first group of an expression matches in a text, or all of it
// if there is none; nothing if it does not.
func match(expr, text string) (string, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", err
	}
	m := re.FindStringSubmatch(text)
	switch len(m) {
	case 0:
		return "", nil
	case 1:
		return m[0], nil
	}
	return m[1], nil
}

// fieldOf is what a JSON text holds under a path such as
// coordination_summary.winner: a text as it is, anything else as JSON, and nothing
// at all if it is not there. What follows the JSON does not matter.
func fieldOf(path, text string) string {
	var v any
	if json.NewDecoder(strings.NewReader(text)).Decode(&v) != nil {
		return ""
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		if v = object[name]; v == nil {
			return ""
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	return string(encode(v))
}
