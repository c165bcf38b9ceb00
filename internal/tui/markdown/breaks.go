package markdown

import "strings"

// Breaks has the lines of paragraphs end where they end in src. Markdown runs them
// together; whoever writes a message means them.
func Breaks(src string) string {
	lines := strings.Split(src, "\n")
	fence := ""
	for i, l := range lines[:len(lines)-1] {
		bare := strings.TrimSpace(l)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
		case bare != "":
			lines[i] = strings.TrimSuffix(l, "\r") + "  "
		}
	}
	return strings.Join(lines, "\n")
}
