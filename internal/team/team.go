// Package team decides what a team does next: who takes a turn, who is told what,
// how the tasks stand, and when it is over.
//
// A [Team] is a [flow.Decider]. The leader is set to work with what the person
// wants; it brings members in, sets them tasks and waits for them. Every message has
// a place in the mailbox of each of its recipients and is told once, in order: with
// the turn it begins or in the middle of one. What is done is what the ledger of
// tasks says, never how a program ended: a member that stops with a task of its own
// open is reminded, and after that the leader is told.
//
//	team.go      the state
//	apply.go     what an event changes, and which commands it gives rise to
//	decide.go    what the state demands to be recorded next
//	member.go    members: who can be set to work, and who waits for whom
//	mail.go      mailboxes
//	ledger.go    tasks, and verdicts on what changes them
//	propose.go   verdicts on what members put forward
//	judge.go     verdicts on what people say
//	turn.go      turns of members, their takes, and what they spend
//	clock.go     what time brings about
//	notice.go    what the program tells members by itself
//	trouble.go   what a team cannot go on for by itself, and what a person allows it
//	end.go       how a team ends
//	tree.go      what is known of the trees
//	command.go   what the shell is asked to do
//	read.go      what can be read from the state
//	check.go     the invariants of a log
//
// Every turn is bounded in its takes, and the turns of a team in their number; a
// team in which nobody works tells its leader so, and comes to an end if that goes
// on. A provider that asks to be left alone is, as often as it asks.
package team

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/internal/budget"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Team is one team. The zero value waits for its TeamStarted. It is not safe for
// concurrent use.
type Team struct {
	s     state
	inbox flow.Inbox
}

var (
	_ flow.Decider = (*Team)(nil)
	_ flow.Sorter  = (*Team)(nil)
)

// state is everything a team knows.
type state struct {
	Flow    event.FlowID       `json:"flow,omitempty"`
	Started *event.TeamStarted `json:"started,omitempty"`
	Title   string             `json:"title,omitempty"`
	Clock   dialog.Clock       `json:"clock,omitzero"`
	// Worked is how long the team has worked: not while nobody drove it, it waited
	// for a person because of trouble, or everybody at work did. Rung is what of it
	// had passed at the last TimerFired. Warned: its time is nearly over.
	Worked time.Duration `json:"worked,omitempty"`
	Rung   time.Duration `json:"rung,omitempty"`
	Warned bool          `json:"warned,omitempty"`

	// Ledger is over everybody together, and Used what they have used. Nearly: the
	// leader was told that not much of it is left.
	Ledger budget.Ledger `json:"ledger,omitzero"`
	Used   event.Usage   `json:"used,omitzero"`
	Nearly bool          `json:"nearly,omitempty"`
	Told   string        `json:"told,omitempty"` // the id of that notice

	// Members are everybody there ever was, the leader first; Tasks is the ledger,
	// oldest first; Shared the newest commit of the shared tree.
	Members []*member `json:"members,omitempty"`
	Tasks   []*Task   `json:"tasks,omitempty"`
	Shared  string    `json:"shared,omitempty"`

	dialog.Wishes
	// Read are the newest messages of people that were read, and by whom.
	Read []read `json:"read,omitempty"`

	// Turns counts those of everybody; Idle how often in a row the leader was told
	// that nobody works. Owed are notices to be recorded.
	Turns int    `json:"turns,omitempty"`
	Idle  int    `json:"idle,omitempty"`
	Owed  []owed `json:"owed,omitempty"`
	// WrapUp: a person wants it to come to its end.
	WrapUp bool `json:"wrap_up,omitempty"`

	// Trouble is why the team cannot go on; Gate is the question about it; Past
	// are the last that were answered, and Troubles counts them. More is what a
	// person has allowed beyond the rules.
	Trouble  *trouble       `json:"trouble,omitempty"`
	Gate     *event.Asked   `json:"gate,omitempty"`
	Past     []event.Closed `json:"past,omitempty"`
	Troubles int            `json:"troubles,omitempty"`
	More     int            `json:"more,omitempty"` // turns

	// Finish is what the leader says the team has come to. Ending: everything is
	// being stopped. Ended is how it did.
	Finish *event.Finishing `json:"finish,omitempty"`
	Ending *ending          `json:"ending,omitempty"`
	Ended  *event.TeamEnded `json:"ended,omitempty"`
}

// Step advances the team by one event.
func (t *Team) Step(e event.Event) flow.Ready {
	t.tick(e)
	do := t.apply(e)
	do = append(do, t.released()...)
	return flow.Ready{Record: t.Due(), Do: do}
}

// Done reports whether the team is over.
func (t *Team) Done() bool { return t.s.Ended != nil }

// CheckpointVersion changes with the form of what Checkpoint writes.
func (t *Team) CheckpointVersion() int { return 2 }

// Checkpoint gives the state as a value that Restore takes up. It may be called
// only when nothing is due.
func (t *Team) Checkpoint() ([]byte, error) {
	p, err := t.inbox.Checkpoint(t.s)
	if err != nil {
		return nil, fmt.Errorf("team: %w", err)
	}
	return p, nil
}

// Restore returns a team to a checkpoint of the same version.
func (t *Team) Restore(p []byte) error {
	var st state
	if err := json.Unmarshal(p, &st); err != nil {
		return fmt.Errorf("team: restore: %w", err)
	}
	*t = Team{s: st}
	return nil
}

// rules are what the team goes by.
func (t *Team) rules() event.TeamRules { return t.s.Started.Rules }
