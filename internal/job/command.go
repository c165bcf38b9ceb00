package job

import (
	"slices"

	"conclave/internal/dialog"
	"conclave/internal/event"
	"conclave/internal/flow"
)

// Prepare asks for the workspace: a repository with the documents, the first
// files and the description of every tool. It ends with Prepared.
type Prepare struct {
	Started event.JobStarted
}

// Work asks the agent to take a turn in a phase, or to go on with one that was
// cut. It ends with Concluded or Failed. While it goes on it may be told a [Note].
type Work struct {
	Agent event.AgentID
	event.Turn
	Started event.JobStarted
	// Phase is the one that goes on, its todos as they stand.
	Phase event.PhaseBegun
	// Staged is what the next phase is to do, as far as that is staged.
	Staged []event.Todo
	// Brief is what the agent is to be told before anything else in this turn;
	// if the History has a Briefed of this round, it has been told.
	Brief Brief
	dialog.Part
	// Done are the ids of what the calls of this turn have put forward and were
	// admitted, or refused and why: none is put forward twice.
	Verdicts []Verdict
	Reviewed bool // a person will look at what it plans
	Metered  bool // request an amount before every model call
	Calls    int  // model calls left in the turn
}

// A Brief is what a turn begins with.
type Brief struct {
	Purpose string // of the phase, or BriefNudge
	// Round counts the rounds of review; Feedback is what the person said with
	// the last one, Comments are those that are open, Answers what they said to
	// questions of the plan, and Edits the files they have changed since the
	// agent last worked, between the commits From and To.
	Round    int
	Feedback string
	Comments []Comment
	Answers  []Answer
	Edits    []string
	From, To string
	// Trouble is why a phase ended early, was given up, or could not be accepted.
	Trouble string
	// Long is the feedback if it is too long for Feedback; Result is what the run
	// said that carried out the phase before.
	Long   event.Content
	Result event.Content
	// Nothing: that run has changed no file.
	Nothing bool
	// Idle is how many turns in a row have completed nothing.
	Idle int
}

// BriefNudge is the purpose of a turn that only goes on with a phase: the agent
// stopped speaking before everything in it was done.
const BriefNudge = "nudge"

// A Comment is one of a person's that is not resolved, with what was replied.
type Comment struct {
	ID string `json:"id"`
	event.Commented
	Replies []string `json:"replies,omitempty"`
}

// An Answer is what a person said to a question of the plan, or its default.
type Answer struct {
	event.Question
	Text    string `json:"answer"`
	Default bool   `json:"by_default,omitempty"`
}

// A Verdict is what became of something an agent put forward.
type Verdict struct {
	ID, Call, Why string // Why is empty if it was admitted
	// Kept is the commit that followed; empty if there is none yet.
	Kept string
	// Over: the phase ended with it.
	Over bool
}

// Keep asks for the workspace to be committed because of the fact named by Ref,
// after what the command says was written into it. It ends with Kept, and a take
// that waits for it is told.
type Keep struct {
	Ref     string
	Message string // of the commit
	By      string // its author; empty is the agent
	Tag     string
	// What to write first: todos.yaml with Todos if Write, for the phase called
	// Name; an edit; a person's feedback to review/ and, under Review Feedback,
	// to workspace.md; the todos of a phase that is over to archive/.
	Write    bool
	Name     string
	Todos    []event.Todo
	Edit     *event.Edited
	Feedback *Feedback
	Archive  *Archive
	Started  event.JobStarted
}

// Feedback is what a person wants to be different, with its comments.
type Feedback struct {
	Round    int
	Text     string
	Long     event.Content // if it is too long for Text
	By       string
	Comments []Comment
	Answers  []Answer
}

// An Archive is a phase that is over.
type Archive struct {
	event.PhaseBegun
	How, Why string
}

// Launch asks for the run that carries out a tactical phase, or for its
// continuation if the log has it already. What it has come to comes back as
// Returned. While it goes on it may be told a [Cancel].
type Launch struct {
	event.Launched
	Started event.JobStarted
	Phase   event.PhaseBegun
	Cancel  *Cancel
}

// A Cancel is a person's wish to end what goes on, under an id that makes asking
// twice the same as asking once.
type Cancel struct {
	ID string `json:"id"`
	event.CancelRequested
}

// A Note is what an agent in the middle of a turn is told.
type Note struct {
	Kind string
	// Kept is the commit after something it put forward.
	Kept *event.Kept
	// Of a permission: which question, what was chosen, and what was said.
	Gate, Choice, Text string
}

// Kinds of notes.
const (
	NoteKept       = "kept"
	NotePermission = "permission"
	NoteBudget     = "budget"
)

func (p Prepare) Key() string { return "prepare" }
func (w Work) Key() string    { return w.Turn.Key(w.Agent) }
func (k Keep) Key() string    { return "keep/" + k.Ref }
func (l Launch) Key() string  { return "launch/" + string(l.Run) }

// Fact is the fact that ends the command.
func (p Prepare) Fact(b event.Prepared) event.Fact { return event.Fact{ID: "prepared", Body: b} }

// Fact is the fact that ends the command.
func (k Keep) Fact(b event.Kept) event.Fact {
	b.Ref = k.Ref
	return event.Fact{ID: "kept/" + k.Ref, Body: b}
}

// Fact is the fact that ends the launch.
func (l Launch) Fact(r event.Returned) event.Fact {
	r.Run = l.Run
	return event.Fact{ID: "returned/" + string(l.Run), Body: r}
}

// Pending lists what was asked for and has no outcome yet.
func (j *Job) Pending() []flow.Command {
	if j.s.Started == nil {
		return nil
	}
	var out []flow.Command
	if j.s.Prepared == nil && !j.Over() {
		out = append(out, Prepare{Started: *j.s.Started})
	}
	if len(j.s.Keeps) > 0 {
		out = append(out, j.keeping())
	}
	if j.s.Run.going() {
		out = append(out, j.launching())
	}
	switch t := j.s.Turn; {
	case t == nil || !t.Live:
	case t.Stopped:
		out = append(out, flow.Stop{Work: t.WorkKey()})
	default:
		out = append(out, j.work())
	}
	return out
}

// work is the command for the take that goes on.
func (j *Job) work() Work {
	t, p := j.s.Turn, j.s.Phase
	w := Work{
		Agent: t.Agent, Turn: t.Turn, Started: *j.s.Started, Phase: p.PhaseBegun, Staged: p.Staged,
		Brief: t.Brief, Part: j.s.Part(), Verdicts: slices.Clip(t.Verdicts),
		Metered: j.rules().Budget.Limited(), Calls: max(j.rules().MaxCalls-t.Calls, 0),
	}
	if p.strategic() {
		_, w.Reviewed = j.reviewed()
	}
	return w
}
