package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/live"
	"conclave/internal/view"
)

// maxTeamLog is how much of the log of a team is listed.
const maxTeamLog = 5000

// openTeam shows a team.
func (m *Model) openTeam(id event.FlowID) tea.Cmd {
	return m.openFlow(id, view.KindTeam, func(m *Model, snap view.Snapshot) (tea.Cmd, bool) {
		if snap.Team == nil {
			return nil, false
		}
		return m.showTeam(*snap.Team), true
	})
}

// showTeam opens the screen of a team on what is known of it. The feed is made
// from all its events.
func (m *Model) showTeam(t view.Team) tea.Cmd {
	m.leaveTeam()
	s := newTeamScreen(m, t)
	if t.Ended != nil {
		s.page = teamBoard
	}
	m.crew = s
	m.open(s)
	m.feed.followFrom(t.ID, 1)
	return tea.Batch(s.load(m), s.rouse(m))
}

// gone is called when the screen is closed.
func (s *teamScreen) gone(m *Model) {
	if m.crew == s {
		m.leaveTeam()
	}
}

// leaveTeam takes the screen of a team away.
func (m *Model) leaveTeam() {
	if s := m.crew; s != nil {
		m.crew = nil
		s.end(m, s)
	}
}

// closeTeam leaves the screen; a window that was opened for the team is closed.
func (m *Model) closeTeam() tea.Cmd {
	s, ok := m.top().(*teamScreen)
	if !ok {
		return nil
	}
	return s.leave(m, m.o.Team, atTeams, m.relistTeams, s.parting())
}

// parting says how to come back.
func (s *teamScreen) parting() string {
	switch {
	case s.team.Ended != nil:
		return "See what it made with: conclave team show " + string(s.id)
	case len(s.team.Gates) > 0:
		return "It waits for you. Come back with: conclave team watch " + string(s.id)
	}
	return "It goes on by itself. Come back with: conclave team watch " + string(s.id)
}

// take takes in what has come of the team.
func (s *teamScreen) take(m *Model, x fed) tea.Cmd {
	if d := x.delta; d != nil {
		said := s.saying[d.Agent]
		if said == nil {
			said = &speech{}
			s.saying[d.Agent] = said
		}
		said.hear(*d)
		return nil
	}
	e := x.event
	s.feed = s.feed.Apply(m.texts.terse(e))
	if r := view.AuditRowOf(e); r.Title != "" {
		s.log = append(s.log, r)
		if len(s.log) > maxTeamLog+maxTeamLog/4 {
			s.log = slices.Clone(s.log[len(s.log)-maxTeamLog:])
		}
	}
	if e.Seq <= s.team.Seq {
		return nil
	}
	before := s.team
	s.team = s.team.Apply(e)
	if p, ok := live.Said(e); ok && s.saying[e.Agent] != nil {
		s.saying[e.Agent].end(p)
	}
	s.verdict(m, e)
	s.happened(m, before, e)
	return tea.Batch(s.load(m), s.ring(m))
}

// happened says what has changed for whoever looks at the team.
func (s *teamScreen) happened(m *Model, before view.Team, e event.Event) {
	switch b := e.Body.(type) {
	case event.Asked:
		s.rings = true
		m.put.sprung = m.o.Now() // what is pressed now was meant for something else
		key := "Press p."
		if b.Kind == event.GateTrouble {
			key = "Press a to have it go on."
		}
		m.notify(view.OneLine(b.Title) + " " + key)
	case event.Closed:
		if slices.ContainsFunc(before.Gates, func(g view.Gate) bool { return g.Gate == b.Gate }) {
			m.notify(decidedWords(b, view.KindTeam, map[string]string{event.TroubleCancel: "the team is stopped"}))
		}
	case event.Lost:
		m.notify(view.OneLine(string(e.Agent)) + " is lost" + prefixed(": ", view.OneLine(b.Message)))
	case event.TeamEnded:
		s.page, s.rings = teamBoard, true
		s.moved[teamBoard] = false
		m.notify("The team is done: " + string(b.Status) + prefixed(", ", view.OneLine(b.Why)))
	}
}

// ring calls a person who looks elsewhere.
func (s *teamScreen) ring(m *Model) tea.Cmd {
	if !s.rings {
		return nil
	}
	s.rings = false
	switch {
	case s.team.Ended != nil:
		return m.call("a team is done: " + string(s.team.Ended.Status))
	case len(s.team.Gates) > 0:
		return m.call("a team waits for you")
	}
	return nil
}

// rouse has somebody drive a team that has something to do, and listens to them.
func (s *teamScreen) rouse(m *Model) tea.Cmd {
	if s.team.Ended != nil && len(s.team.Heard) == 0 {
		return nil
	}
	return s.wake(m, s.team.Seq)
}

// fellQuiet takes in that nobody drives the team any more. One that waits for a
// person needs nobody.
func (s *teamScreen) fellQuiet(m *Model) tea.Cmd {
	if s.team.Trouble() != nil && len(s.team.Heard) == 0 {
		return nil
	}
	return s.rouse(m)
}

// hear listens to what the members say while they work.
func (s *teamScreen) hear(m *Model) {
	if m.crew == s && s.team.Ended == nil && s.team.Trouble() == nil {
		m.feed.overhear(s.id)
	}
}

// load reads how the tree that is looked at has changed, once for each commit.
func (s *teamScreen) load(m *Model) tea.Cmd {
	commit := s.team.Commit
	if x, ok := s.team.Member(s.who); ok && !x.Leader {
		commit = x.Commit
	}
	key := string(s.who) + " " + commit
	if commit == "" || s.files.reading == key {
		return nil
	}
	s.files.reading = key
	c, id, who := m.c, s.id, s.who
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		diff, err := c.TeamDiff(ctx, id, who)
		return func(*Model) tea.Cmd {
			if s.files.reading != key { // something newer is being read
				return nil
			}
			s.files = teamTree{reading: key, version: s.files.version + 1, diff: diff}
			if err != nil {
				s.files.wrong = err.Error()
			}
			return nil
		}
	})
}

// readFile shows a file of the tree that is looked at.
func (s *teamScreen) readFile(m *Model, name string) tea.Cmd {
	c, id, who := m.c, s.id, s.who
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		_, p, err := c.TeamFile(ctx, id, who, name)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify(err.Error())
				return nil
			}
			m.readBytes(name, p)
			return nil
		}
	})
}

// openFiles lists every file of the tree that is looked at.
func (s *teamScreen) openFiles(m *Model) tea.Cmd {
	c, id, who := m.c, s.id, s.who
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		all, err := c.TeamFiles(ctx, id, who)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The files cannot be listed: " + err.Error())
				return nil
			}
			title := "Files of the team"
			if who != "" {
				title = "Files of " + view.OneLine(string(who))
			}
			p := &picker{where: atTeamFiles, title: title, full: true, empty: "There are no files yet."}
			for _, f := range all {
				p.rows = append(p.rows, pick{key: f.Path, text: f.Path, about: size(f.Size)})
			}
			p.chosen = func(m *Model, r pick) tea.Cmd { return s.readFile(m, r.key) }
			m.open(p)
			return nil
		}
	})
}

const atTeamFiles Where = "files of a team"
