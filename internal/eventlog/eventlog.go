// Package eventlog is the seam to the durable record of every flow.
//
// A [Log] holds the events of many flows, the blobs they name and an inbox per
// flow. Anyone may read, follow and send; only the holder of a flow's [Lease]
// may commit to it. What Commit has returned nil for is durable; what it has
// returned an error for is not in the log, unless the error wraps [ErrUnknown].
//
// The meaning of all this is the suite in eventlogtest; engines live in the
// folders beside it. A Log is safe for concurrent use.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"conclave/internal/event"
)

// A Log is a set of flows, each an ordered list of events.
type Log interface {
	// Commit appends events, all of one flow, in one transaction: all of them
	// or none. They must follow the flow's last event without a gap. Events the
	// log already holds under the same ids and numbers, with the same bodies,
	// change nothing; another body under a known id is ErrConflict, another
	// number is ErrGap. Inbox entries with the id of a committed event leave the
	// inbox in the same transaction. Commit fills in Pos. A lease that was
	// released or taken over is ErrSuperseded.
	Commit(ctx context.Context, l Lease, events []event.Event) error

	// Read yields the events of a flow from the given number on, up to what is
	// there now. A flow that does not exist is ErrNotFound.
	Read(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error]

	// Follow is Read that goes on, without a gap, with what anybody commits
	// later in any process. It waits for a flow that does not exist yet. The end
	// of ctx ends it without an error; Close ends it with ErrClosed.
	Follow(ctx context.Context, flow event.FlowID, from uint64) iter.Seq2[event.Event, error]

	// Flows lists every flow, the one with the newest event first.
	Flows(ctx context.Context) ([]Flow, error)

	// Send puts a fact into a flow's inbox, durably. Sending the same fact
	// again changes nothing; another body under its id is ErrConflict. A flow
	// that does not exist is ErrNotFound.
	Send(ctx context.Context, flow event.FlowID, f event.Fact) error

	// Inbox yields what was sent to a flow and is not in its log, oldest first,
	// and goes on with what is sent later. It ends as Follow does. One call
	// yields an entry once.
	Inbox(ctx context.Context, flow event.FlowID) iter.Seq2[event.Fact, error]

	// Unheard is Inbox that ends with what is there now.
	Unheard(ctx context.Context, flow event.FlowID) iter.Seq2[event.Fact, error]

	// Acquire makes the caller the driver of a flow and gives it the next
	// epoch. A flow that somebody drives is a *HeldError, unless takeOver is
	// set: then the other's commits are refused from now on.
	Acquire(ctx context.Context, flow event.FlowID, takeOver bool) (Lease, error)

	// Holder tells who drives a flow, if anybody does.
	Holder(ctx context.Context, flow event.FlowID) (Holder, bool, error)

	// PutBlob makes p durable and returns its name. Putting it again is cheap.
	PutBlob(ctx context.Context, p []byte) (event.Hash, error)

	// Blob returns what PutBlob was given. A blob that is not there is
	// ErrNotFound; one whose content does not match its name is ErrCorrupt.
	Blob(ctx context.Context, h event.Hash) ([]byte, error)

	// SaveCheckpoint keeps a fold of a flow's first seq events, in place of an
	// earlier one of that name. It is a cache: losing it loses nothing. More
	// events than the flow has is ErrGap.
	SaveCheckpoint(ctx context.Context, flow event.FlowID, c Checkpoint) error

	// LoadCheckpoint returns the checkpoint of that name and version, if there
	// is one.
	LoadCheckpoint(ctx context.Context, flow event.FlowID, name string, version int) (Checkpoint, bool, error)

	// Nudge has every Follow and Inbox of this process look again. Whoever
	// learns by other means that a driver is gone calls it.
	Nudge()

	// Close ends every Follow and Inbox and releases what the log holds, leases
	// included. Every other call then gives ErrClosed.
	Close() error
}

// A Lease is the right to commit to one flow. Release gives it back; the end of
// the process does so too.
type Lease interface {
	Flow() event.FlowID
	Epoch() uint64
	Release() error
}

// An Announcer is a Lease whose owner can tell the other processes where live
// text is to be had. Every engine's leases are Announcers.
type Announcer interface {
	// Announce sets the Live of the flow's Holder.
	Announce(live string) error
}

// A Holder is the process that drives a flow.
type Holder struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	// Live is the address of the socket where live text can be had; empty if
	// there is none.
	Live string `json:"live,omitempty"`
}

// A Flow is one line of the list of flows.
type Flow struct {
	ID    event.FlowID
	First event.Event
	Last  event.Event // its Seq is the number of events
	// Damaged is why First or Last cannot be read; nil if they can.
	Damaged error
}

// A Checkpoint is a fold of a flow's first Seq events. Version changes whenever
// the fold does.
type Checkpoint struct {
	Name    string
	Version int
	Seq     uint64
	Data    []byte
}

// What can go wrong, by what the caller does next.
var (
	ErrNotFound   = errors.New("not found")
	ErrConflict   = errors.New("another fact has this id")
	ErrGap        = errors.New("events do not follow the flow's last one")
	ErrHeld       = errors.New("driven by another process")
	ErrSuperseded = errors.New("another driver has taken over")
	ErrFull       = errors.New("no space left")
	ErrUnwritable = errors.New("cannot be written")
	ErrCorrupt    = errors.New("damaged")
	ErrNewer      = errors.New("written by a newer version")
	ErrUnknown    = errors.New("outcome unknown") // a commit may or may not have happened
	ErrClosed     = errors.New("log is closed")
)

// A HeldError is ErrHeld and says who holds.
type HeldError struct {
	Flow   event.FlowID
	Holder Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is driven by process %d since %s", e.Flow, e.Holder.PID, e.Holder.Since.Local().Format(time.TimeOnly))
}

func (e *HeldError) Unwrap() error { return ErrHeld }
