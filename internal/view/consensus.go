package view

import "conclave/internal/event"

// An Arrow is one voter on the map of a vote: from whom, to whom, and whether it
// holds.
type Arrow struct {
	From      event.AgentID `json:"from"`
	FromLabel event.Label   `json:"from_label"`
	// To is empty while there is no vote.
	To      event.AgentID `json:"to,omitempty"`
	ToLabel event.Label   `json:"to_label,omitempty"`
	State   ArrowState    `json:"state"`
	// Counts: it is in the tally. A stale one is, if the run was stopped with
	// nothing better.
	Counts bool   `json:"counts,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// An ArrowState is how a voter stands.
type ArrowState string

const (
	ArrowFresh   ArrowState = "fresh"   // its vote has seen everything
	ArrowStale   ArrowState = "stale"   // its vote has missed something since
	ArrowWaiting ArrowState = "waiting" // it has no vote in
	ArrowLost    ArrowState = "lost"    // it has none in and will not vote
)

// Map is who points at whom, in label order; nil where nobody is asked to vote.
func (b Ballot) Map() []Arrow {
	if b.NoVoting {
		return nil
	}
	var out []Arrow
	for _, v := range b.Voters {
		a := Arrow{From: v.Agent, FromLabel: v.Label, State: ArrowWaiting}
		switch p := v.Vote; {
		case p != nil:
			a.To, a.ToLabel, a.Reason, a.Counts = p.For, p.ForLabel, p.Reason, b.Counts(v)
			a.State = ArrowStale
			if p.Fresh {
				a.State = ArrowFresh
			}
		case v.Lost:
			a.State = ArrowLost
		}
		out = append(out, a)
	}
	return out
}
