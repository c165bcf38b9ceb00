package tui

import (
	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/view"
)

// stoppable is the member that is looked at, if it can be stopped alone: the leader
// cannot, and neither can somebody who does not act any more.
func (s *teamScreen) stoppable() (view.TeamMember, bool) {
	x, ok := s.team.Member(s.who)
	l, _ := s.team.Leader()
	return x, ok && x.State != view.MemberLost && x.Agent != l.Agent
}

// stop asks, and stops the member that is looked at, or else the team.
func (s *teamScreen) stop(m *Model) tea.Cmd {
	if _, ok := s.stoppable(); ok {
		return s.stopMember(m)
	}
	return s.stopTeam(m)
}

// stopMember asks, and has a member not act again.
func (s *teamScreen) stopMember(m *Model) tea.Cmd {
	who := s.who
	m.confirm("Stop "+view.OneLine(string(who))+"?", "It does not act again in this team. Its work stays, its open tasks wait for somebody else, and the leader is told.\nTo stop the whole team: n, then 0 and x.", func(m *Model) tea.Cmd {
		m.notify("Stopping " + view.OneLine(string(who)) + ".")
		return s.tell(m, fact(event.StopRequested{Target: who, By: by}), "Not stopped", nil)
	})
	return nil
}

// stopTeam asks, and ends the team.
func (s *teamScreen) stopTeam(m *Model) tea.Cmd {
	m.confirm("Stop the team?", "Everybody is stopped at once. What there is stays in its tree.", func(m *Model) tea.Cmd {
		m.notify("Stopping.")
		return s.tell(m, fact(event.CancelRequested{By: by}), "Not stopped", nil)
	})
	return nil
}

// stopWords are what stopping means as things stand.
func stopWords(m *Model) string {
	if s, ok := m.top().(*teamScreen); ok {
		if x, ok := s.stoppable(); ok {
			return "stop " + view.Shorten(string(x.Agent), 16)
		}
	}
	return "stop team"
}

// stopsMembers says of stopping whom it is about: it is one thing to do, for the team
// and for a member.
func stopsMembers(table []Action) {
	for i := range table {
		if table[i].Name == "team_stop" {
			table[i].Now, table[i].Covers = stopWords, []string{"team_stop_member"}
		}
	}
}

const nobodyReads = "The team is over: nobody reads messages any more."

// deaf reports whether a key belongs to a message that cannot be written. Whoever
// wants to write to a team that is over types on before it is read that there is no
// place to: those letters are not to act as keys.
func (s *teamScreen) deaf(m *Model, k tea.KeyPressMsg) bool {
	if s.team.Ended == nil || k.Text == "" {
		return false
	}
	a, ok := m.keys.find(k, atTeam)
	if now := m.o.Now(); !(ok && a.Name == "team_message") && now.Sub(s.hushed) >= settle {
		return false
	}
	s.hushed = m.o.Now()
	m.notify(nobodyReads)
	return true
}

// sendNote has the field take Enter: it may have another use for it than sending.
func (s *teamScreen) sendNote(m *Model) tea.Cmd {
	if done, _ := s.note.field.update(tea.KeyPressMsg{Code: tea.KeyEnter}); done {
		return s.noted(m)
	}
	return nil
}

// idleWords are why a run cannot be steered while none goes on.
func (m *Model) idleWords() string {
	for _, s := range m.screens {
		if t, ok := s.(*teamScreen); ok && t.team.Ended == nil {
			return "This is for runs; the team has keys of its own."
		}
	}
	return "Nothing is running."
}
