package coord

import (
	"fmt"

	"conclave/internal/event"
)

// A question that somebody is reading does not expire. Its beginning moves along
// meanwhile, so that it goes on with what was left.

// judgeHold takes who reads a question, as long as it is open.
func (r *Run) judgeHold(p event.Held) *verdict {
	if r.question(p.Gate) == nil {
		return &verdict{code: codeGate, why: fmt.Sprintf("%q is not being asked", p.Gate)}
	}
	return nil
}

// hold lets time pass that does not count for questions being read.
func (r *Run) hold(passed duration) {
	for _, g := range r.questions() {
		if g.Held {
			g.Since += passed
		}
	}
}

// release forgets who reads: a driver that takes the run up cannot know whether
// they are still there.
func (r *Run) release() {
	for _, g := range r.questions() {
		g.Held = false
	}
}

// question is the open gate of that name, or nil.
func (r *Run) question(gate string) *gate {
	for _, g := range r.questions() {
		if g.Gate == gate {
			return g
		}
	}
	return nil
}
