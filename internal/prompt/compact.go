package prompt

import "strings"

// CompactSystem is what a model is told that puts its own conversation into
// fewer words.
func CompactSystem() string {
	text, err := files.ReadFile("compact.md")
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.TrimSpace(string(text)) + "\n"
}

// CompactUser is the conversation it is given.
func CompactUser(fence, first, transcript string) string {
	var b strings.Builder
	fenced(&b, "begun_with", fence, first)
	b.WriteString("\n")
	fenced(&b, "since_then", fence, transcript)
	return b.String()
}

// Compacted is how the agent is told what became of its conversation.
func Compacted(fence, summary string) string {
	var b strings.Builder
	b.WriteString("Your conversation grew too long and its older part was put into fewer words. What you did and found until then:\n")
	fenced(&b, "summary", fence, summary)
	return b.String()
}
