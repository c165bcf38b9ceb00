package tui

import (
	"conclave/internal/tui/text"
)

// columns lines up cells in columns: the first to the left, the others to the
// right. Columns that do not fit are left out, the last ones first, so the more
// important come first. The first row is the head.
func (m *Model) columns(rows [][]string, width int) []string {
	var wide []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], text.Width(c))
		}
	}
	if len(wide) == 0 {
		return nil
	}
	wide[0] = min(wide[0], max(width/3, 12))
	fit, used := 1, wide[0]
	for fit < len(wide) && used+2+wide[fit] <= width {
		used += 2 + wide[fit]
		fit++
	}
	var out []string
	for n, r := range rows {
		line := ""
		for i, c := range r[:min(fit, len(r))] {
			if i == 0 {
				line = text.Pad(text.Cut(c, wide[0]), wide[0])
				continue
			}
			line += text.Spaces(2+wide[i]-text.Width(c)) + c
		}
		if n == 0 {
			line = m.theme.Dim.Render(line)
		}
		out = append(out, text.Cut(line, width))
	}
	return out
}
