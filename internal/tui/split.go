package tui

// splits reports whether the agents are shown side by side.
func (m *Model) splits(w int) bool { return m.split && w >= 2*splitWidth && len(m.agents()) > 1 }

// splitView draws the agents side by side.
func (m *Model) splitView(w, h int) []string { return m.laneView(w, h) }
