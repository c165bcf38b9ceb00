package view

import (
	"time"

	"conclave/internal/event"
)

// TeamVersion is the version of a marshalled [Team].
const TeamVersion = 1

// A Team is how a team stands: its members and their mail, its tasks, its phases,
// and what waits for a person. It is a fold like the others.
type Team struct {
	Seq     uint64            `json:"seq"`
	ID      event.FlowID      `json:"id"`
	Started event.TeamStarted `json:"started"` // by its seats no secrets are told
	Title   string            `json:"title"`
	Begun   time.Time         `json:"begun,omitzero"`
	Last    time.Time         `json:"last,omitzero"`
	// Worked is how long a driver has driven it; Deadline when its time is over, if
	// it has one and goes on, as of Last.
	Worked   event.Duration `json:"worked,omitempty"`
	Deadline time.Time      `json:"deadline,omitzero"`
	// Members are everybody there ever was, the leader first.
	Members []TeamMember `json:"members"`
	Tasks   []TeamTask   `json:"tasks,omitempty"`
	Phases  []TeamPhase  `json:"phases,omitempty"`
	// Mail is every message, oldest first, with its fate.
	Mail []TeamMail `json:"mail,omitempty"`
	// Merges are what was brought into the shared tree, or could not be.
	Merges []TeamMerge `json:"merges,omitempty"`
	// Commit is the newest of the shared tree; Files what the team has made, as the
	// merges and commits tell.
	Commit string         `json:"commit,omitempty"`
	Files  []event.Change `json:"files,omitempty"`
	// Gates are what waits for a person.
	Gates []Gate `json:"gates,omitempty"`
	// Ended is what it has come to; nil while it goes on.
	Ended    *event.TeamEnded `json:"ended,omitempty"`
	Over     time.Time        `json:"over,omitzero"`
	Turns    int              `json:"turns"`
	Calls    int              `json:"calls"`
	ToolUses int              `json:"tool_uses"`
	Usage    event.Usage      `json:"usage,omitzero"`
	Unpriced int              `json:"unpriced,omitempty"`
	// Refusals are what was turned down of what people said; Heard what has no
	// verdict yet.
	Refusals []Refusal `json:"refusals,omitempty"`
	Heard    []string  `json:"heard,omitempty"`
	// Stopping says that somebody has called it off, in words.
	Stopping string `json:"stopping,omitempty"`
	// Finished: the leader has finished, and is ending its turn.
	Finished bool `json:"finished,omitempty"`
	// Put is what was put forward and has no verdict yet: the fold goes on with it.
	Put []event.Event `json:"put,omitempty"`
	// Takes is who is on a turn.
	Takes Turns `json:"takes,omitzero"`
}

// A TeamMember is one of the team, as people see it.
type TeamMember struct {
	Agent  event.AgentID `json:"agent"`
	Role   string        `json:"role"`
	Title  string        `json:"title,omitempty"`
	Avatar string        `json:"avatar"`
	Leader bool          `json:"leader,omitempty"`
	// State is working, idle, waiting, asking, resting or lost; Doing is what it
	// does just now, in words; Since when it is so.
	State string    `json:"state"`
	Doing string    `json:"doing,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Waits is for whom it waits; All: for all of them.
	Waits   []event.AgentID `json:"waits,omitempty"`
	All     bool            `json:"all,omitempty"`
	Backend string          `json:"backend"`
	Model   string          `json:"model,omitempty"`
	Turn    *event.Turn     `json:"turn,omitempty"` // the take it is in
	Turns   int             `json:"turns"`
	Queued  int             `json:"queued,omitempty"`
	Usage   event.Usage     `json:"usage,omitzero"`
	// Lost is why it does not act any more; Stopped: a person has wanted it.
	Lost    string `json:"lost,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	// Dir is its tree; Commit the newest of it; Unmerged: it is not in the shared one.
	Dir      string `json:"dir,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Unmerged bool   `json:"unmerged,omitempty"`
	// Restarts counts takes that were taken again because they failed or hung.
	Restarts int `json:"restarts,omitempty"`

	// What the fold goes on with. Awaits: it has said that it waits once its turn is
	// over; Asked: it has asked the leader, and nobody has answered yet. Wish is the question to a person about what it wants to do. Broke is why
	// its newest take ended before it had concluded; Cut: it had lost its driver.
	// Work is the newest commit with something of its own that is not in the shared
	// tree, Merged what was brought in last.
	Awaits bool   `json:"awaits,omitempty"`
	Asked  bool   `json:"asked,omitempty"`
	Wish   string `json:"wish,omitempty"`
	Broke  string `json:"broke,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
	Work   string `json:"work,omitempty"`
	Merged string `json:"merged,omitempty"`
}

// States of members, as team.MemberState.
const (
	MemberIdle    = "idle"
	MemberWorking = "working"
	MemberAsking  = "asking"
	MemberWaiting = "waiting"
	MemberResting = "resting"
	MemberLost    = "lost"
)

// A TeamTask is an entry of the ledger.
type TeamTask struct {
	Task    string          `json:"task"`
	Title   string          `json:"title"`
	Detail  event.Content   `json:"detail,omitzero"`
	Owner   event.AgentID   `json:"owner"`
	State   event.TaskState `json:"state"`
	Stalled bool            `json:"stalled,omitempty"`
	Summary event.Content   `json:"summary,omitzero"`
	Files   []string        `json:"files,omitempty"`
	Began   time.Time       `json:"began"`
	Ended   time.Time       `json:"ended,omitzero"`
}

// Open reports whether there is something left to do.
func (t TeamTask) Open() bool { return t.State == event.TaskOpen || t.State == event.TaskBlocked }

// States of phases.
const (
	PhaseAhead = "ahead" // not begun; once the team is over, for good
	PhaseNow   = "now"
	PhaseDone  = "done"
	PhaseLeft  = "left" // begun and undone, and the team is over
)

// A TeamPhase is a stage of the work: "ahead", "now", "done" or "left".
type TeamPhase struct {
	Name    string          `json:"name"`
	State   string          `json:"state"`
	Members []event.AgentID `json:"members,omitempty"`
	Tasks   int             `json:"tasks"`
	Done    int             `json:"done"`
}

// A TeamMail is a message and what became of it.
type TeamMail struct {
	ID   string          `json:"id"`
	Seq  uint64          `json:"seq"`
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"` // as team.MailKind: goal, person, message, question, task, report, notice
	From event.AgentID   `json:"from,omitempty"`
	By   string          `json:"by,omitempty"`
	To   []event.AgentID `json:"to"`
	Text event.Content   `json:"text"`
	// Task is the task it is about, Title what that is called.
	Task  string `json:"task,omitempty"`
	Title string `json:"title,omitempty"`
	// Code and About are of a notice; see event.Notified.
	Code  string        `json:"code,omitempty"`
	About event.AgentID `json:"about,omitempty"`
	// State is that of the task a report is about.
	State event.TaskState `json:"state,omitempty"`
	Files []string        `json:"files,omitempty"`
	// Fates are one for each recipient, in the order of To: queued, delivered,
	// withdrawn or undeliverable, and when.
	Fates []TeamFate `json:"fates"`
}

// A TeamFate is what became of a message for one recipient.
type TeamFate struct {
	To event.AgentID `json:"to"`
	// State is waiting (no verdict yet), queued, delivered, withdrawn, refused or
	// undeliverable (its recipient is lost or the team is over).
	State Fate       `json:"state"`
	Turn  event.Turn `json:"turn,omitzero"` // in which it was told
	At    time.Time  `json:"at,omitzero"`
	Why   string     `json:"why,omitempty"`
}

// Fates of the messages of a team, besides those of any.
const (
	FateWaiting       Fate = "waiting" // for a verdict
	FateDelivered     Fate = "delivered"
	FateRefused       Fate = "refused"
	FateUndeliverable Fate = "undeliverable"
)

// Kinds of messages, as team.MailKind.
const (
	MailGoal     = "goal"
	MailPerson   = "person"
	MailMessage  = "message"
	MailQuestion = "question"
	MailTask     = "task"
	MailReport   = "report"
	MailNotice   = "notice"
)

// A TeamMerge is a try to bring a member's work into the shared tree.
type TeamMerge struct {
	At        time.Time      `json:"at"`
	Member    event.AgentID  `json:"member"`
	Commit    string         `json:"commit,omitempty"`
	Changes   []event.Change `json:"changes,omitempty"`
	Total     int            `json:"total"`
	Conflicts []string       `json:"conflicts,omitempty"`
	Prefer    string         `json:"prefer,omitempty"`
}
