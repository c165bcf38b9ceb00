package view

import "conclave/internal/event"

// SnapshotVersion is the version of a marshalled [Snapshot]. It changes with
// that of anything in it.
const SnapshotVersion = CardVersion + ResultVersion + SessionVersion + JobVersion + TeamVersion

// A Snapshot is what a window on a run or a session shows first: its card and
// what it has come to so far, after Seq events. Kept as a checkpoint it opens a long run
// without reading all of it.
type Snapshot struct {
	Seq    uint64 `json:"seq"`
	Card   Card   `json:"card"`
	Result Result `json:"result"`
	// Session is what a session has come to; nil for a run.
	Session *Session `json:"session,omitempty"`
	// Job is how a job stands; nil for anything else.
	Job *Job `json:"job,omitempty"`
	// Team is how a team stands; nil for anything else.
	Team *Team `json:"team,omitempty"`
}

// Apply returns the snapshot after one more event.
func (s Snapshot) Apply(e event.Event) Snapshot {
	out := Snapshot{Seq: e.Seq, Card: s.Card.Apply(e), Result: s.Result.Apply(e)}
	if _, begins := e.Body.(event.SessionStarted); begins || s.Session != nil {
		var now Session
		if s.Session != nil {
			now = *s.Session
		}
		now = now.Apply(e)
		out.Session = &now
	}
	if _, begins := e.Body.(event.JobStarted); begins || s.Job != nil {
		var now Job
		if s.Job != nil {
			now = *s.Job
		}
		now = now.Apply(e)
		out.Job = &now
	}
	if _, begins := e.Body.(event.TeamStarted); begins || s.Team != nil {
		var now Team
		if s.Team != nil {
			now = *s.Team
		}
		now = now.Apply(e)
		out.Team = &now
	}
	return out
}

// Gates are what waits for a person, whatever kind of flow it is.
func (s Snapshot) Gates() []Gate {
	switch {
	case s.Job != nil:
		return s.Job.Gates
	case s.Team != nil:
		return s.Team.Gates
	}
	return s.Card.Gates
}
