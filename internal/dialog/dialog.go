// Package dialog is the conversation of one agent with whoever it works for, as
// deciders keep it: what was said to it, what it said and called, what came back,
// and what of that was put into fewer words; the turns it takes, what they spend,
// and what it asks to be allowed. Sessions and jobs are built on it.
package dialog

import (
	"time"

	"conclave/internal/event"
)

// An Entry is one thing in the conversation as its agent knows it: exactly one of
// the pointers is set.
type Entry struct {
	ID   string     `json:"id"` // of the fact
	At   time.Time  `json:"at"`
	Turn event.Turn `json:"turn,omitzero"` // in which the agent heard or said it
	// Said is something a person said, once the agent hears it.
	Said *event.Said `json:"said,omitempty"`
	// Briefed is what a job tells its agent.
	Briefed *event.Briefed `json:"briefed,omitempty"`
	// Called is what the agent said, with the calls it made.
	Called *event.Called `json:"called,omitempty"`
	// Cut: it was saying that when a person stopped it.
	Cut bool `json:"cut,omitempty"`
	// Returned is what one of those calls gave back; Run is the run it is the
	// result of, if it is one of launch_run.
	Returned *event.ToolReturned `json:"returned,omitempty"`
	Run      event.FlowID        `json:"run,omitempty"`
	// Ended is what a run has come to that nobody waited for any more: the turn
	// that wanted it, with Call, was over before it had taken the result in.
	Ended *event.Returned `json:"ended,omitempty"`
	Call  string          `json:"call,omitempty"`
	// Pinned: it stays word for word.
	Pinned bool `json:"pinned,omitempty"`
}

// A Part is what an agent that takes a turn is told of its conversation. None of
// it is changed afterwards.
type Part struct {
	// Summary stands for everything before History; nil if nothing is left out.
	// Pins are the entries among that which stay word for word, oldest first.
	Summary *event.Compacted
	Pins    []Entry
	// History is the conversation since then, this turn's part included: what was
	// said in it, and, if it was cut, what the agent has called and what came
	// back. A call in its last Called without a Returned was cut off.
	History []Entry
}
