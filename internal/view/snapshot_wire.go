package view

import "encoding/json"

// The JSON of a snapshot is that of its fields. It is written and read by way of
// plain slices all the same: each list inside another one that reads itself is
// looked through twice more for where it ends, and a conversation is long.

type wireSnapshot struct {
	plainSnapshot
	Session *wireSession `json:"session,omitempty"`
}

type wireSession struct {
	plainSession
	Turns []wireTurn `json:"turns,omitempty"`
}

type wireTurn struct {
	plainTurn
	Steps []SessionStep `json:"steps,omitempty"`
}

type (
	plainSnapshot Snapshot
	plainSession  Session
	plainTurn     SessionTurn
)

// Encode is the snapshot as JSON, for [DecodeSnapshot].
func (s Snapshot) Encode() ([]byte, error) {
	out := wireSnapshot{plainSnapshot: plainSnapshot(s)}
	if s.Session != nil {
		out.Session = &wireSession{plainSession: plainSession(*s.Session), Turns: make([]wireTurn, 0, s.Session.Turns.Len())}
		for _, t := range s.Session.Turns.All(0) {
			out.Session.Turns = append(out.Session.Turns, wireTurn{plainTurn(t), t.Steps.slice()})
		}
	}
	return json.Marshal(out)
}

// DecodeSnapshot reads what [Snapshot.Encode] wrote.
func DecodeSnapshot(p []byte) (Snapshot, error) {
	var in wireSnapshot
	if err := json.Unmarshal(p, &in); err != nil {
		return Snapshot{}, err
	}
	s := Snapshot(in.plainSnapshot)
	if in.Session != nil {
		now := Session(in.Session.plainSession)
		for _, t := range in.Session.Turns {
			turn := SessionTurn(t.plainTurn)
			turn.Steps = ListOf(t.Steps...)
			now.Turns = now.Turns.push(turn)
		}
		s.Session = &now
	}
	return s, nil
}
