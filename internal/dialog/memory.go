package dialog

import (
	"slices"

	"conclave/internal/event"
)

// Memory is the conversation as far as its agent still knows it. What was given to
// a command is not changed afterwards: lists grow at their ends, and where
// something inside one changes it is another list from then on.
type Memory struct {
	// Summary stands for what is before History, and Pins are what of that stays.
	Summary *event.Compacted `json:"summary,omitempty"`
	Pins    []Entry          `json:"pins,omitempty"`
	History []Entry          `json:"history,omitempty"`
}

// Remember puts something at the end of the conversation. What was sent with a call
// is in the log, for whoever wants to see it; the conversation is made without.
func (m *Memory) Remember(x Entry) {
	if x.Called != nil && x.Called.Sent != nil {
		called := *x.Called
		called.Sent = nil
		x.Called = &called
	}
	m.History = append(m.History, x)
}

// Compact puts a summary in the place of the conversation up to a fact. What is
// pinned in that stays word for word. A summary that covers nothing of what is
// there changes nothing.
func (m *Memory) Compact(b event.Compacted) {
	i := slices.IndexFunc(m.History, func(x Entry) bool { return x.ID == b.Through })
	if i < 0 {
		return
	}
	pins := slices.Clone(m.Pins)
	for _, x := range m.History[:i+1] {
		if x.Pinned {
			pins = append(pins, x)
		}
	}
	m.Summary, m.Pins, m.History = &b, pins, slices.Clone(m.History[i+1:])
}

// Part is what an agent that takes a turn now is told of it.
func (m *Memory) Part() Part {
	return Part{Summary: m.Summary, Pins: slices.Clip(m.Pins), History: slices.Clip(m.History)}
}
