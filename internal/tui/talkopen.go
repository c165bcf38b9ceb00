package tui

import "conclave/internal/view"

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
	id, ok, err := m.c.Newest(m.ctx, m.o.Config)
	switch {
	case err != nil:
		m.notify("The newest conversation cannot be found: " + err.Error())
	case ok:
		newest, err := arrive(m.ctx, m.c, id, m.o.Config)
		if err == nil {
			m.notify(goesOnWords(m, newest.session))
			return newest, nil
		}
		m.notify("A new conversation: " + err.Error())
	}
	return a, nil
}

// goesOnWords say which conversation is gone on with.
func goesOnWords(m *Model, s view.Session) string {
	title := view.Shorten(m.texts.of(s.Title()), 60)
	if title == "" {
		return "Going on with the conversation that was begun " + ago(m.o.Now(), s.Last) + "; /new begins another."
	}
	return "Going on with “" + title + "”, last used " + ago(m.o.Now(), s.Last) + "; /new begins another."
}
