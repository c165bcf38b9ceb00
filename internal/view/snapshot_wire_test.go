package view_test

import (
	"encoding/json"
	"testing"

	"conclave/internal/view"
)

// What Encode writes is the JSON of a snapshot, and DecodeSnapshot reads that:
// checkpoints of either way are good for the other.
func TestSnapshotWire(t *testing.T) {
	for _, f := range fixtures(t) {
		var s view.Snapshot
		for _, e := range f.log {
			s = s.Apply(e)
		}
		want := marshal(t, s)
		p, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var plain view.Snapshot
		if err := json.Unmarshal(p, &plain); err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, plain); got != want {
			t.Errorf("%s: encoded as %s\nwant %s", f.name, got, want)
		}
		back, err := view.DecodeSnapshot([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, back); got != want {
			t.Errorf("%s: decoded as %s\nwant %s", f.name, got, want)
		}
	}
	if _, err := view.DecodeSnapshot([]byte("{")); err == nil {
		t.Error("half a snapshot was taken")
	}
}
