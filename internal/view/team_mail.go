package view

import (
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// Letter is the message of that id.
func (t Team) Letter(id string) (TeamMail, bool) {
	if i := t.letter(id); i >= 0 {
		return t.Mail[i], true
	}
	return TeamMail{}, false
}

// letter is the index of a message, -1 if there is none. What is looked for is
// nearly always among the newest.
func (t Team) letter(id string) int {
	for i := len(t.Mail) - 1; i >= 0; i-- {
		if t.Mail[i].ID == id {
			return i
		}
	}
	return -1
}

// Waiting reports whether somebody has not been told the message and still may.
func (m TeamMail) Waiting() bool {
	return slices.ContainsFunc(m.Fates, func(f TeamFate) bool { return f.waits() })
}

func (f TeamFate) waits() bool { return f.State == FateWaiting || f.State == FateQueued }

// Fate is what became of the message, in words: "delivered to pm; waits for qa".
func (m TeamMail) Fate() string {
	var out []string
	for _, c := range []struct {
		state Fate
		words string
	}{
		{FateDelivered, "delivered to "}, {FateQueued, "waits for "}, {FateWaiting, "on its way to "},
		{FateWithdrawn, "taken back from "}, {FateUndeliverable, "never reached "}, {FateRefused, "not taken for "},
	} {
		var who []string
		why := ""
		for _, f := range m.Fates {
			if f.State == c.state {
				who, why = append(who, OneLine(string(f.To))), f.Why
			}
		}
		if len(who) > 0 {
			out = append(out, c.words+and(who)+prefixed(": ", OneLine(why)))
		}
	}
	return strings.Join(out, "; ")
}

// post puts a message into the mailboxes of its recipients.
func (t Team) post(m TeamMail, state Fate) Team {
	m.Fates = nil
	m.To = once(m.To)
	for _, a := range m.To {
		f := TeamFate{To: a, State: state}
		if state == FateQueued {
			f.State = t.fateFor(a)
		}
		m.Fates = append(m.Fates, f)
	}
	if m.Kind != MailNotice { // whoever gets it has something to go on with
		t.Tasks = slices.Clone(t.Tasks)
		for i, x := range t.Tasks {
			t.Tasks[i].Stalled = x.Stalled && !slices.Contains(m.To, x.Owner)
		}
	}
	t.Mail = append(slices.Clip(t.Mail), m)
	if len(t.Mail) > maxTeamMail { // the oldest that everybody has
		i := slices.IndexFunc(t.Mail, func(m TeamMail) bool { return !m.Waiting() })
		t.Mail = dropped(t.Mail, max(i, 0))
	}
	return t.queued()
}

// once is a list without what stands in it again.
func once(list []event.AgentID) []event.AgentID {
	var out []event.AgentID
	for _, a := range list {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// fateFor is what becomes of a message that is taken in for somebody.
func (t Team) fateFor(a event.AgentID) Fate {
	if m, ok := t.Member(a); ok && m.Lost != "" || t.Ended != nil {
		return FateUndeliverable
	}
	return FateQueued
}

// fates changes what became of a message.
func (t Team) fates(id string, change func(*TeamFate)) Team {
	i := t.letter(id)
	if i < 0 {
		return t
	}
	t.Mail = slices.Clone(t.Mail)
	t.Mail[i].Fates = slices.Clone(t.Mail[i].Fates)
	for k := range t.Mail[i].Fates {
		change(&t.Mail[i].Fates[k])
	}
	return t.queued()
}

// queued counts what everybody has not been told yet.
func (t Team) queued() Team {
	n := map[event.AgentID]int{}
	for _, m := range t.Mail {
		for _, f := range m.Fates {
			if f.State == FateQueued {
				n[f.To]++
			}
		}
	}
	t.Members = slices.Clone(t.Members)
	for i, m := range t.Members {
		t.Members[i].Queued = n[m.Agent]
	}
	return t
}

// delivered notes that a member was told messages. A take that follows another
// repeats what that was told.
func (t Team) delivered(e event.Event, turn event.Turn, ids []string) Team {
	for _, id := range ids {
		t = t.fates(id, func(f *TeamFate) {
			if f.To == e.Agent && f.waits() {
				f.State, f.Turn, f.At = FateDelivered, turn, e.At
			}
		})
	}
	return t
}

// undeliverable gives up what some have not been told.
func (t Team) undeliverable(at time.Time, of func(TeamFate) bool, why string) Team {
	for _, m := range t.Mail {
		if !slices.ContainsFunc(m.Fates, func(f TeamFate) bool { return f.waits() && of(f) }) {
			continue
		}
		t = t.fates(m.ID, func(f *TeamFate) {
			if f.waits() && of(*f) {
				f.State, f.At, f.Why = FateUndeliverable, at, why
			}
		})
	}
	return t
}

// spoken shows what a person says at once, before there is a verdict.
func (t Team) spoken(e event.Event, f event.Messaged) Team {
	to := f.To
	if l, ok := t.Leader(); ok && len(to) == 0 {
		to = []event.AgentID{l.Agent}
	}
	return t.post(TeamMail{ID: e.ID, Seq: e.Seq, At: e.At, Kind: MailPerson, By: f.By, To: to, Text: f.Text}, FateWaiting)
}

// mailed takes in what a member has written to others.
func (t Team) mailed(e event.Event, f event.Mailed) Team {
	m := TeamMail{ID: e.ID, Seq: e.Seq, At: e.At, Kind: MailMessage, From: e.Agent, To: f.To, Text: f.Text}
	if f.Question {
		m.Kind = MailQuestion
		t = t.member(e.Agent, e.At, func(m *TeamMember) { m.Asked, m.Waits, m.All = true, f.To, false })
	}
	if l, ok := t.Leader(); ok && l.Agent == e.Agent {
		t = t.answered(e.At, f.To...)
	}
	return t.post(m, FateQueued)
}

// answered notes that somebody has written to them who can answer what they asked.
func (t Team) answered(at time.Time, to ...event.AgentID) Team {
	for _, a := range to {
		if m, ok := t.Member(a); ok && m.Asked {
			t = t.member(a, at, func(m *TeamMember) {
				if m.Asked = false; !m.Awaits {
					m.Waits = nil
				}
			})
		}
	}
	return t
}

// notified takes in what the program itself says to a member.
func (t Team) notified(e event.Event, f event.Notified) Team {
	if f.Code == event.NoticeWaited {
		t = t.member(f.To, e.At, func(m *TeamMember) { m.Awaits, m.Waits, m.All = false, nil, false })
	}
	if f.Code == event.NoticeStalled {
		t.Tasks = slices.Clone(t.Tasks)
		for i, x := range t.Tasks {
			t.Tasks[i].Stalled = x.Stalled || x.Owner == f.About && x.Open()
		}
	}
	return t.post(TeamMail{
		ID: e.ID, Seq: e.Seq, At: e.At, Kind: MailNotice, To: []event.AgentID{f.To}, Text: event.Inline(f.Text), Code: f.Code, About: f.About,
	}, FateQueued)
}
