package view

import (
	"slices"
	"strings"
	"time"

	"conclave/internal/event"
)

// MessagesVersion is the version of a marshalled [Messages].
const MessagesVersion = 1

// Messages is what people have said to the agents of a run, and what has become
// of it.
type Messages struct {
	All []Message `json:"all,omitempty"` // oldest first

	// What the fates follow from: everybody in label order, who is lost and who is
	// on a turn, and what waits for a verdict.
	Seats   []Reader        `json:"seats,omitempty"`
	Lost    []event.AgentID `json:"lost,omitempty"`
	Turns   Turns           `json:"turns,omitzero"`
	New     []string        `json:"new,omitempty"`  // messages
	Back    []Withdrawal    `json:"back,omitempty"` // to be taken back
	Settled bool            `json:"settled,omitempty"`
}

// A Message is something a person has said to agents.
type Message struct {
	ID   string          `json:"id"`
	Text event.Content   `json:"text"`
	To   []event.AgentID `json:"to,omitempty"` // as it was said; empty is everybody
	By   string          `json:"by,omitempty"`
	At   time.Time       `json:"at"`
	// Refused is why the run has not taken it in.
	Refused string `json:"refused,omitempty"`
	// Late: a winner was chosen before, so that no vote is out of date for it.
	Late bool `json:"late,omitempty"`
	// Readers are those it is for, in label order; none before it is taken in.
	Readers []Reader `json:"readers,omitempty"`
}

// A Reader is somebody a message is for, and what has become of it there.
type Reader struct {
	Agent event.AgentID `json:"agent"`
	Label event.Label   `json:"label"`
	Fate  Fate          `json:"fate,omitempty"`
	// Turn and At are of a message that was read: in which turn first, and when.
	Turn event.Turn `json:"turn,omitzero"`
	At   time.Time  `json:"at,omitzero"`
}

// A Fate is what has become of a message with one reader.
type Fate string

const (
	FateQueued    Fate = "queued"    // waits until the agent can read it
	FateRead      Fate = "read"      // by its model
	FateWithdrawn Fate = "withdrawn" // taken back before it was read
	FateMissed    Fate = "missed"    // the agent was lost before it could read it
	FateDeferred  Fate = "deferred"  // the run ended before anybody could
)

// A Withdrawal is a wish to take a message back.
type Withdrawal struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

// Find is the message of that id.
func (m Messages) Find(id string) (Message, bool) {
	if i := m.index(id); i >= 0 {
		return m.All[i], true
	}
	return Message{}, false
}

// Unread is what was said, taken in and has reached nobody, though it was not
// taken back: what a run that follows should be told.
func (m Messages) Unread() []event.Content {
	var out []event.Content
	for _, x := range m.All {
		if len(x.with(FateRead)) == 0 && len(x.with(FateWithdrawn)) < len(x.Readers) {
			out = append(out, x.Text)
		}
	}
	return out
}

// Waiting reports whether somebody has not read the message and still may.
func (x Message) Waiting() bool { return len(x.with(FateQueued)) > 0 }

// with names the readers of that fate.
func (x Message) with(f Fate) []string {
	var out []string
	for _, r := range x.Readers {
		if r.Fate == f {
			out = append(out, OneLine(string(r.Label)))
		}
	}
	return out
}

// Fate is what has become of the message, in words: "read by agent1 and agent3;
// waits for agent2".
func (x Message) Fate() string {
	switch {
	case x.Refused != "":
		return "not taken: " + OneLine(x.Refused)
	case len(x.Readers) == 0:
		return "on its way"
	}
	var out []string
	for _, c := range []struct {
		fate  Fate
		words string
	}{
		{FateRead, "read by "}, {FateQueued, "waits for "}, {FateWithdrawn, "taken back from "},
		{FateMissed, "never reached "}, {FateDeferred, "came too late for "},
	} {
		if who := x.with(c.fate); len(who) > 0 {
			out = append(out, c.words+and(who))
		}
	}
	return strings.Join(out, "; ")
}

// Apply returns m after e.
func (m Messages) Apply(e event.Event) Messages {
	turns := m.Turns.Apply(e)
	switch f := e.Body.(type) {
	case event.RunStarted:
		m = Messages{}
		for _, s := range f.Spec.Seats {
			m.Seats = append(m.Seats, Reader{Agent: s.Agent, Label: s.Label})
		}
	case event.Messaged:
		m.All = append(slices.Clip(m.All), Message{ID: e.ID, Text: f.Text, To: f.To, By: f.By, At: e.At})
		m.New = append(slices.Clip(m.New), e.ID)
	case event.Withdrawn:
		m.Back = append(slices.Clip(m.Back), Withdrawal{e.ID, f.Message})
	case event.Admitted:
		m = m.admitted(f.Ref)
	case event.Refused:
		m = m.refused(f)
	case event.Assigned:
		m = m.read(e, f.Turn, f.Messages)
	case event.Presenting:
		m = m.read(e, f.Turn, f.Messages)
	case event.Told:
		if m.Turns.Current(OpenTurn{e.Agent, f.Turn}) {
			m = m.read(e, f.Turn, f.Messages)
		}
	case event.Lost:
		m.Lost = append(slices.Clip(m.Lost), e.Agent)
		m = m.settle(FateMissed, func(r Reader) bool { return r.Agent == e.Agent })
	case event.Chosen:
		m.Settled = true
	case event.Finished:
		m = m.settle(FateDeferred, func(Reader) bool { return true })
	}
	m.Turns = turns
	return m
}

func (m Messages) index(id string) int {
	return slices.IndexFunc(m.All, func(x Message) bool { return x.ID == id })
}

// with changes one message in a copy.
func (m Messages) with(id string, change func(*Message)) Messages {
	i := m.index(id)
	if i < 0 {
		return m
	}
	m.All = slices.Clone(m.All)
	m.All[i].Readers = slices.Clone(m.All[i].Readers)
	change(&m.All[i])
	return m
}

// dropped is s without one item; without any it is nil, as it is read back.
func dropped[T any](s []T, i int) []T {
	if len(s) == 1 {
		return nil
	}
	return slices.Delete(slices.Clone(s), i, i+1)
}

// judged takes the id of a message that waited for a verdict.
func (m Messages) judged(id string) (Messages, bool) {
	i := slices.Index(m.New, id)
	if i < 0 {
		return m, false
	}
	m.New = dropped(m.New, i)
	return m, true
}

func (m Messages) admitted(ref string) Messages {
	m, message := m.judged(ref)
	if message {
		return m.with(ref, func(x *Message) {
			x.Late = m.Settled
			for _, s := range m.Seats {
				if !slices.Contains(m.Lost, s.Agent) && (len(x.To) == 0 || slices.Contains(x.To, s.Agent)) {
					x.Readers = append(x.Readers, Reader{Agent: s.Agent, Label: s.Label, Fate: FateQueued})
				}
			}
		})
	}
	i := slices.IndexFunc(m.Back, func(w Withdrawal) bool { return w.ID == ref })
	if i < 0 {
		return m
	}
	back := m.Back[i].Message
	m.Back = dropped(m.Back, i)
	return m.with(back, func(x *Message) {
		for i := range x.Readers {
			if f := x.Readers[i].Fate; f == FateQueued || f == FateMissed {
				x.Readers[i].Fate = FateWithdrawn
			}
		}
	})
}

func (m Messages) refused(f event.Refused) Messages {
	m, message := m.judged(f.Ref)
	if message {
		return m.with(f.Ref, func(x *Message) { x.Refused = f.Why })
	}
	if i := slices.IndexFunc(m.Back, func(w Withdrawal) bool { return w.ID == f.Ref }); i >= 0 {
		m.Back = dropped(m.Back, i)
	}
	return m
}

// read notes that an agent has read messages in its turn. One that was taken
// back before does not count.
func (m Messages) read(e event.Event, t event.Turn, ids []string) Messages {
	for _, id := range ids {
		m = m.with(id, func(x *Message) {
			for i, r := range x.Readers {
				if r.Agent == e.Agent && r.Fate == FateQueued {
					x.Readers[i].Fate, x.Readers[i].Turn, x.Readers[i].At = FateRead, t, e.At
				}
			}
		})
	}
	return m
}

// settle gives those who still wait a fate.
func (m Messages) settle(f Fate, of func(Reader) bool) Messages {
	for _, x := range m.All {
		if !slices.ContainsFunc(x.Readers, func(r Reader) bool { return r.Fate == FateQueued && of(r) }) {
			continue
		}
		m = m.with(x.ID, func(x *Message) {
			for i, r := range x.Readers {
				if r.Fate == FateQueued && of(r) {
					x.Readers[i].Fate = f
				}
			}
		})
	}
	return m
}

// heeded reports whether a vote cast in that turn knew of every message to the
// voter.
func (m Messages) heeded(a event.AgentID, t event.Turn) bool {
	for _, x := range m.All {
		for _, r := range x.Readers {
			if r.Agent != a || r.Fate == FateWithdrawn || x.Late {
				continue
			}
			if r.Fate != FateRead || r.Turn.Round > t.Round || r.Turn.Round == t.Round && r.Turn.Take > t.Take {
				return false
			}
		}
	}
	return true
}
