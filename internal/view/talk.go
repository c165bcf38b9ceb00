package view

import (
	"time"

	"conclave/internal/event"
)

// A Talk is what a session has besides where an agent of its own talks, or a
// client launches runs; see [Session.Talk].
type Talk struct {
	// Staffed is who talks, who can be set to work, and by which rules.
	Staffed event.Staffed `json:"staffed"`
	// Client names the program outside, in a session of one.
	Client string `json:"client,omitempty"`
	// Fork is the session it was forked from.
	Fork    event.FlowID `json:"fork,omitempty"`
	Project string       `json:"project,omitempty"` // that is open
	// Waived: the person has said that runs are launched without asking.
	Waived   bool `json:"waived,omitempty"`
	Archived bool `json:"archived,omitempty"`
	// Turn is the take that goes on, or the last one if the turn is about to be
	// taken again, when it is Resting; nil if there is none. Stopping: a person has
	// asked for its end. Takes counts how often it has failed.
	Turn     *event.Turn `json:"turn,omitempty"`
	Resting  bool        `json:"resting,omitempty"`
	Stopping bool        `json:"stopping,omitempty"`
	Takes    int         `json:"takes,omitempty"`
	// Held is what was said and the agent has not heard yet, oldest first: it can
	// be taken back (event.Withdrawn) until then.
	Held []Held `json:"held,omitempty"`
	// Pins are the ids of what is pinned.
	Pins []string `json:"pins,omitempty"`
	// Wants are the runs that were wanted and not launched, and those that wait
	// for a person; newest last. What was launched is among the turns' Runs.
	Wants []SessionWant `json:"wants,omitempty"`
	// Going are the runs that go on, oldest first.
	Going []event.FlowID `json:"going,omitempty"`
	// Usage is what the conversation itself has used, its runs not counted; those
	// are in Session.Usage. Window and Filled are of its last call.
	Usage    event.Usage `json:"usage,omitzero"`
	Unpriced int         `json:"unpriced,omitempty"` // calls
	Window   int         `json:"window,omitempty"`
	Filled   int64       `json:"filled,omitempty"`
	// Compacted is how often the conversation was put into fewer words.
	Compacted int `json:"compacted,omitempty"`
	// After is how the run ended that the agent has just been told of; empty once
	// the turn is over.
	After event.Status `json:"after,omitempty"`
	// Of a companion's session: the job it is about; before there is one, what
	// somebody is about to begin; and the tiers of tools that people have turned
	// on or off.
	Job     event.FlowID    `json:"job,omitempty"`
	Outline *event.Outlined `json:"outline,omitempty"`
	Tiers   []event.Tiered  `json:"tiers,omitempty"` // the newest of each tier
}

// Held is something said that its agent has not heard yet.
type Held struct {
	ID    string        `json:"id"`
	At    time.Time     `json:"at"`
	Text  event.Content `json:"text"`
	Paths int           `json:"paths,omitempty"`
	By    string        `json:"by,omitempty"`
	// Said is all of it.
	Said event.Said `json:"said"`
}

// A SessionWant is a run that was wanted.
type SessionWant struct {
	ID       string          `json:"id"`
	At       time.Time       `json:"at"`
	Call     string          `json:"call,omitempty"`
	Launch   event.Launch    `json:"launch"`
	Estimate *event.Estimate `json:"estimate,omitempty"`
	Revision int             `json:"revision"`
	// Gate is the question about it; Choice how that was answered, empty while it
	// is open, and Note what was said with it. Refused is why it was turned down.
	Gate    string `json:"gate,omitempty"`
	Choice  string `json:"choice,omitempty"`
	Note    string `json:"note,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// Open reports whether a person is being asked about it.
func (w SessionWant) Open() bool { return w.Gate != "" && w.Choice == "" }

// A SessionStep is one thing that happened in a turn of an agent of a session, in
// the order in which it is shown. Which fields are set depends on Kind.
type SessionStep struct {
	// ID is that of the fact, or begins with it where one fact is several steps;
	// what the agent says goes by the fact's own.
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Kind StepKind  `json:"kind"`
	// Text is what was said, noticed or summed up; Thinking what was thought.
	Text     event.Content `json:"text,omitzero"`
	Thinking event.Content `json:"thinking,omitzero"`
	By       string        `json:"by,omitempty"` // whoever said or did it, if a person
	// Of a tool call: its name, its input as it was written, and, once Done, what
	// came back.
	Tool   string        `json:"tool,omitempty"`
	Call   string        `json:"call,omitempty"`
	Input  event.Content `json:"input,omitzero"`
	Result event.Content `json:"result,omitzero"`
	Done   bool          `json:"done,omitempty"`
	Ended  time.Time     `json:"ended,omitzero"`
	Error  bool          `json:"error,omitempty"`
	// Want is the run that was wanted; Run its id once it is launched.
	Want string       `json:"want,omitempty"`
	Run  event.FlowID `json:"run,omitempty"`
	// Published is what was put into a project.
	Published *event.Published `json:"published,omitempty"`
}

// A StepKind says what a step is.
type StepKind string

const (
	StepText      StepKind = "text"      // the agent said something
	StepSaid      StepKind = "said"      // the person did, in the middle of a turn
	StepTool      StepKind = "tool"      // the agent used a tool
	StepRun       StepKind = "run"       // it wanted a run: see Want and Run
	StepNote      StepKind = "note"      // something about its equipment, a failure, an interruption
	StepCompacted StepKind = "compacted" // the conversation was put into fewer words
	StepOpened    StepKind = "opened"    // a project was opened
	StepPublished StepKind = "published" // a deliverable was put into one
	StepOutlined  StepKind = "outlined"  // a job was outlined
	StepLinked    StepKind = "linked"    // the session is about a job from now on
)

// States of a session with an agent, besides those of any session.
const (
	SessionChatting   SessionState = "chatting"   // the agent works
	SessionAwaiting   SessionState = "awaiting"   // a run waits for approval: see Gates
	SessionProcessing SessionState = "processing" // the agent reads a run's result
)
