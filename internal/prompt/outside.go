package prompt

import (
	"embed"
	"strings"
)

//go:embed outside/*.md
var outsideFiles embed.FS

// Outside is what a program that launches runs over MCP has to know of them. It
// has a conversation and tools of its own, so it is told nothing of ours, and in
// few words: there are clients that cut off what is longer than 2 KiB. Who there is
// comes last, since the schema of the tool names them too.
func Outside(team []Teammate, approve bool) string {
	asked := "freely.md"
	if approve {
		asked = "approve.md"
	}
	var parts []string
	for _, name := range []string{"runs.md", asked, "which.md"} {
		text, err := outsideFiles.ReadFile("outside/" + name)
		if err != nil {
			panic(err) // a file that is not embedded
		}
		parts = append(parts, strings.TrimSpace(string(text)))
	}
	if len(team) > 0 {
		parts = append(parts, roster(team))
	}
	return strings.Join(parts, "\n\n") + "\n"
}
