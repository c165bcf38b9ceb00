package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/tui/text"
)

// maxArguments is how much of the arguments of a call is looked at to draw it in
// the timeline; the reader shows all.
const maxArguments = 64 << 10

// An argument is one of a call, in the order in which they were written.
type argument struct{ name, value string }

// arguments are those of a call, as far as they can be read, until enough says
// so. What is no JSON object gives none.
func arguments(input string, enough func(argument) bool) []argument {
	dec := json.NewDecoder(strings.NewReader(input))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var out []argument
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		key, ok := name.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil || !ok {
			break
		}
		a := argument{key, plainValue(raw)}
		out = append(out, a)
		if enough != nil && enough(a) {
			break
		}
	}
	return out
}

// plainValue is a value of JSON as people write it.
func plainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var buf bytes.Buffer
	if raw[0] == '{' || raw[0] == '[' {
		if json.Indent(&buf, raw, "", "  ") == nil && buf.Len() > 60 {
			return buf.String()
		}
		buf.Reset()
	}
	if json.Compact(&buf, raw) != nil {
		return string(raw)
	}
	return buf.String()
}

// preview is the argument that tells most: the first of the keys there is, or
// without any of them all there are.
func preview(input string, keys []string) string {
	input = input[:min(len(input), maxArguments)]
	all := arguments(input, func(a argument) bool { return len(keys) > 0 && a.name == keys[0] })
	for _, k := range keys {
		if i := slices.IndexFunc(all, func(a argument) bool { return a.name == k }); i >= 0 {
			return all[i].value
		}
	}
	if all == nil {
		if s := strings.TrimSpace(input); s != "{}" && s != "null" {
			return s
		}
		return ""
	}
	var parts []string
	for _, a := range all {
		parts = append(parts, a.name+": "+a.value[:min(len(a.value), 200)])
	}
	return strings.Join(parts, ", ")
}

// arguments draws the arguments of a call, short ones in a line of their own and
// long ones below their name.
func (b brush) arguments(input string, n int) []string {
	all := arguments(input[:min(len(input), maxArguments)], nil)
	if all == nil {
		if strings.TrimSpace(input) == "" {
			return nil
		}
		all = []argument{{"arguments", input}}
	}
	t := &b.m.theme
	var out []string
	for _, a := range all {
		name := t.Faint.Render(text.Cut(text.Clean(a.name), max(b.inner()-2, 1)))
		value := text.Clean(a.value)
		if !strings.Contains(value, "\n") && text.Width(name)+2+text.Width(value) <= b.inner() {
			out = append(out, name+"  "+t.Text.Render(value))
			continue
		}
		out = append(append(out, name), indent(b.wrapped(value, t.Text, max(b.inner()-2, 1)))...)
	}
	return b.limited(out, n)
}

// countWord is "one failed", "3 failed".
func countWord(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return strconv.Itoa(n) + " " + what
}

// prettyArguments is all arguments of a call as plain text.
func prettyArguments(input string) string {
	all := arguments(input, nil)
	if all == nil {
		return input
	}
	var s strings.Builder
	for _, a := range all {
		if strings.Contains(a.value, "\n") {
			fmt.Fprintf(&s, "%s:\n%s\n", a.name, a.value)
		} else {
			fmt.Fprintf(&s, "%s: %s\n", a.name, a.value)
		}
	}
	return s.String()
}
