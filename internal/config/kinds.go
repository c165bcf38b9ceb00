package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"conclave/internal/policy"
)

// address is where something is on the web.
func address() value[string] {
	v := name()
	v.what = "an address such as https://api.example.com/v1"
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := parse(s)
		u, err := url.Parse(t)
		switch {
		case !ok || err != nil:
			return "", hint, false
		case u.User != nil:
			return "", "a name and a password do not belong into an address: it is written to the log", false
		case u.Scheme == "" || u.Host == "" && !strings.Contains(t, "//"):
			return "", "did you mean \"https://" + t + "\"?", false
		}
		return t, "", (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	}
	return v
}

// reference is text whose variables are looked up when it is used.
func reference() value[string] {
	v := text()
	v.refer, v.also = true, []Kind{Number, Bool}
	v.what = "text, in which ${NAME} is a variable"
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		if s.typed { // a port, a flag: the environment has nothing but text
			return s.text, "", true
		}
		return parse(s)
	}
	return v
}

// variableName is the name of a variable of the environment.
func variableName() value[string] {
	v := name()
	v.what = "the name of a variable such as GITHUB_TOKEN"
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := parse(s)
		return t, hint, ok && variable(t)
	}
	return v
}

// path is a file or folder; whoever reads it makes it absolute.
func path() value[string] {
	v := name()
	v.what = "the path of a file or folder"
	return v
}

// not is the opposite of a truth value.
func not(v value[bool]) value[bool] {
	parse := v.parse
	v.parse = func(s scalar) (bool, string, bool) {
		b, hint, ok := parse(s)
		return !b, hint, ok
	}
	return v
}

var sized = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,9})([bkmgt]?)b?$`) })

// size is an amount of memory.
func size() value[int64] {
	return value[int64]{
		kind: Text, what: "an amount of memory such as 512m or 4g", also: []Kind{Whole},
		parse: func(s scalar) (int64, string, bool) {
			m := sized().FindStringSubmatch(strings.ToLower(s.text))
			if m == nil {
				return 0, "", false
			}
			n, _ := strconv.ParseInt(m[1], 10, 64)
			for range strings.Index("bkmgt", m[2]) {
				n <<= 10
			}
			return n, "", n >= 4<<20 // a command needs that much to begin with
		},
	}
}

// kinds of actions that rules are about.
var kinds = []string{
	string(policy.Command), string(policy.Read), string(policy.Write), string(policy.Delete),
	string(policy.URL), string(policy.MCP), string(policy.Other), "*",
}

// rule is an action with a pattern.
func rule() value[string] {
	v := name()
	v.what = "an action such as command(git push *), of " + oneOf(kinds)
	parse := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := parse(s)
		if !ok {
			return "", hint, false
		}
		if err := (policy.Permissions{Allow: []string{t}}).Check(); err != nil {
			kind, _, _ := strings.Cut(strings.TrimSpace(t), "(")
			if slices.Contains(kinds, kind) {
				return "", "of commands write the first words, as in command(git push *)", false
			}
			return "", didYouMean(kind, kinds), false
		}
		return strings.TrimSpace(t), "", true
	}
	return v
}

// regex is a regular expression that begins a command.
func regex() value[string] {
	v := name()
	v.what = "a regular expression"
	return v
}

// begins are the patterns of rules that a regular expression at the beginning of
// a command comes to. What a pattern cannot say is not ok: rules look at the
// parsed command, so that quotation marks and semicolons do not fool them.
func begins(expr string) ([]string, bool) {
	expr = strings.TrimPrefix(expr, "^")
	exact := strings.HasSuffix(expr, "$")
	expr = strings.TrimSuffix(expr, "$")
	var out []string
	for _, one := range alternatives(expr) {
		open := strings.HasSuffix(one, ".*") || !exact
		one = strings.TrimSuffix(one, ".*")
		one = strings.ReplaceAll(strings.ReplaceAll(one, `\s+`, " "), `\s`, " ")
		plain, ok := unescaped(strings.TrimSuffix(one, `\b`))
		if !ok || strings.TrimSpace(plain) == "" {
			return nil, false
		}
		switch whole := strings.HasSuffix(one, `\b`) || strings.HasSuffix(plain, " "); {
		case open && whole: // the word as it is, and any after it
			plain = strings.TrimSpace(plain) + " *"
		case open:
			plain += "* *"
		}
		out = append(out, plain)
	}
	return out, len(out) > 0
}

// alternatives splits a|b and (a|b)rest.
func alternatives(expr string) []string {
	if inside, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(expr, "("), "?:"), ")"); ok && strings.HasPrefix(expr, "(") {
		var out []string
		for one := range strings.SplitSeq(inside, "|") {
			out = append(out, one+rest)
		}
		return out
	}
	return strings.Split(expr, "|")
}

// unescaped is the text that an expression without operators stands for.
func unescaped(expr string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\' && i+1 < len(expr) && strings.ContainsRune(`.-/_+\`, rune(expr[i+1])):
			i++
			out.WriteByte(expr[i])
		case strings.ContainsRune(`\.+*?()[]{}|^$`, rune(c)):
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), true
}

// commandRules are the rules for commands that begin with one of the expressions.
func commandRules(r *reader, e entry, exprs []string) []string {
	var out []string
	for _, x := range exprs {
		patterns, ok := begins(x)
		if !ok {
			r.fault(e, e.valueAt(), fmt.Sprintf("%s cannot be kept to: %s", e.key, quoted(clip(masked(x)))),
				"only how a command begins can be said, such as pip.* or (npm|yarn) install; or write rules such as command(pip *) under permissions")
			continue
		}
		for _, p := range patterns {
			out = append(out, fmt.Sprintf("%s(%s)", policy.Command, p))
		}
	}
	return out
}
