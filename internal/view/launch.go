package view

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
)

// A LaunchDetail is one line of what a person decides on when a run is wanted.
type LaunchDetail struct{ Name, Text string }

// LaunchDetails is a wanted run as a person decides on it: everything that would
// be launched, what it may come to, and what is left to spend. Task and background
// are its texts.
func LaunchDetails(s Session, w SessionWant, task, background string) []LaunchDetail {
	var out []LaunchDetail
	add := func(name, text string) {
		if text = strings.TrimSpace(Clean(text)); text != "" {
			out = append(out, LaunchDetail{name, text})
		}
	}
	l := w.Launch
	add("task", task)
	add("context", background)
	add("who", LaunchWords(l))
	for _, p := range l.Paths {
		add("path", pathWords(p))
	}
	if s.Talk != nil {
		for _, p := range s.Talk.Staffed.ContextPaths {
			if !slices.ContainsFunc(l.Paths, func(q event.ContextPath) bool { return q.Path == p.Path }) {
				add("path", pathWords(p)+", as configured")
			}
		}
	}
	for _, a := range l.Agents {
		if text := l.Prompts[a]; text != "" {
			add("prompt", string(a)+": "+text)
		}
	}
	add("settings", string(l.Overrides))
	add("estimate", estimateWords(w.Estimate))
	add("budget", budgetWords(s.Left()))
	if w.Revision > 1 {
		add("revision", fmt.Sprint(w.Revision))
	}
	return out
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
