package tui

// Table is everything that can be done in a window.
func (m *Model) Table() []Action { return m.table }

// Situation is how things stand.
func (m *Model) Situation() Situation { return m.situation() }

// Place is what has the keys.
func (m *Model) Place() Where {
	switch s := m.top(); {
	case s != nil:
		return s.Where()
	case m.inList:
		return InList
	}
	return InInput
}

// Typed is what stands in the input.
func (m *Model) Typed() string { return m.input.Text() }

// Misfit is what is wrong with a frame.
var Misfit = misfit
