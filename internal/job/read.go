package job

import (
	"time"

	"conclave/internal/budget"
	"conclave/internal/dialog"
	"conclave/internal/event"
)

// Frozen reports whether the job waits for a person, about its plan or about
// trouble. It is never stored.
func (j *Job) Frozen() bool { return j.s.Gate != nil && j.s.Gate.Closed == nil }

// Over reports whether nothing goes on unless somebody corrects the job.
func (j *Job) Over() bool { return j.s.Ended != nil }

// AtRest reports whether nothing goes on that anybody but a person could end: the
// job is frozen or over, and everything is kept.
func (j *Job) AtRest() bool {
	return len(j.inbox) == 0 && len(j.s.Keeps) == 0 && len(j.Due()) == 0 && (j.Over() || j.Frozen())
}

// Cancelling reports whether somebody wants the job to end that is not over yet.
func (j *Job) Cancelling() bool { return j.s.Cancel != nil && !j.Over() }

// Started is how the job began.
func (j *Job) Started() (b event.JobStarted, ok bool) {
	if j.s.Started == nil {
		return b, false
	}
	return *j.s.Started, true
}

// Ended is what the job has come to; ok is false while it goes on.
func (j *Job) Ended() (b event.JobEnded, ok bool) {
	if j.s.Ended == nil {
		return b, false
	}
	return *j.s.Ended, true
}

// Gate is what a person is asked about the plan or about trouble; ok is false if
// nothing is. Its revision is the one that a reply has to name.
func (j *Job) Gate() (a event.Asked, ok bool) {
	if !j.Frozen() {
		return a, false
	}
	return j.s.Gate.Asked, true
}

// Phase is the newest iteration of a phase, its todos as they stand, and whether
// it goes on.
func (j *Job) Phase() (b event.PhaseBegun, goesOn bool) {
	if j.s.Phase == nil {
		return b, false
	}
	return j.s.Phase.PhaseBegun, j.goesOn()
}

// Workspace is how the workspace was kept last.
func (j *Job) Workspace() (commit string, files []event.KeptFile, plan event.PlanRead) {
	return j.s.Commit, j.s.Files, j.s.Plan
}

// Title is what people call the job.
func (j *Job) Title() string { return j.s.Title }

// Worked is how long it has worked, without what waited for a person.
func (j *Job) Worked() time.Duration { return j.s.Worked }

// Ledger is the account over everything; it is not to be changed.
func (j *Job) Ledger() budget.Ledger { return j.s.Ledger }

// Used is what the agent itself and what runs have used.
func (j *Job) Used() (talk, runs event.Usage) { return j.s.Talked, j.s.Ran }

// History is the conversation of the phase as its agent knows it.
func (j *Job) History() dialog.Part { return j.s.Part() }

// Unanswered are the ids of the comments that went along with feedback and that
// the agent has not dealt with yet.
func (j *Job) Unanswered() []string { return j.unanswered() }
