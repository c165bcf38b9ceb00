package jobdir

import (
	"fmt"
	"strings"
)

// feedbackHeading is the section of workspace.md that holds what people said last
// about the plan.
const feedbackHeading = "## Review Feedback"

// WithFeedback is the memory with what a person said last in its section on
// feedback, in place of what was there: what was said before is in review/.
func WithFeedback(memory, text string) string {
	rest := strings.TrimRight(WithoutFeedback(memory), "\n")
	if rest != "" {
		rest += "\n\n"
	}
	var quote strings.Builder // so that a heading in it ends nothing
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		quote.WriteString(strings.TrimRight("> "+line, " \r") + "\n")
	}
	return rest + feedbackHeading + "\n\n" + quote.String()
}

// WithoutFeedback is the memory without that section.
func WithoutFeedback(memory string) string {
	var out strings.Builder
	in := false
	for line := range strings.Lines(memory) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			in = strings.TrimSpace(line) == feedbackHeading
		}
		if !in {
			out.WriteString(line)
		}
	}
	return out.String()
}

// FeedbackFile is where what was said in a round of review is kept.
func FeedbackFile(round int) string { return fmt.Sprintf("%s/round-%d.md", Review, round) }

// ArchiveFile is where the todos of a phase are kept that is over.
func ArchiveFile(phase, iteration int, kind string) string {
	return fmt.Sprintf("%s/todos_phase_%d.%d_%s.md", Archive, phase, iteration, kind)
}
