// Package cli holds what the backends have in common whose agent is a program of
// its own: Claude Code, Codex, whatever speaks ACP.
//
//   - [Process] is the program in its room: one line of JSON after the other both
//     ways, the end of what it complained about, and how it ended.
//   - [Thread] is what is remembered of a conversation that the program keeps: its
//     name there and what was told last. [Thread.Next] says what to tell it now.
//   - [Clock] ends a turn that takes too long or says nothing.
//   - [Proxy] reaches the model with the real key, so that the program, and every
//     shell it starts, needs only a token that is worth nothing elsewhere.
//   - [Version] refuses a program that is too old, in words that help.
//
// What a program reaches of us, such as its proxy, has a [Door]: on the loopback or, for
// a room with a network of its own such as a container, where that has its doorway
// ([backend.Secluded]).
//
// Goroutines: a Process has one that waits for the program's end and, if it speaks
// in lines, one that reads and one that writes; all are over when Done is closed.
// A Proxy has those of a server; Close ends and waits for them.
package cli

import (
	"time"

	"conclave/internal/backend"
)

// Defaults of a program's clocks.
const (
	DefaultTurn = time.Hour
	DefaultIdle = 10 * time.Minute
)

// How long each step may take by which a program is ended.
const (
	InterruptGrace = 3 * time.Second // to finish the turn after being interrupted
	CloseGrace     = 3 * time.Second // to end after its input was closed
	EndGrace       = 5 * time.Second // to finish by itself a turn in which nothing more is wanted
)

// broken is a fault of the program or of ours.
func broken(message string, err error) *backend.Error {
	return &backend.Error{Kind: backend.Broken, Message: message, Err: err}
}
