package cli

import (
	"context"
	"fmt"
	"strings"

	"conclave/internal/control"
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
	for _, d := range view.LaunchDetails(s, w, task, background) {
		fmt.Fprintf(&b, "  %-10s %s\n", d.Name+":", strings.ReplaceAll(d.Text, "\n", "\n             "))
	}
	return b.String(), nil
}
