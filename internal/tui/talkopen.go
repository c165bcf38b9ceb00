package tui

// firstArrival is what a window shows that was opened on nothing in particular:
// the newest conversation with an agent, or a new one.
func (m *Model) firstArrival() (arrival, error) {
	var a arrival
	var err error
	if a.team, err = m.c.Team(m.ctx, m.o.Config); err != nil {
		return a, err
	}
	if !m.o.Interactive || a.team.Interactive == nil || m.o.Fresh || m.o.Pick {
		return a, nil
	}
	id, ok, err := m.c.Newest(m.ctx)
	switch {
	case err != nil:
		m.notify("The newest conversation cannot be found: " + err.Error())
	case ok:
		newest, err := arrive(m.ctx, m.c, id, m.o.Config)
		if err == nil {
			return newest, nil
		}
		m.notify("A new conversation: " + err.Error())
	}
	return a, nil
}
