package team

import (
	"slices"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
)

// member is one of the team: its conversation, its mailbox and its turns.
type member struct {
	ID   event.AgentID  `json:"id"`
	Role event.TeamRole `json:"role"`
	// Box is what it was not told yet, oldest first.
	Box []Mail `json:"box,omitempty"`
	dialog.Memory

	// Turn is the one that goes on; Last the newest take; Rounds counts its turns.
	Turn   *turn      `json:"turn,omitempty"`
	Last   event.Turn `json:"last,omitzero"`
	Rounds int        `json:"rounds,omitempty"`

	// Await is for whom the leader waits. Question is what a member has asked the
	// leader, until it is set to work with the answer.
	Await    *await    `json:"await,omitempty"`
	Question *question `json:"question,omitempty"`
	// Reminded counts how often in a row it was reminded of what it has left open;
	// Stalled: the leader was told, and it is not reminded any more.
	Reminded int  `json:"reminded,omitempty"`
	Stalled  bool `json:"stalled,omitempty"`

	tree
	// Doom is why it will be lost; Lost why it is.
	Doom *event.Lost `json:"doom,omitempty"`
	Lost *event.Lost `json:"lost,omitempty"`
}

// await is a wait for others.
type await struct {
	ID      string          `json:"id"` // of its fact
	Members []event.AgentID `json:"members,omitempty"`
	All     bool            `json:"all,omitempty"`
	For     time.Duration   `json:"for,omitempty"`
	Since   time.Duration   `json:"since,omitempty"` // on the flow's clock
}

// pauses reports whether it waits for time to pass: for nobody in particular, and not
// for ever. Whoever waits for members does not, once none of them works.
func (w *await) pauses() bool { return w.For > 0 && len(w.Members) == 0 }

// question is what a member has asked the leader.
type question struct {
	ID string `json:"id"` // of its fact
	// Answered: the leader or a person has written since. Chased: the leader was
	// told that it has ended a turn without doing so.
	Answered bool `json:"answered,omitempty"`
	Chased   bool `json:"chased,omitempty"`
}

func (t *Team) member(id event.AgentID) *member {
	for _, m := range t.s.Members {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// leader is always there once the team has started.
func (t *Team) leader() *member { return t.s.Members[0] }

func (t *Team) leads(m *member) bool { return m == t.s.Members[0] }

// asks reports whether it waits for the leader's answer.
func (m *member) asks() bool { return m.Question != nil && !m.Question.Answered }

// ready reports whether a member has been sent something that it is to be set to
// work with now.
func (t *Team) ready(m *member) bool {
	return m.Lost == nil && m.Turn == nil && !m.asks() && slices.ContainsFunc(m.Box, t.ripe) && (m.Await == nil || t.waited(m))
}

// ripe reports whether a message sets somebody to work. Whoever has asked, or has
// reported everything it had to do, is just ending its turn: until it has, what it
// made is not kept, and there is nothing for the leader to look at.
func (t *Team) ripe(x Mail) bool {
	if x.Kind != MailReport && x.Kind != MailQuestion {
		return true
	}
	m := t.member(x.From)
	return m == nil || m.Turn == nil || t.resting(m.Turn) || x.Kind == MailReport && len(t.openOf(m.ID)) > 0
}

// waited reports whether what the leader waits for has come, or something else that
// it is to be told at once. Who waits for nobody in particular waits for anything.
func (t *Team) waited(m *member) bool {
	w := m.Await
	if len(w.Members) == 0 {
		return true
	}
	for _, x := range m.Box {
		if x.Kind == MailPerson || x.Kind == MailNotice || x.Kind == MailQuestion && t.ripe(x) {
			return true
		}
	}
	heard, over := 0, 0
	for _, id := range w.Members {
		switch {
		case slices.ContainsFunc(m.Box, func(x Mail) bool { return x.From == id && x.Kind == MailReport && t.ripe(x) }):
			heard++
		case t.still(id):
			over++
		}
	}
	if w.All {
		return heard+over == len(w.Members)
	}
	return heard > 0 || over == len(w.Members)
}

// still reports whether nothing more comes of a member by itself.
func (t *Team) still(id event.AgentID) bool {
	m := t.member(id)
	return m == nil || m.Lost != nil || m.Turn == nil && !t.ready(m)
}

// quiet reports whether nobody is in a turn.
func (t *Team) quiet() bool {
	return !slices.ContainsFunc(t.s.Members, func(m *member) bool { return m.Turn != nil })
}

// stands is what a member does.
func (t *Team) stands(m *member) MemberState {
	switch u := m.Turn; {
	case m.Lost != nil:
		return Gone
	case u != nil && !u.Live:
		return Resting
	case u != nil && t.asking(m):
		return Asking
	case u != nil:
		return Working
	case m.asks(), m.Await != nil:
		return Waiting
	}
	return Idle
}

// asking reports whether a person is asked about something the member wants to do.
func (t *Team) asking(m *member) bool {
	return slices.ContainsFunc(t.s.Wishes.Wishes, func(w *dialog.Wish) bool { return w.Open() && w.Agent == m.ID })
}
