// Package job decides what a job does next: it prepares a workspace, plans in a
// strategic phase, waits until a person has looked at the plan, carries out its
// todos in a tactical phase, plans again, and so on until it is complete.
//
// A [Job] is a [flow.Decider]. "Frozen for review" is an open gate and nothing
// else: approving names the revision that was looked at, asking for changes leads
// to another strategic iteration and to the gate again, never past it. What the
// files of the workspace say is told by [event.Kept], which follows every commit;
// todos.yaml, as it was kept last, is what a tactical phase carries out.
//
//	job.go       the state
//	apply.go     what an event changes, and which commands it gives rise to
//	decide.go    what the state demands to be recorded next
//	phase.go     phases, how they begin and end, and what the agent is told then
//	template.go  what there is to do in a strategic phase
//	propose.go   verdicts on what the agent puts forward
//	judge.go     verdicts on what people say
//	review.go    when a person looks at a plan, and what they are asked
//	trouble.go   what a job cannot go on for by itself, and what a person allows it
//	comment.go   comments, answers and edits of people
//	keep.go      commits of the workspace, one after the other
//	turn.go      turns of the agent, their takes, and what they spend
//	run.go       runs that carry out a phase
//	command.go   what the shell is asked to do
//	read.go      what can be read from the state
//	check.go     the invariants of a log
//
// A job has no last event: one that is over can be corrected. At every moment it
// is frozen, over, or something goes on in it: never two of them.
package job

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/internal/budget"
	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// A Job is one job. The zero value waits for its JobStarted. It is not safe for
// concurrent use.
type Job struct {
	s     state
	inbox flow.Inbox
}

var (
	_ flow.Decider = (*Job)(nil)
	_ flow.Sorter  = (*Job)(nil)
)

// state is everything a job knows.
type state struct {
	Flow    event.FlowID      `json:"flow,omitempty"`
	Started *event.JobStarted `json:"started,omitempty"`
	Title   string            `json:"title,omitempty"`
	Clock   dialog.Clock      `json:"clock,omitzero"`
	// Worked is how long the job has worked: not while nobody drove it, a person
	// was asked, or it was over. Rung is what of it had passed at the last
	// TimerFired.
	Worked time.Duration `json:"worked,omitempty"`
	Rung   time.Duration `json:"rung,omitempty"`

	// Ledger is over everything; Talked and Ran are what of it the agent itself
	// and runs have used.
	Ledger budget.Ledger `json:"ledger,omitzero"`
	Talked event.Usage   `json:"talked,omitzero"`
	Ran    event.Usage   `json:"ran,omitzero"`

	// Prepared is nil until there is a workspace. Commit, Files and Plan are how
	// it was kept last; Keeps are the commits that are asked for, in order, of
	// which the first is being made.
	Prepared *event.Prepared  `json:"prepared,omitempty"`
	Commit   string           `json:"commit,omitempty"`
	Files    []event.KeptFile `json:"files,omitempty"`
	Plan     event.PlanRead   `json:"plan,omitzero"`
	Keeps    []Keep           `json:"keeps,omitempty"`

	dialog.Memory
	dialog.Wishes

	// Turn is the one that goes on; Rounds counts all there were.
	Turn   *turn `json:"turn,omitempty"`
	Rounds int   `json:"rounds,omitempty"`
	// Phase is the newest; Carried counts the tactical ones.
	Phase   *phase `json:"phase,omitempty"`
	Carried int    `json:"carried,omitempty"`
	Run     *run   `json:"run,omitempty"` // carries out the phase

	// Gate is what a person was asked in this iteration of the phase; Past are
	// the last that were answered. Troubles counts those about trouble.
	Gate     *gate          `json:"gate,omitempty"`
	Past     []event.Closed `json:"past,omitempty"`
	Troubles int            `json:"troubles,omitempty"`
	// Revised is the newest revision of a plan that was asked about: they are
	// numbered over the whole job, so that a number means one plan for ever.
	Revised int `json:"revised,omitempty"`
	// Skipped: no plan is asked about any more. Owed: a person has asked for
	// changes and has approved nothing since, so the next plan is asked about
	// whatever else holds.
	Skipped bool `json:"skipped,omitempty"`
	Owed    bool `json:"owed,omitempty"`
	// More is what a person has allowed beyond the limits of the rules.
	More more `json:"more,omitzero"`

	Comments []*comment `json:"comments,omitempty"`
	Answers  []Answer   `json:"answers,omitempty"` // that people have given
	Edits    *edits     `json:"edits,omitempty"`   // the agent does not know of yet
	// Feedback is what a person said last, until a phase begins with it; Round
	// counts how often they were asked about a plan or spoke up otherwise.
	Feedback *Feedback `json:"feedback,omitempty"`
	Round    int       `json:"round,omitempty"`
	// Corrected is the id of what has taken the job up again, until it goes on.
	Corrected string `json:"corrected,omitempty"`

	// Cancel is who wants the job to end; Ended how it did, Ends how often.
	Cancel *Cancel         `json:"cancel,omitempty"`
	Ended  *event.JobEnded `json:"ended,omitempty"`
	Ends   int             `json:"ends,omitempty"`
}

// Step advances the job by one event.
func (j *Job) Step(e event.Event) flow.Ready {
	j.tick(e)
	do := j.apply(e)
	return flow.Ready{Record: j.Due(), Do: do}
}

// Done is never: a job that is over can be corrected.
func (j *Job) Done() bool { return false }

// CheckpointVersion changes with the form of what Checkpoint writes.
func (j *Job) CheckpointVersion() int { return 1 }

// Checkpoint gives the state as a value that Restore takes up. It may be called
// only when nothing is due.
func (j *Job) Checkpoint() ([]byte, error) {
	p, err := j.inbox.Checkpoint(j.s)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	return p, nil
}

// Restore returns a job to a checkpoint of the same version.
func (j *Job) Restore(p []byte) error {
	var st state
	if err := json.Unmarshal(p, &st); err != nil {
		return fmt.Errorf("job: restore: %w", err)
	}
	*j = Job{s: st}
	return nil
}

// rules are what the job goes by.
func (j *Job) rules() event.JobRules { return j.s.Started.Rules }
