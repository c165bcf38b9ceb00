package team

import (
	"slices"
	"time"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// Work asks a member, or the leader, to take a turn or to go on with one that was
// cut. It ends with Concluded or Failed. While it goes on it may be told a [Note].
// If the member has no tree yet the turn begins with making one (Rooted); it ends
// with a commit of it (Committed).
type Work struct {
	Agent event.AgentID
	event.Turn
	Started event.TeamStarted
	Role    event.TeamRole
	Leader  bool
	// Mail is what the turn begins with, oldest first. If the History has a Briefed
	// of this round, the member has been told.
	Mail []Mail
	// Members and Tasks are how the team stands as the take begins.
	Members []Member
	Tasks   []Task
	// Root is the member's tree; nil if it has none yet. Shared is the newest commit
	// of the shared tree, empty if there is none.
	Root   *event.Rooted
	Shared string
	// Again says why the take before this one ended, if there was one.
	Again string
	dialog.Part
	// Verdicts are on what the calls of this turn have put forward: nothing is put
	// forward twice.
	Verdicts []Verdict
	Metered  bool // request an amount before every model call
	Calls    int  // model calls left in the turn
}

// A Mail is a message as its recipient gets it.
type Mail struct {
	ID string    `json:"id"` // of its fact
	At time.Time `json:"at"`
	// Kind is what it is; From is who sent it, empty for a person (By says who) and
	// for the program.
	Kind MailKind      `json:"kind"`
	From event.AgentID `json:"from,omitempty"`
	By   string        `json:"by,omitempty"`
	Text event.Content `json:"text"`
	// Task is the task it is about; State how that stands by a report, and Files
	// what it names.
	Task  string          `json:"task,omitempty"`
	Title string          `json:"title,omitempty"`
	State event.TaskState `json:"state,omitempty"`
	Files []string        `json:"files,omitempty"`
	Code  string          `json:"code,omitempty"` // of a notice
}

// A MailKind is what a message is.
type MailKind string

const (
	MailGoal     MailKind = "goal"     // what the person wants of the team; to the leader
	MailPerson   MailKind = "person"   // a person says something
	MailMessage  MailKind = "message"  // of another member
	MailQuestion MailKind = "question" // of a member that waits for the answer
	MailTask     MailKind = "task"     // the leader sets something to be done
	MailReport   MailKind = "report"   // a member says how a task stands
	MailNotice   MailKind = "notice"   // the program says something
)

// A Member is how a member stands.
type Member struct {
	Agent  event.AgentID `json:"agent"`
	Role   string        `json:"role"`
	Leader bool          `json:"leader,omitempty"`
	State  MemberState   `json:"state"`
	// Turn is the take it is in, or was in last.
	Turn event.Turn `json:"turn,omitzero"`
	// Waiting is for whom it waits.
	Waiting []event.AgentID `json:"waiting,omitempty"`
	All     bool            `json:"all,omitempty"`
	// Queued is how many messages it has not been told yet.
	Queued int `json:"queued,omitempty"`
	// Unmerged: its tree has work that is not in the shared one.
	Unmerged bool   `json:"unmerged,omitempty"`
	Lost     string `json:"lost,omitempty"` // why
}

// A MemberState is what a member does.
type MemberState string

const (
	Idle    MemberState = "idle"
	Working MemberState = "working"
	Asking  MemberState = "asking"  // a person, whether it may do something
	Waiting MemberState = "waiting" // for others
	Resting MemberState = "resting" // a provider asked to be left alone
	Gone    MemberState = "lost"
)

// A Task is an entry of the ledger.
type Task struct {
	Task    string          `json:"task"`
	Title   string          `json:"title"`
	Detail  event.Content   `json:"detail,omitzero"`
	Owner   event.AgentID   `json:"owner"`
	State   event.TaskState `json:"state"`
	Summary event.Content   `json:"summary,omitzero"` // of the newest report
	Files   []string        `json:"files,omitempty"`
	// Reminded counts how often its owner has stopped without a report.
	Reminded int `json:"reminded,omitempty"`
}

// A Verdict is what became of something a member put forward.
type Verdict struct {
	ID, Call, Why string // Why is empty if it was admitted
}

// A Note is what a member in the middle of a turn is told.
type Note struct {
	Kind string
	// Mail is a message for it. What it is told so is recorded as Told with the
	// message's id; one it is not told before its turn ends begins the next.
	Mail *Mail
	// Back is the id of a message that was taken back.
	Back string
	// Of a permission: which question, what was chosen, and what was said.
	Gate, Choice, Text string
}

// Kinds of notes. They have the names of those of runs and sessions.
const (
	NoteMail       = "message"
	NoteTakenBack  = "taken_back"
	NoteWrapUp     = "wrap_up" // the time of the turn is nearly over
	NotePermission = "permission"
	NoteBudget     = "budget"
)

// Key names the piece of work.
func (w Work) Key() string { return w.Turn.Key(w.Agent) }

// Pending lists what was asked for and has no outcome yet.
func (t *Team) Pending() []flow.Command {
	var out []flow.Command
	for _, m := range t.s.Members {
		switch u := m.Turn; {
		case u == nil || !u.Live:
		case u.Stopped:
			out = append(out, flow.Stop{Work: u.WorkKey()})
		default:
			out = append(append(out, t.work(m)), m.tellHeld()...)
		}
	}
	return out
}

// work is the command for the take that goes on.
func (t *Team) work(m *member) Work {
	u := m.Turn
	return Work{
		Agent: m.ID, Turn: u.Turn, Started: *t.s.Started, Role: m.Role, Leader: t.leads(m),
		Mail: slices.Clip(u.Mail), Members: t.Members(), Tasks: t.Tasks(),
		Root: m.Root, Shared: t.s.Shared, Again: u.Again, Part: m.Part(), Verdicts: slices.Clip(u.Verdicts),
		Metered: t.rules().Budget.Limited(), Calls: max(t.rules().MaxCalls-u.Calls, 0),
	}
}
