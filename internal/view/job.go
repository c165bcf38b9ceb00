package view

import (
	"time"

	"conclave/internal/event"
)

// JobVersion is the version of a marshalled [Job].
const JobVersion = 3

// A Job is how a job stands: its phases and todos, what waits for a person, and
// everything people have said about its plan. It is a fold like the others.
type Job struct {
	Seq uint64       `json:"seq"`
	ID  event.FlowID `json:"id"`
	// Started is how it was begun; a job that was renamed has its new title.
	Started event.JobStarted `json:"started"` // by its seat no secrets are told
	Begun   time.Time        `json:"begun,omitzero"`
	Last    time.Time        `json:"last,omitzero"`
	State   JobState         `json:"state"`
	// Why says why it stands so: what it waits for, what went wrong.
	Why string `json:"why,omitempty"`

	// Phases are all there were, oldest first; iterations of one phase are one.
	Phases []JobPhase `json:"phases,omitempty"`
	// Staged are the todos of the next tactical phase, as todos.yaml had them
	// when it was kept last, and StagedName is that phase's name.
	Staged     []event.Todo `json:"staged,omitempty"`
	StagedName string       `json:"staged_name,omitempty"`
	// Problem is what is wrong with todos.yaml.
	Problem string `json:"problem,omitempty"`
	// Planned is how many phases the plan speaks of, zero if that is not known.
	Planned int `json:"planned,omitempty"`

	// Gates are what waits for a person. Review is the one about the plan or
	// about trouble, nil if there is none; Revision is what a reply must name.
	Gates  []Gate `json:"gates,omitempty"`
	Review *Gate  `json:"review,omitempty"`
	// Skipped: no plan of the job is asked about any more.
	Skipped bool `json:"skipped,omitempty"`

	// Commit is the newest, Files how the files stood in it that people may
	// change, Tools what the agent has at hand.
	Commit  string           `json:"commit,omitempty"`
	Files   []event.KeptFile `json:"files,omitempty"`
	Tools   []string         `json:"tools,omitempty"`
	Commits []JobCommit      `json:"commits,omitempty"`

	// Rounds are the rounds of review, oldest first; the last one is open while
	// Review is about a plan.
	Rounds    []JobRound    `json:"rounds,omitempty"`
	Threads   []JobThread   `json:"threads,omitempty"`
	Questions []JobQuestion `json:"questions,omitempty"`
	// Draft is feedback somebody is writing.
	Draft string `json:"draft,omitempty"`

	// Ended is what it has come to, nil while it goes on; Over is when that was.
	Ended *event.JobEnded `json:"ended,omitempty"`
	Over  time.Time       `json:"over,omitzero"`

	// Doing is what the agent does just now, in words; Turn its take.
	Doing string      `json:"doing,omitempty"`
	Turn  *event.Turn `json:"turn,omitempty"`
	// Going is the run that carries a phase out; those before are with their
	// phases.
	Going event.FlowID `json:"going,omitempty"`

	Calls    int            `json:"calls"` // of models
	ToolUses int            `json:"tool_uses"`
	Usage    event.Usage    `json:"usage,omitzero"`
	Unpriced int            `json:"unpriced,omitempty"`
	Worked   event.Duration `json:"worked,omitempty"` // not counting what waited
	// Estimate is what is left to do as things stand, if that can be told.
	Estimate *event.Estimate `json:"estimate,omitempty"`
	// Mutations are the newest of what it changed in graphs, oldest first; Mutated
	// counts all.
	Mutations []JobMutation `json:"mutations,omitempty"`
	Mutated   int           `json:"mutated,omitempty"`
	Refusals  []Refusal     `json:"refusals,omitempty"`
	Heard     []string      `json:"heard,omitempty"` // ids of what people said that has no verdict yet

	// What the fold goes on with: Put is what was put forward, by people and by
	// the agent, and has no verdict yet; Keeping why the workspace is about to be
	// committed; Before how the files stood when a revision of the plan began.
	Put     []event.Event    `json:"put,omitempty"`
	Keeping []JobKeep        `json:"keeping,omitempty"`
	Before  []event.KeptFile `json:"before,omitempty"`
	// Revises: a person has asked for changes and the iteration with them has not
	// begun. Spoken counts how often people were asked about a plan or have said
	// otherwise what they want.
	Revises bool `json:"revises,omitempty"`
	Spoken  int  `json:"spoken,omitempty"`
	// Agreed are the todos a person has approved that have not begun yet.
	Agreed []event.Todo `json:"agreed,omitempty"`
}

// Title is what the job is called: the title it was given, or else what is wanted.
func (j Job) Title() event.Content {
	if j.Started.Title != "" {
		return event.Inline(j.Started.Title)
	}
	return j.Started.Description
}

// A JobState is what a job does.
type JobState string

const (
	JobCreated   JobState = "created"
	JobPlanning  JobState = "planning"  // a strategic phase goes on
	JobReview    JobState = "review"    // frozen: a person looks at the plan
	JobRunning   JobState = "running"   // a tactical phase goes on
	JobTrouble   JobState = "trouble"   // frozen: it cannot go on by itself
	JobCompleted JobState = "completed" // see Ended
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Frozen reports whether the job waits for a person.
func (s JobState) Frozen() bool { return s == JobReview || s == JobTrouble }

// Over reports whether nothing goes on in it unless somebody corrects it.
func (s JobState) Over() bool {
	return s == JobCompleted || s == JobFailed || s == JobCancelled
}

// A JobPhase is one phase with all its iterations.
type JobPhase struct {
	Phase     int         `json:"phase"`
	Iteration int         `json:"iteration"` // the newest
	Kind      string      `json:"kind"`
	Purpose   string      `json:"purpose"`
	Name      string      `json:"name,omitempty"`
	Todos     []JobTodo   `json:"todos,omitempty"`
	Began     time.Time   `json:"began"`
	Ended     time.Time   `json:"ended,omitzero"`
	How       string      `json:"how,omitempty"` // it ended
	Why       string      `json:"why,omitempty"`
	Commit    string      `json:"commit,omitempty"` // its last
	Tag       string      `json:"tag,omitempty"`
	Calls     int         `json:"calls"`
	Usage     event.Usage `json:"usage,omitzero"`
	// Run is the run that carried it out.
	Run event.FlowID `json:"run,omitempty"`
	// Approved are the todos as the person approved them: what ran is to be held
	// against it.
	Approved []event.Todo `json:"approved,omitempty"`
	// Drift is how what was done differs from that, once the phase is over.
	Drift []JobDrift `json:"drift,omitempty"`
	// Counted is the part of Usage that is told of todos, or went before them.
	Counted event.Usage `json:"counted,omitzero"`
	// Earlier is what the todos of earlier iterations took, each.
	Earlier []event.Usage `json:"earlier,omitempty"`
}

// A JobDrift is a todo that was done otherwise than it was approved.
type JobDrift struct {
	ID   string    `json:"id"`
	Kind DriftKind `json:"kind"`
	// Text is what was approved, or added; Now is what it became.
	Text string `json:"text"`
	Now  string `json:"now,omitempty"`
}

// A DriftKind says how something differs from what was approved.
type DriftKind string

const (
	DriftUndone  DriftKind = "undone"  // approved, and not done
	DriftAdded   DriftKind = "added"   // not approved, and there
	DriftChanged DriftKind = "changed" // in other words
	DriftOverrun DriftKind = "overrun" // left out by the person, and done
)

// A JobKeep is why the workspace is about to be committed.
type JobKeep struct {
	Ref   string   `json:"ref"` // the id of the fact
	What  string   `json:"what"`
	By    string   `json:"by,omitempty"`
	Todos []string `json:"todos,omitempty"` // of the phase that goes on
}

// A JobTodo is one thing to be done, and what became of it.
type JobTodo struct {
	event.Todo
	At     time.Time   `json:"at,omitzero"` // it was done
	Commit string      `json:"commit,omitempty"`
	Usage  event.Usage `json:"usage,omitzero"` // since the one before
}

// A JobCommit is a commit of the workspace, and what gave rise to it.
type JobCommit struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
	Tag    string    `json:"tag,omitempty"`
	What   string    `json:"what"`
	By     string    `json:"by,omitempty"` // a person; empty is the agent
	Ref    string    `json:"ref"`
}

// A JobRound is one round of review.
type JobRound struct {
	Round    int       `json:"round"` // as in review/round-1.md; from 1 in the job
	Gate     string    `json:"gate"`
	Phase    int       `json:"phase"`
	Revision int       `json:"revision"` // the newest
	Commit   string    `json:"commit"`   // what was looked at
	At       time.Time `json:"at"`
	// Since is the commit of the round before, empty in the first: what changed
	// is between the two. Same: nothing of the plan did.
	Since string `json:"since,omitempty"`
	Same  bool   `json:"same,omitempty"`
	// Reason is why a person is asked.
	Reason string `json:"reason,omitempty"`
	// Choice is what they decided, By whom, and Feedback what they said.
	Choice   string    `json:"choice,omitempty"`
	By       string    `json:"by,omitempty"`
	Feedback string    `json:"feedback,omitempty"`
	Decided  time.Time `json:"decided,omitzero"`
	// Comments are the ids of the threads that went along with the feedback.
	Comments []string `json:"comments,omitempty"`
	// Edits are files that people changed in it.
	Edits []string `json:"edits,omitempty"`
	// Late: so many rounds that other ways are offered.
	Late bool `json:"late,omitempty"`
}

// A JobThread is a comment of a person's, what was replied, and how the agent
// dealt with it.
type JobThread struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	event.Commented
	Commit   string     `json:"commit,omitempty"` // it is about
	Round    int        `json:"round"`
	Replies  []JobReply `json:"replies,omitempty"`
	Resolved bool       `json:"resolved,omitempty"`
	// Sent: it went along with feedback, and nobody has said anything in it since
	// the agent has dealt with that. Answer is how it has; nil if it did not say.
	// What it said before is among the replies.
	Sent     bool             `json:"sent,omitempty"`
	Answer   *event.Addressed `json:"answer,omitempty"`
	Answered time.Time        `json:"answered,omitzero"`
	// Again: somebody has said something more, which goes along the next time.
	Again bool `json:"again,omitempty"`
}

// Open reports whether the thread goes along with the next feedback.
func (t JobThread) Open() bool { return !t.Resolved && (t.Answer == nil || t.Again) }

// A JobReply is a reply in a thread.
type JobReply struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	By   string    `json:"by,omitempty"`
	// Agent: it is how the agent dealt with what was said before, and Changed
	// something or not.
	Agent   bool `json:"agent,omitempty"`
	Changed bool `json:"changed,omitempty"`
}

// A JobQuestion is a question of the plan with its answer.
type JobQuestion struct {
	event.Question
	Answer string `json:"answer,omitempty"` // empty: its default holds
	By     string `json:"by,omitempty"`
}

// A JobMutation is a change of a graph.
type JobMutation struct {
	Seq uint64    `json:"seq"`
	At  time.Time `json:"at"`
	event.Mutated
}
