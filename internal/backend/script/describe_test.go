package script_test

import (
	"fmt"
	"strings"

	"conclave/internal/backend"
)

// describe is a reply in one line.
func describe(r backend.Reply) string {
	var out []string
	if r.Thinking != "" {
		out = append(out, fmt.Sprintf("think %q", r.Thinking))
	}
	if r.Text != "" {
		out = append(out, fmt.Sprintf("say %q", r.Text))
	}
	for _, c := range r.Calls {
		out = append(out, fmt.Sprintf("%s %s", c.Name, c.Input))
	}
	if r.Stop != "" {
		out = append(out, "stop "+r.Stop)
	}
	return strings.Join(out, " ")
}
