// Package diff shows how two texts differ.
package diff

import "conclave/internal/tui/theme"

// Unified is the difference of a and b as styled lines of at most width cells.
func Unified(a, b string, width int, t theme.Theme) []string { return nil }

// Stat counts the lines that b has more, and those it has no longer.
func Stat(a, b string) (added, removed int) { return 0, 0 }
