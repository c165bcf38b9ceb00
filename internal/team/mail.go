package team

import (
	"slices"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// post puts a message into a mailbox. Whoever is in the middle of a turn is told;
// if the turn ends before it hears of it, it begins the next.
func (t *Team) post(m *member, x Mail) []flow.Command {
	if m == nil || m.Lost != nil {
		return nil // nobody is there to read it
	}
	m.Box = append(m.Box, x) // whoever has read it has it clipped
	if x.Kind != MailNotice {
		m.Reminded, m.Stalled = 0, false
	}
	if u := m.Turn; u != nil && u.listens() {
		return []flow.Command{u.tellOf(x)}
	}
	return nil
}

// tellOf tells a take that goes on of a message.
func (u *turn) tellOf(x Mail) flow.Command { return u.tell(Note{Kind: NoteMail, Mail: &x}) }

// tellHeld tells a take that begins of what came after its turn had begun.
func (m *member) tellHeld() []flow.Command {
	var do []flow.Command
	for _, x := range m.Box {
		do = append(do, m.Turn.tellOf(x))
	}
	return do
}

// unread reports whether all of some messages are in a mailbox: none of them was
// told, and none taken back. What is told is in words first ([event.Briefed]), and
// noted as told right after that, with nothing in between.
func (m *member) unread(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		return !slices.ContainsFunc(m.Box, func(x Mail) bool { return x.ID == id })
	})
}

// hear takes messages out of a mailbox, in the order in which they are named, and
// returns them. What was taken back meanwhile is not there.
func (t *Team) hear(m *member, ids []string) []Mail {
	var out []Mail
	for _, id := range ids {
		i := slices.IndexFunc(m.Box, func(x Mail) bool { return x.ID == id })
		if i < 0 {
			continue
		}
		if out = append(out, m.Box[i]); m.Box[i].Kind == MailPerson {
			t.read(id, m.ID)
		}
		m.Box = without(m.Box, i)
	}
	if m.Turn != nil {
		for _, x := range out {
			if x.Kind == MailQuestion {
				m.Turn.Questions = append(m.Turn.Questions, x.ID)
			}
		}
	}
	return out
}

// read is who has read a message of a person.
type read struct {
	ID string          `json:"id"`
	By []event.AgentID `json:"by"`
}

// mostRead is how many messages of people it is known of by whom they were read.
const mostRead = 64

// read notes that somebody has read a message of a person: it cannot be taken back
// from it any more.
func (t *Team) read(id string, by event.AgentID) {
	if t.rules().Version < 2 {
		return
	}
	i := slices.IndexFunc(t.s.Read, func(x read) bool { return x.ID == id })
	if i < 0 {
		t.s.Read = dialog.Newest(append(slices.Clip(t.s.Read), read{id, []event.AgentID{by}}), mostRead, func(read) bool { return false })
		return
	}
	t.s.Read = slices.Clone(t.s.Read)
	t.s.Read[i].By = append(slices.Clip(t.s.Read[i].By), by)
}

// readers are those who have read a message of a person.
func (t *Team) readers(id string) []event.AgentID {
	for _, x := range t.s.Read {
		if x.ID == id {
			return x.By
		}
	}
	return nil
}

// without is a mailbox without one of its messages. Those that have read it still
// have it; most often it is the oldest.
func without(box []Mail, i int) []Mail {
	if i == 0 {
		return box[1:]
	}
	return slices.Delete(slices.Clone(box), i, i+1)
}

// mailed puts a message of a member into the mailboxes of its recipients. What the
// leader writes to somebody who has asked is the answer.
func (t *Team) mailed(e event.Event, b event.Mailed) []flow.Command {
	x := Mail{ID: e.ID, At: e.At, Kind: MailMessage, From: e.Agent, Text: b.Text}
	from := t.member(e.Agent)
	if b.Question {
		x.Kind = MailQuestion
		from.Question = &question{ID: e.ID}
	}
	var do []flow.Command
	for _, id := range once(b.To) {
		m := t.member(id)
		if m != nil && t.leads(from) {
			m.answered()
		}
		do = append(do, t.post(m, x)...)
	}
	return do
}

// answered notes that somebody has written to it who can answer what it asked.
func (m *member) answered() {
	if m.Question != nil {
		m.Question.Answered = true
	}
}

// messaged puts what a person says into mailboxes.
func (t *Team) messaged(e event.Event, b event.Messaged) []flow.Command {
	var do []flow.Command
	for _, id := range t.recipients(b) {
		m := t.member(id)
		if m == nil {
			continue // a damaged log; Check says so
		}
		m.answered()
		do = append(do, t.post(m, Mail{ID: e.ID, At: e.At, Kind: MailPerson, By: b.By, Text: b.Text})...)
	}
	return do
}

// recipients are those a person speaks to: the leader if nobody is named.
func (t *Team) recipients(b event.Messaged) []event.AgentID {
	if len(b.To) == 0 {
		return []event.AgentID{t.leader().ID}
	}
	return once(b.To)
}

// withdraw takes a message of a person back from those who were not told it yet.
func (t *Team) withdraw(id string) []flow.Command {
	var do []flow.Command
	for _, m := range t.s.Members {
		if len(m.back(id)) == 0 {
			continue
		}
		m.Box = slices.DeleteFunc(slices.Clone(m.Box), func(x Mail) bool { return x.ID == id })
		if u := m.Turn; u != nil && u.listens() {
			do = append(do, u.tell(Note{Kind: NoteTakenBack, Back: id}))
		}
	}
	return do
}

// back is the message of a person that can be taken back from a mailbox.
func (m *member) back(id string) []Mail {
	i := slices.IndexFunc(m.Box, func(x Mail) bool { return x.ID == id && x.Kind == MailPerson })
	if i < 0 {
		return nil
	}
	return m.Box[i : i+1]
}

func ids(list []Mail) []string {
	var out []string
	for _, x := range list {
		out = append(out, x.ID)
	}
	return out
}

// matters reports whether a message is to be read before the team is over: what
// somebody has said, and not what the program says of how things stand.
func (x Mail) matters() bool { return x.Kind != MailNotice }

// once is a list without what stands in it again.
func once(list []event.AgentID) []event.AgentID {
	var out []event.AgentID
	for _, id := range list {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
