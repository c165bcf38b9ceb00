package proc

import (
	"fmt"
	"sync/atomic"
)

// An Identity is one process among all that ever were: a pid is used again, the
// time of birth is not.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // ticks since the machine started
	Boot  string `json:"boot"`  // which start of the machine
	Space string `json:"space"` // the namespace pids count in
}

// Alive reports whether the process is there. One that ended and was not waited
// for by its parent is not.
func (i Identity) Alive() bool {
	now, err := Of(i.PID)
	return err == nil && now == i
}

// counter tells apart the processes that this one starts.
var counter atomic.Uint64

// newMark is a mark nobody else has: it names this process and counts.
func newMark() string {
	self, _ := Self()
	return fmt.Sprintf("%d.%d.%d", self.PID, self.Start, counter.Add(1))
}
