package view

import (
	"slices"

	"conclave/internal/event"
)

// BallotVersion is the version of a marshalled [Ballot].
const BallotVersion = 3

// A Ballot is who votes for whom and which of the votes count as things stand.
type Ballot struct {
	Rule event.VotingRule `json:"rule,omitempty"`
	// Single: there is one agent, whose vote means that it is done.
	Single bool `json:"single,omitempty"`
	// Unseen: agents work without seeing each other and votes never go stale.
	Unseen bool `json:"unseen,omitempty"`
	// NoVoting: nobody is asked to vote.
	NoVoting bool `json:"no_voting,omitempty"`

	// Voters are the participants in label order.
	Voters []Voter `json:"voters,omitempty"`

	Turns Turns `json:"turns"`
	// Messages are what people have said to voters: a vote that was cast without
	// knowing of one is out of date.
	Messages Messages `json:"messages,omitzero"`

	// What the votes come to. All of it follows from Voters.
	Fresh   int             `json:"fresh"`             // votes that are up to date
	Stale   int             `json:"stale"`             // votes that have missed an answer
	Tally   []Score         `json:"tally,omitempty"`   // of the votes that count, best first
	Leaders []event.AgentID `json:"leaders,omitempty"` // one, or those level at the top
	Margin  int             `json:"margin"`            // points ahead of the second

	// Chosen is how the vote was settled, once it was.
	Chosen *event.Chosen `json:"chosen,omitempty"`
	// Winner is who was chosen, or whom a person picked instead.
	Winner event.AgentID `json:"winner,omitempty"`
	// Status is set when the run is over.
	Status event.Status `json:"status,omitempty"`
	// Gate is the open question whether to override the winner.
	Gate string `json:"gate,omitempty"`
}

// A Voter is one participant as voter and as candidate.
type Voter struct {
	Agent event.AgentID `json:"agent"`
	Label event.Label   `json:"label"`
	// Revision is its newest answer; zero is none.
	Revision int `json:"revision,omitempty"`
	// Busy: it is on a turn.
	Busy bool `json:"busy,omitempty"`
	Lost bool `json:"lost,omitempty"`
	// Stopped: a person had it lost.
	Stopped bool   `json:"stopped,omitempty"`
	Vote    *Paper `json:"vote,omitempty"`
}

// A Paper is the vote that an agent has in.
type Paper struct {
	For      event.AgentID   `json:"for"`
	ForLabel event.Label     `json:"for_label"`
	Reason   string          `json:"reason,omitempty"`
	Ranking  []event.AgentID `json:"ranking,omitempty"`
	Turn     event.Turn      `json:"turn,omitzero"`
	Seen     event.Seen      `json:"seen,omitempty"`
	Closing  bool            `json:"closing,omitempty"`
	// Fresh: it has seen the newest answer of everybody, or need not have, and
	// its voter had read what people have said to it.
	Fresh bool `json:"fresh"`
}

// A Score is what one candidate has.
type Score struct {
	Agent  event.AgentID `json:"agent"`
	Label  event.Label   `json:"label"`
	Points int           `json:"points"`
}

// Apply returns b after e.
func (b Ballot) Apply(e event.Event) Ballot {
	turns := b.Turns.Apply(e)
	moved := !slices.Equal(turns.Open, b.Turns.Open)
	messages := b.Messages.Apply(e)
	switch f := e.Body.(type) {
	case event.RunStarted:
		b = opened(f)
	case event.Assigned, event.Presenting:
		b = b.with(e.Agent, func(*Voter) {})
	case event.Answered:
		b = b.with(e.Agent, func(v *Voter) { v.Vote, v.Revision = nil, max(v.Revision, f.Revision, 1) })
	case event.Voted:
		p := &Paper{For: f.For, Reason: f.Reason, Ranking: f.Ranking, Turn: f.Turn, Seen: f.Seen, Closing: f.Closing}
		b = b.with(e.Agent, func(v *Voter) { v.Vote = p })
	case event.Lost:
		b = b.with(e.Agent, func(v *Voter) { v.Lost, v.Stopped = true, f.Code == event.LostStopped })
	case event.Chosen:
		b.Chosen, b.Winner = &f, f.Winner
	case event.Asked:
		if f.Kind == event.GateOverride {
			b.Gate = f.Gate
		}
	case event.Closed:
		b = b.closed(f)
	case event.Finished:
		b = b.finished(f)
	case event.Admitted, event.Told: // a message may have come or been read
	default:
		if !moved {
			b.Turns, b.Messages = turns, messages
			return b
		}
	}
	b.Turns, b.Messages = turns, messages
	return b.counted()
}

func opened(f event.RunStarted) Ballot {
	b := Ballot{
		Rule:     f.Rules.VotingRule,
		Single:   f.Rules.Single,
		Unseen:   f.Rules.DisableInjection,
		NoVoting: f.Rules.SkipVoting,
	}
	for _, s := range f.Spec.Seats {
		b.Voters = append(b.Voters, Voter{Agent: s.Agent, Label: s.Label})
	}
	return b
}

// closed takes in a person's pick of another winner.
func (b Ballot) closed(f event.Closed) Ballot {
	if b.Gate == "" || f.Gate != b.Gate {
		return b
	}
	b.Gate = ""
	for _, v := range b.Voters {
		if f.Choice == string(v.Agent) || f.Choice == string(v.Label) {
			b.Winner = v.Agent
			break
		}
	}
	return b
}

func (b Ballot) finished(f event.Finished) Ballot {
	b.Status, b.Gate = f.Status, ""
	if f.Winner != "" {
		b.Winner = f.Winner
	}
	return b
}

// with changes one voter in a copy. An agent nobody has heard of gets a seat: a
// log that lost its beginning still shows something.
func (b Ballot) with(a event.AgentID, change func(*Voter)) Ballot {
	if a == "" {
		return b
	}
	b.Voters = slices.Clone(b.Voters)
	i := b.index(a)
	if i < 0 {
		i = len(b.Voters)
		b.Voters = append(b.Voters, Voter{Agent: a, Label: event.Label(a)})
	}
	change(&b.Voters[i])
	return b
}

func (b Ballot) index(a event.AgentID) int {
	return slices.IndexFunc(b.Voters, func(v Voter) bool { return v.Agent == a })
}

// voter is the one called a, if there is one.
func (b Ballot) voter(a event.AgentID) (Voter, bool) {
	if i := b.index(a); i >= 0 {
		return b.Voters[i], true
	}
	return Voter{}, false
}

// label is how a is called in this run.
func (b Ballot) label(a event.AgentID) event.Label {
	if v, ok := b.voter(a); ok && v.Label != "" {
		return v.Label
	}
	return event.Label(a)
}
