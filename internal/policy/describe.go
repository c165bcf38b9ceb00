package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/event"
)

// Hash names an action: two that differ in anything have different hashes.
func (a Action) Hash() event.Hash {
	var b strings.Builder
	b.WriteString("action 1\n")
	// Lengths keep fields apart whatever is in them.
	for _, f := range []string{a.Tool, string(a.Kind), a.Target, a.Dir, strconv.FormatBool(a.Boxed), a.By, a.Input} {
		fmt.Fprintf(&b, "%d:%s\n", len(f), f)
	}
	for _, more := range a.Also {
		fmt.Fprintf(&b, "also %s\n", more.Hash())
	}
	return event.HashOf([]byte(b.String()))
}

// deeds say what an action of a kind does.
var deeds = map[Kind]string{
	Command: "run a command",
	Read:    "read a file",
	Write:   "write a file",
	Delete:  "delete a file",
	URL:     "read from the web",
	MCP:     "call a tool of an MCP server",
	Other:   "use a tool",
}

// Describe is the action for a person who decides on it. Nothing is left out,
// and whatever a terminal would not show as it is stands there by its number.
// What the model wrote is indented: it cannot look like a line of ours.
func (a Action) Describe() string {
	var b strings.Builder
	what := deeds[a.Kind]
	if what == "" {
		what = visible(string(a.Kind))
	}
	box := ""
	if a.Kind == Command {
		box = ", outside any sandbox"
		if a.Boxed {
			box = ", inside the sandbox"
		}
	}
	fmt.Fprintf(&b, "%s: %s%s\n", visible(a.Tool), what, box)
	block(&b, a.Target)
	for _, more := range a.Also {
		fmt.Fprintf(&b, "and %s", strings.TrimPrefix(more.Describe(), ": "))
	}
	if a.By != "" {
		b.WriteString("by\n")
		block(&b, a.By)
	}
	if a.Dir != "" {
		b.WriteString("in the directory\n")
		block(&b, a.Dir)
	}
	if a.Input != "" && a.Input != a.Target {
		b.WriteString("with the input\n")
		block(&b, a.Input)
	}
	return b.String()
}

// block writes text line by line, indented.
func block(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("    " + visible(line) + "\n")
	}
}

// visible is text without anything that moves, hides or turns around text.
func visible(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case !unicode.IsPrint(r) || blank(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// blank reports whether a character that counts as printable shows nothing.
func blank(r rune) bool {
	const brailleBlank = 0x2800
	return r == brailleBlank || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}
