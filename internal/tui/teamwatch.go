package tui

import (
	"cmp"
	"context"
	"fmt"
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
	c := m.c
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		snap, err := c.Open(ctx, id)
		if err == nil && snap.Team == nil {
			err = fmt.Errorf("%s is not a team", id)
		}
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("The team cannot be shown: " + err.Error())
				return nil
			}
			return m.showTeam(*snap.Team)
		}
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
	return tea.Batch(s.load(m), s.wake(m))
}

// leaveTeam takes the screen of a team away.
func (m *Model) leaveTeam() {
	s := m.crew
	if s == nil {
		return
	}
	m.crew = nil
	m.feed.leave(s.id)
	m.screens = slices.DeleteFunc(m.screens, func(o Screen) bool { return o == Screen(s) })
}

// gone is called when the screen is closed.
func (s *teamScreen) gone(m *Model) {
	if m.crew == s {
		m.leaveTeam()
	}
}

// closeTeam leaves the screen; a window that was opened for the team is closed.
func (m *Model) closeTeam() tea.Cmd {
	s, ok := m.top().(*teamScreen)
	if !ok {
		return nil
	}
	if m.o.Team == "" || m.o.Team != s.id {
		m.closeTop()
		if t := m.top(); t != nil && t.Where() == atTeams { // which says how things stood before
			return m.relistTeams()
		}
		return nil
	}
	m.parting = s.parting()
	return tea.Quit
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
	s.feed = s.feed.Apply(m.texts.thin(e))
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
			m.notify(teamClosed(b))
		}
	case event.Lost:
		m.notify(view.OneLine(string(e.Agent)) + " is lost" + prefixed(": ", view.OneLine(b.Message)))
	case event.TeamEnded:
		s.page, s.rings = teamBoard, true
		s.moved[teamBoard] = false
		m.notify("The team is done: " + string(b.Status) + prefixed(", ", view.OneLine(b.Why)))
	}
}

// teamClosed says what was decided, and who has.
func teamClosed(c event.Closed) string {
	words := map[string]string{
		event.TroubleRetry: "it goes on", event.TroubleCancel: "the team is stopped", event.PermitOnce: "allowed once",
		event.PermitRun: "allowed for this team", event.PermitAlways: "allowed from now on", event.PermitDeny: "denied",
	}
	what := cmp.Or(words[c.Choice], c.Choice)
	if c.By != by && c.By != "" {
		return "Decided elsewhere (" + view.OneLine(c.By) + "): " + what + "."
	}
	return "Decided: " + what + "."
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

// wake has somebody drive a team that has something to do, and listens to them.
func (s *teamScreen) wake(m *Model) tea.Cmd {
	if s.team.Ended != nil && len(s.team.Heard) == 0 || s.team.Seq > 0 && s.woken == s.team.Seq {
		return nil
	}
	s.woken = s.team.Seq
	c, id := m.c, s.id
	return m.later(func(ctx context.Context) func(*Model) tea.Cmd {
		err := c.Wake(ctx, id)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.notify("Nobody could be set to work on it: " + err.Error())
				return nil
			}
			s.listen(m)
			return nil
		}
	})
}

// fellQuiet takes in that nobody drives the team any more. One that waits for a
// person needs nobody.
func (s *teamScreen) fellQuiet(m *Model) tea.Cmd {
	if s.team.Trouble() != nil && len(s.team.Heard) == 0 {
		return nil
	}
	return s.wake(m)
}

// listen hears what the members say while they work.
func (s *teamScreen) listen(m *Model) {
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
