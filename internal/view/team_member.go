package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// Member is somebody of the team.
func (t Team) Member(a event.AgentID) (TeamMember, bool) {
	if i := t.memberIndex(a); i >= 0 {
		return t.Members[i], true
	}
	return TeamMember{}, false
}

// Leader is who leads; ok is false if there is no team yet.
func (t Team) Leader() (m TeamMember, ok bool) {
	if len(t.Members) == 0 {
		return m, false
	}
	return t.Members[0], true
}

func (t Team) memberIndex(a event.AgentID) int {
	return slices.IndexFunc(t.Members, func(m TeamMember) bool { return m.Agent == a })
}

// role is what members of that name are.
func (t Team) role(name string) event.TeamRole {
	for _, r := range t.Started.Roles {
		if r.Name == name {
			return r
		}
	}
	return event.TeamRole{Name: name}
}

// member changes a member, and leaves what others hold as it is. What it does
// follows from the rest.
func (t Team) member(a event.AgentID, at time.Time, change func(*TeamMember)) Team {
	i := t.memberIndex(a)
	if i < 0 {
		return t
	}
	t.Members = slices.Clone(t.Members)
	m := &t.Members[i]
	change(m)
	if was := m.State; was != m.state() {
		m.State, m.Since = m.state(), at
	}
	if m.State != MemberWorking {
		m.Doing = m.standing()
	}
	return t
}

// state is what a member does, by what is known of it.
func (m TeamMember) state() string {
	switch {
	case m.Lost != "":
		return MemberLost
	case m.Wish != "":
		return MemberAsking
	case m.Turn != nil:
		return MemberWorking
	case m.Broke != "":
		return MemberResting
	case m.Awaits, m.Asked:
		return MemberWaiting
	}
	return MemberIdle
}

// Word is its state as people read it: who was stopped by one of them is not lost.
func (m TeamMember) Word() string {
	if m.State == MemberLost && m.Stopped {
		return "stopped"
	}
	return m.State
}

// Gone is how a member that is lost was: "lost: it hung" or "stopped by ada".
func (m TeamMember) Gone() string {
	if m.Stopped {
		return stopped(m.Lost)
	}
	return "lost: " + OneLine(m.Lost)
}

// standing says in words what a member that does not work is about.
func (m TeamMember) standing() string {
	switch m.State {
	case MemberAsking:
		return cmp.Or(m.Doing, "asks to be allowed something") // as the wish said it
	case MemberResting:
		return "tries again: " + Shorten(m.Broke, inputWidth)
	case MemberLost:
		return Shorten(m.Lost, inputWidth)
	case MemberWaiting:
		return m.waits()
	}
	return ""
}

// waits is "waits for pm or architect".
func (m TeamMember) waits() string {
	names := agentNames(m.Waits)
	switch {
	case len(names) == 0 && m.All:
		return "waits for everybody"
	case len(names) == 0:
		return "waits for anybody"
	case m.All:
		return "waits for " + Shorten(and(names), detailWidth)
	}
	return "waits for " + Shorten(or(names), detailWidth)
}

// or is "pm, architect or designer".
func or(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " or " + names[n]
	}
	return strings.Join(names, "")
}

// spawned brings a member in.
func (t Team) spawned(e event.Event, f event.Spawned) Team {
	m := teamMember(f.Member, t.role(f.Role), e.At)
	if i := t.memberIndex(f.Member); i >= 0 {
		t.Members = slices.Clone(t.Members)
		m.Leader = t.Members[i].Leader
		t.Members[i] = m
		return t
	}
	t.Members = append(slices.Clip(t.Members), m)
	return t
}

// works takes in what members do.
func (t Team) works(e event.Event) Team {
	switch f := e.Body.(type) {
	case event.Assigned:
		return t.assigned(e, f)
	case event.Told:
		if m, ok := t.Member(e.Agent); !ok || m.Turn == nil || *m.Turn != f.Turn {
			return t // it has been told nothing: its turn was over
		}
		return t.delivered(e, f.Turn, f.Messages)
	case event.Concluded:
		return t.rests(e, f.Turn, "").phased()
	case event.Interrupted:
		return t.rests(e, f.Turn, cmp.Or(f.Why, "it was interrupted")).phased()
	case event.Failed:
		t = t.uses(e, f.Usage, f.Usage != (event.Usage{}), false)
		if f.Code == FailedStopped || f.Code == failedLimit { // the turn is over with it
			return t.rests(e, f.Turn, "").phased()
		}
		return t.rests(e, f.Turn, cmp.Or(f.Message, f.Code, "it failed")).member(e.Agent, e.At, func(m *TeamMember) {
			m.Cut = m.Cut || f.RetryAfter > 0 // it does not count
		}).phased()
	case event.Lost:
		t = t.member(e.Agent, e.At, func(m *TeamMember) {
			m.Turn, m.Awaits, m.Asked, m.Waits, m.All, m.Wish, m.Broke = nil, false, false, nil, false, "", ""
			m.Lost, m.Stopped = cmp.Or(f.Message, f.Code, "lost"), f.Code == event.LostStopped
		})
		return t.undeliverable(e.At, func(x TeamFate) bool { return x.To == e.Agent }, "its recipient was lost").phased()
	case event.Called:
		t.ToolUses += len(f.Did)
		return t.uses(e, f.Usage, true, f.Unpriced).does(e, f.Turn, calling(f.Tools))
	case event.Compacted:
		return t.uses(e, f.Usage, !f.Outline, false)
	case event.ToolCalled:
		return t.does(e, f.Turn, calling([]event.ToolCall{f.Tool}))
	case event.ToolReturned:
		t.ToolUses++
		return t.does(e, f.Turn, "thinks")
	case event.Wished:
		return t.does(e, f.Turn, "asks to be allowed "+Shorten(f.Tool, inputWidth))
	}
	return t
}

// failedLimit is the code of a turn that has made all the calls it may.
const failedLimit = "limit"

// assigned sets a member to work.
func (t Team) assigned(e event.Event, f event.Assigned) Team {
	if _, ok := t.Member(e.Agent); !ok {
		return t
	}
	if f.Take <= 1 {
		t.Turns++
	}
	t = t.member(e.Agent, e.At, func(m *TeamMember) {
		switch {
		case f.Take <= 1:
			m.Turns++
			m.Awaits, m.Asked, m.Waits, m.All = false, false, nil, false
		case m.Broke != "" && !m.Cut:
			m.Restarts++
		}
		m.Turn, m.Doing = &f.Turn, "thinks"
		m.Wish, m.Broke, m.Cut = "", "", false
	})
	return t.delivered(e, f.Turn, f.Messages).phased()
}

// rests ends a take; why is empty if the turn is over with it.
func (t Team) rests(e event.Event, turn event.Turn, why string) Team {
	m, ok := t.Member(e.Agent)
	if !ok || m.Turn == nil || *m.Turn != turn {
		return t
	}
	return t.member(e.Agent, e.At, func(m *TeamMember) { m.Turn, m.Wish, m.Broke = nil, "", why })
}

// does notes what a member does in the take that goes on.
func (t Team) does(e event.Event, turn event.Turn, what string) Team {
	if m, ok := t.Member(e.Agent); ok && m.Turn != nil && *m.Turn == turn && m.Doing != what {
		return t.member(e.Agent, e.At, func(m *TeamMember) { m.Doing = what })
	}
	return t
}

// uses adds to the account of the team and of a member.
func (t Team) uses(e event.Event, u event.Usage, call, unpriced bool) Team {
	if call {
		t.Calls++
	}
	if unpriced {
		t.Unpriced++
	}
	t.Usage = t.Usage.Add(u)
	return t.member(e.Agent, e.At, func(m *TeamMember) { m.Usage = m.Usage.Add(u) })
}
