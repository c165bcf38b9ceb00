package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// launchText is a run that somebody wants as a person decides on it: everything
// that would be launched, what it may come to, and what is left to spend.
func launchText(ctx context.Context, c control.Control, s view.Session, w view.SessionWant) (string, error) {
	l := w.Launch
	task, err := c.Text(ctx, l.Task)
	if err != nil {
		return "", err
	}
	background, err := c.Text(ctx, l.Context)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name+":", strings.ReplaceAll(strings.TrimSpace(view.Clean(text)), "\n", "\n             "))
		}
	}
	row("task", task)
	row("context", background)
	row("who", view.LaunchWords(l))
	for _, p := range l.Paths {
		row("path", pathWords(p))
	}
	for _, p := range s.Talk.Staffed.ContextPaths {
		if !slices.ContainsFunc(l.Paths, func(q event.ContextPath) bool { return q.Path == p.Path }) {
			row("path", pathWords(p)+", as configured")
		}
	}
	for _, a := range l.Agents {
		if text := l.Prompts[a]; text != "" {
			row("prompt", string(a)+": "+text)
		}
	}
	row("settings", string(l.Overrides))
	row("estimate", estimateWords(w.Estimate))
	row("budget", budgetWords(s.Left()))
	if w.Revision > 1 {
		row("revision", fmt.Sprint(w.Revision))
	}
	return b.String(), nil
}

func pathWords(p event.ContextPath) string {
	if p.Write {
		return p.Path + " (may be written)"
	}
	return p.Path
}

func estimateWords(e *event.Estimate) string {
	if e == nil || e.Tokens == 0 && e.Cost == 0 {
		return ""
	}
	out := fmt.Sprintf("about %s", e.Cost)
	if e.Tokens > 0 {
		out += fmt.Sprintf(", %d tokens", e.Tokens)
	}
	if e.Basis != "" {
		out += " (" + e.Basis + ")"
	}
	return out
}

// budgetWords is what is left to spend; empty if that is not limited.
func budgetWords(b event.Budget) string {
	var out []string
	if b.Cost != nil {
		out = append(out, b.Cost.String())
	}
	if b.Tokens != nil {
		out = append(out, fmt.Sprintf("%d tokens", *b.Tokens))
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, " and ") + " left"
}
