package view

import (
	"slices"
	"time"

	"conclave/internal/event"
)

// How much of what can grow without end a team shows. Everything is in its log.
const (
	maxTeamPut    = 200
	maxTeamMail   = 2000
	maxTeamMerges = 300
	maxTeamFiles  = 2000
)

// Apply returns t after e.
func (t Team) Apply(e event.Event) Team {
	if f, ok := e.Body.(event.TeamStarted); ok {
		return begunTeam(e, f)
	}
	t.Worked += t.passed(e)
	t.Seq, t.Last = e.Seq, e.At
	switch f := e.Body.(type) {
	case event.Messaged, event.Withdrawn, event.StopRequested, event.WrapUpRequested, event.Renamed, event.Replied,
		event.CancelRequested:
		t.Heard = newest(t.Heard, maxTeamPut, e.ID)
		t.Put = newest(t.Put, maxTeamPut, e)
		if m, ok := f.(event.Messaged); ok {
			t = t.spoken(e, m)
		}
	case event.Spawned, event.Tasked, event.Mailed, event.Reported, event.Awaited, event.Finishing:
		t.Put = newest(t.Put, maxTeamPut, e)
	case event.Admitted:
		t = t.admit(f.Ref)
	case event.Refused:
		t = t.refuse(e, f)
	case event.Asked, event.Closed, event.Held, event.Resumed:
		t = t.asks(e)
	case event.Notified:
		t = t.notified(e, f)
	case event.Rooted, event.Synced, event.Committed, event.Merged:
		t = t.trees(e)
	case event.TeamEnded:
		t = t.finish(e.At, f)
	default:
		t = t.works(e)
	}
	t.Takes = t.Takes.Apply(e)
	for _, m := range t.Members {
		if m.Turn != nil && !t.Takes.Current(OpenTurn{m.Agent, *m.Turn}) { // leave was refused to go on
			why := ""
			if f, ok := e.Body.(event.Refused); ok && f.Code == refusedBudget && !t.Finished {
				why = f.Why // it goes on once there is more
			}
			t = t.member(m.Agent, e.At, func(m *TeamMember) { m.Turn, m.Wish, m.Broke, m.Cut = nil, "", why, true }).phased()
		}
	}
	return t.timed()
}

// refusedBudget is the code of a request for which there is no money.
const refusedBudget = "budget"

func begunTeam(e event.Event, f event.TeamStarted) Team {
	t := Team{Seq: e.Seq, ID: e.Flow, Started: f, Title: f.Title, Begun: e.At, Last: e.At}
	leader := teamMember(event.AgentID(f.Leader.Name), f.Leader, e.At)
	leader.Leader = true
	t.Members = []TeamMember{leader}
	return t.post(TeamMail{
		ID: e.ID, Seq: e.Seq, At: e.At, Kind: MailGoal, By: f.By, To: []event.AgentID{leader.Agent}, Text: f.Task,
	}, FateQueued).phased().timed()
}

// teamMember is somebody who has just come in.
func teamMember(a event.AgentID, r event.TeamRole, at time.Time) TeamMember {
	return TeamMember{
		Agent: a, Role: r.Name, Title: r.Title, Avatar: avatar(r, a), State: MemberIdle, Since: at,
		Backend: r.Seat.Backend, Model: r.Seat.Model,
	}
}

// avatar is what people know a member by: what its role says, or its first letter.
func avatar(r event.TeamRole, a event.AgentID) string {
	if s := Shorten(r.Avatar, 2); s != "" {
		return s
	}
	for _, c := range OneLine(string(a)) {
		return string(c)
	}
	return "?"
}

// passed is the time up to e that counts as worked: none while it stands still, or
// without a driver.
func (t Team) passed(e event.Event) event.Duration {
	if _, down := e.Body.(event.Resumed); down || t.Begun.IsZero() || t.still() {
		return 0
	}
	return event.Duration(max(e.At.Sub(t.Last), 0))
}

// still reports whether its time stands still: it is over, it is in trouble, or
// everybody who works waits for a person.
func (t Team) still() bool {
	if t.Ended != nil || t.Trouble() != nil {
		return true
	}
	works := func(m TeamMember) bool { return (m.Turn != nil || m.Broke != "") && m.Wish == "" }
	asks := func(g Gate) bool { return g.Kind == event.GatePermission }
	return slices.ContainsFunc(t.Gates, asks) && !slices.ContainsFunc(t.Members, works)
}

// timed works out when its time is over.
func (t Team) timed() Team {
	t.Deadline = time.Time{}
	if limit := t.Started.Rules.Time; limit > 0 && t.Ended == nil && t.Trouble() == nil {
		t.Deadline = t.Last.Add(time.Duration(max(limit-t.Worked, 0)))
	}
	return t
}

// Trouble is the question how the team goes on; nil if it is not asked.
func (t Team) Trouble() *Gate {
	for _, g := range t.Gates {
		if g.Kind == event.GateTrouble {
			return &g
		}
	}
	return nil
}

// put takes out what was put forward under that id.
func (t Team) put(ref string) (Team, event.Event, bool) {
	if i := slices.Index(t.Heard, ref); i >= 0 {
		t.Heard = dropped(t.Heard, i)
	}
	i := slices.IndexFunc(t.Put, func(e event.Event) bool { return e.ID == ref })
	if i < 0 {
		return t, event.Event{}, false
	}
	e := t.Put[i]
	t.Put = dropped(t.Put, i)
	return t, e, true
}

// admit does what was put forward under that id.
func (t Team) admit(ref string) Team {
	t, e, ok := t.put(ref)
	if !ok {
		return t
	}
	switch f := e.Body.(type) {
	case event.Spawned:
		t = t.spawned(e, f)
	case event.Tasked:
		t = t.tasked(e, f)
	case event.Mailed:
		t = t.mailed(e, f)
	case event.Reported:
		t = t.reported(e, f)
	case event.Awaited:
		t = t.member(e.Agent, e.At, func(m *TeamMember) { m.Awaits, m.Waits, m.All = true, f.Members, f.All })
	case event.Messaged:
		m, _ := t.Letter(ref)
		t = t.answered(e.At, m.To...).fates(ref, func(x *TeamFate) {
			if x.State == FateWaiting {
				x.State = t.fateFor(x.To)
			}
		})
	case event.Withdrawn:
		t = t.fates(f.Message, func(x *TeamFate) {
			if x.State == FateQueued || x.State == FateUndeliverable && t.Ended == nil {
				x.State, x.At = FateWithdrawn, e.At
			}
		})
	case event.Finishing:
		t.Finished = true
	case event.Renamed:
		t.Title = f.Title
	case event.CancelRequested:
		if t.Ended == nil {
			t.Stopping = "being stopped" + prefixed(" by ", f.By)
		}
	}
	return t.phased()
}

// refuse takes in that something was turned down. What a member put forward is
// told to it alone.
func (t Team) refuse(e event.Event, f event.Refused) Team {
	t, was, ok := t.put(f.Ref)
	if !ok || was.Agent != "" {
		return t
	}
	r := Refusal{Ref: f.Ref, Code: f.Code, Why: f.Why, At: e.At}
	switch b := was.Body.(type) {
	case event.Messaged:
		r.Text = b.Text
		t = t.fates(f.Ref, func(x *TeamFate) { x.State, x.Why, x.At = FateRefused, f.Why, e.At })
	case event.StopRequested:
		r.Text = event.Inline("stop " + string(b.Target))
	case event.Replied:
		r.Text = event.Inline(words(": ", b.Choice, b.Text))
	}
	t.Refusals = newest(t.Refusals, maxRefusals, r)
	return t
}

// asks takes in questions to a person and what became of them.
func (t Team) asks(e event.Event) Team {
	switch f := e.Body.(type) {
	case event.Resumed:
		t.Gates = reading(t.Gates, false, e.At, func(Gate) bool { return true })
		t.Members = slices.Clone(t.Members)
		for i := range t.Members {
			m := &t.Members[i]
			m.Cut = m.Turn != nil
		}
	case event.Held:
		t.Gates = reading(t.Gates, f.On, e.At, func(g Gate) bool { return g.Gate == f.Gate })
	case event.Asked:
		t.Gates = append(without(t.Gates, f.Gate), Gate{Asked: f, Since: e.At})
		if f.Kind == event.GatePermission {
			t = t.member(e.Agent, e.At, func(m *TeamMember) { m.Wish = f.Gate })
		}
	case event.Closed:
		t.Gates = without(t.Gates, f.Gate)
		t, _, _ = t.put(f.Reply)
		for _, m := range t.Members {
			if f.Gate != "" && m.Wish == f.Gate {
				t = t.member(m.Agent, e.At, func(m *TeamMember) {
					if m.Wish = ""; m.Turn != nil {
						m.Doing = "thinks"
					}
				})
			}
		}
	}
	if len(t.Gates) == 0 {
		t.Gates = nil
	}
	return t
}

// finish ends the team.
func (t Team) finish(at time.Time, f event.TeamEnded) Team {
	t.Ended, t.Over, t.Gates, t.Stopping = &f, at, nil, ""
	for _, m := range t.Members {
		t = t.member(m.Agent, at, func(m *TeamMember) {
			m.Turn, m.Awaits, m.Asked, m.Waits, m.All, m.Wish, m.Broke, m.Cut = nil, false, false, nil, false, "", "", false
		})
	}
	return t.undeliverable(at, func(TeamFate) bool { return true }, "the team was over").phased()
}

// State is what the team does: "working", "asking" a person, "trouble", or, once it
// is over, how it ended as event.Status says it.
func (t Team) State() string {
	switch {
	case t.Ended != nil:
		return string(t.Ended.Status)
	case t.Trouble() != nil:
		return TeamTrouble
	case len(t.Gates) > 0:
		return TeamAsking
	}
	return TeamWorking
}

// States of a team that goes on.
const (
	TeamWorking = "working"
	TeamAsking  = "asking"
	TeamTrouble = "trouble"
)

// Name is what the team is called: its title, or else what is wanted of it.
func (t Team) Name() event.Content {
	if t.Title != "" {
		return event.Inline(t.Title)
	}
	return t.Started.Task
}
