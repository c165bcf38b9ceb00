package view

import "conclave/internal/event"

// SnapshotVersion is the version of a marshalled [Snapshot]. It changes with
// that of anything in it.
const SnapshotVersion = CardVersion + ResultVersion

// A Snapshot is what a window on a run shows first: its card and what it has
// come to so far, after Seq events. Kept as a checkpoint it opens a long run
// without reading all of it.
type Snapshot struct {
	Seq    uint64 `json:"seq"`
	Card   Card   `json:"card"`
	Result Result `json:"result"`
}

// Apply returns the snapshot after one more event.
func (s Snapshot) Apply(e event.Event) Snapshot {
	return Snapshot{Seq: e.Seq, Card: s.Card.Apply(e), Result: s.Result.Apply(e)}
}
