package coord

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
)

// message is what a person has said to agents.
type message struct {
	ID   string        `json:"id"`
	Text event.Content `json:"text"`
	By   string        `json:"by,omitempty"`
	// For are those it is for, in label order: whoever it was taken back from is
	// not among them any more.
	For  []event.AgentID `json:"for"`
	Read []reading       `json:"read,omitempty"`
}

// reading is when somebody has first read a message.
type reading struct {
	Agent event.AgentID `json:"agent"`
	event.Turn
}

func (x *message) reading(a event.AgentID) (event.Turn, bool) {
	for _, y := range x.Read {
		if y.Agent == a {
			return y.Turn, true
		}
	}
	return event.Turn{}, false
}

// judgeMessage takes a message while somebody will still read it.
func (r *Run) judgeMessage(p event.Messaged) *verdict {
	switch {
	case r.s.Ending != nil:
		return &verdict{code: codeOver, why: "the run is ending; nobody reads messages any more"}
	case p.Text.Blob == "" && strings.TrimSpace(p.Text.Text) == "":
		return &verdict{code: codeEmpty, why: "the message is empty"}
	}
	for _, id := range p.To {
		if v := r.reader(id); v != nil {
			return v
		}
	}
	if len(p.To) == 0 && !slices.ContainsFunc(r.s.Members, r.reads) {
		return &verdict{code: codeOver, why: "the answer is chosen and nobody reads messages any more"}
	}
	return nil
}

// reader says why an agent will not read a message.
func (r *Run) reader(id event.AgentID) *verdict {
	m := r.member(id)
	switch {
	case m == nil:
		return r.noAgent(id)
	case m.Lost != nil:
		return &verdict{code: codeLost, why: fmt.Sprintf("%s is lost and reads nothing any more", m.Label)}
	case !r.reads(m):
		return &verdict{code: codeOver, why: fmt.Sprintf("the answer is chosen; %s reads nothing any more", m.Label)}
	}
	return nil
}

func (r *Run) noAgent(id event.AgentID) *verdict {
	var names []string
	for _, m := range r.s.Members {
		names = append(names, string(m.ID))
	}
	return &verdict{code: codeUnknown, why: fmt.Sprintf("there is no agent %q; there are: %s", id, strings.Join(names, ", "))}
}

// reads reports whether m may still get to read a message: once a winner is
// chosen, only whoever presents does.
func (r *Run) reads(m *member) bool {
	switch {
	case m.Lost != nil || r.settling():
		return false
	case r.s.Chosen == nil || m.Turn != nil:
		return true
	}
	return r.presents() && !r.working() && slices.Contains(r.s.Chosen.Order, m.ID)
}

// say keeps a message and tells those who are in the middle of a turn.
func (r *Run) say(id string, p event.Messaged) []flow.Command {
	x := &message{ID: id, Text: p.Text, By: p.By}
	r.s.Messages = append(r.s.Messages, x)
	var do []flow.Command
	for _, m := range r.s.Members {
		if m.Lost != nil || len(p.To) > 0 && !slices.Contains(p.To, m.ID) {
			continue
		}
		x.For = append(x.For, m.ID)
		do = append(do, r.tell(m, Note{Kind: NoteMessage, Said: x.said()})...)
	}
	return do
}

func (x *message) said() Message { return Message{x.ID, x.Text, x.By} }

// tell gives a note to m if it is in the middle of a turn.
func (r *Run) tell(m *member, n Note) []flow.Command {
	if m.Turn == nil {
		return nil
	}
	return []flow.Command{flow.Tell{Work: m.Turn.Key(m.ID), Note: n}}
}

func (r *Run) message(id string) *message {
	for _, x := range r.s.Messages {
		if x.ID == id {
			return x
		}
	}
	return nil
}

func (r *Run) judgeWithdrawal(p event.Withdrawn) *verdict {
	x := r.message(p.Message)
	if x == nil {
		return &verdict{code: codeMessage, why: fmt.Sprintf("there is no message %q", p.Message)}
	}
	if len(x.Read) == len(x.For) {
		if len(x.For) == 0 {
			return &verdict{code: codeAlready, why: "the message is taken back already"}
		}
		return &verdict{code: codeMessage, why: "everybody it was for has read the message"}
	}
	return nil
}

// withdraw takes a message back from those who have not read it.
func (r *Run) withdraw(p event.Withdrawn) []flow.Command {
	x := r.message(p.Message)
	if x == nil {
		return nil // a damaged log; Check says so
	}
	var do []flow.Command
	x.For = slices.DeleteFunc(x.For, func(a event.AgentID) bool {
		_, has := x.reading(a)
		if !has {
			do = append(do, r.tell(r.member(a), Note{Kind: NoteTakenBack, Said: x.said()})...)
		}
		return !has
	})
	return do
}

// read notes that m has read messages in its turn. One that was taken back in
// the meantime does not count.
func (r *Run) read(m *member, ids []string) {
	for _, id := range ids {
		x := r.message(id)
		if x == nil || !slices.Contains(x.For, m.ID) {
			continue
		}
		if _, again := x.reading(m.ID); !again {
			x.Read = append(x.Read, reading{m.ID, m.Turn.Turn})
		}
	}
}

// addressed are the messages to m. A turn is a conversation of its own, so it
// begins with all of them.
func (r *Run) addressed(m *member) []string {
	var out []string
	for _, x := range r.s.Messages {
		if slices.Contains(x.For, m.ID) {
			out = append(out, x.ID)
		}
	}
	return out
}

// said is what a turn of m's that begins now is told. Those which came after
// the turn was assigned come as notes.
func (r *Run) said(m *member) []Message {
	var out []Message
	for _, x := range r.s.Messages {
		if _, has := x.reading(m.ID); has && slices.Contains(x.For, m.ID) {
			out = append(out, x.said())
		}
	}
	return out
}

// unread reports whether there is a message that m has not read.
func (r *Run) unread(m *member) bool {
	return slices.ContainsFunc(r.s.Messages, func(x *message) bool {
		_, has := x.reading(m.ID)
		return !has && slices.Contains(x.For, m.ID)
	})
}

// heeds reports whether m had read every message to it when it voted.
func (r *Run) heeds(m *member) bool {
	for _, x := range r.s.Messages {
		t, has := x.reading(m.ID)
		if slices.Contains(x.For, m.ID) && (!has || later(t, m.Vote.Turn)) {
			return false
		}
	}
	return true
}

func later(a, b event.Turn) bool {
	return a.Round > b.Round || a.Round == b.Round && a.Take > b.Take
}
