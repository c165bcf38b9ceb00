package event

import (
	"encoding/json"
	"path"
)

// RunStarted opens a run. It carries everything that decides how the run will
// go, so that its log replays to the same decisions for ever.
type RunStarted struct {
	Spec  RunSpec `json:"spec"`
	Rules Rules   `json:"rules"`
	// Seed is what every draw of the run is made from.
	Seed uint64 `json:"seed"`
	// By names the program and version that opened the run.
	By string `json:"by,omitempty"`
}

// A RunSpec is what was asked for.
type RunSpec struct {
	Task Content `json:"task"`
	// Context is background handed along with the task by whoever launched it.
	Context Content `json:"context,omitzero"`
	// Seats are the participants, in label order.
	Seats        []Seat        `json:"seats"`
	ContextPaths []ContextPath `json:"context_paths,omitempty"`
	// Images are shown to every agent with the task.
	Images []Media `json:"images,omitempty"`
	// Dir is the run's own directory: the agents' workspaces are in it. A run
	// without one has agents that only speak.
	Dir string `json:"dir,omitempty"`
	// Parent is the flow that launched this one and pays for it.
	Parent FlowID `json:"parent,omitempty"`
	// Plan is the directory of the approved plan that the run carries out.
	Plan string `json:"plan,omitempty"`
}

// A Seat is one participant as it was configured when the run began.
type Seat struct {
	Agent   AgentID `json:"agent"`
	Label   Label   `json:"label"`
	Backend string  `json:"backend"`
	Model   string  `json:"model,omitempty"`
	// Prompt is appended to the agent's system prompt.
	Prompt string `json:"prompt,omitempty"`
	// Options is the backend's own configuration. It holds no secrets.
	Options json.RawMessage `json:"options,omitempty"`
	// Gear is what the agent is equipped with. It holds no secrets.
	Gear json.RawMessage `json:"gear,omitempty"`
}

// SnapshotDir is where the files of a snapshot are, in the run's directory: the
// same folder for everybody who may look into it.
func (s RunSpec) SnapshotDir(l Label, id string) string {
	if s.Dir == "" || id == "" {
		return ""
	}
	return path.Join(s.Dir, "snapshots", string(l)+"-"+id[:min(len(id), 12)])
}

// Media is something other than text, kept as a blob.
type Media struct {
	Type string `json:"type"` // image/png and the like
	Blob Hash   `json:"blob"`
	Size int    `json:"size"`
	Name string `json:"name,omitempty"` // of the file it came from
}

// A ContextPath is a directory or file of the user's that agents may read, and
// the presenter may write if Write is set.
type ContextPath struct {
	Path      string   `json:"path"`
	Write     bool     `json:"write,omitempty"`
	Protected []string `json:"protected,omitempty"`
}

// Writable reports whether any context path may be written to.
func (s RunSpec) Writable() bool {
	for _, p := range s.ContextPaths {
		if p.Write {
			return true
		}
	}
	return false
}

// Resumed records that a driver took the flow up again after Down without one.
// Time that nobody was driving counts against no deadline.
type Resumed struct {
	Down  Duration `json:"down"`
	Epoch uint64   `json:"epoch"`
}

// Assigned sets an agent to work on a turn. Seen is what it is shown.
type Assigned struct {
	Turn
	Seen      Seen `json:"seen,omitempty"`
	MayAnswer bool `json:"may_answer,omitempty"`
	MayVote   bool `json:"may_vote,omitempty"`
	// Closing marks the last take of a round that ran past its deadline: no
	// tools but the outcome, and a vote counts whatever it has seen.
	Closing bool `json:"closing,omitempty"`
	// Messages are the ids of those in its prompt.
	Messages []string `json:"messages,omitempty"`
}

// Requested asks for leave to spend: an agent before a model call, or the shell
// before it launches a child flow.
type Requested struct {
	Turn
	Amount Amount `json:"amount"`
	Child  FlowID `json:"child,omitempty"`
}

// Granted reserves what the request named by ID asked for.
type Granted struct {
	Request string `json:"request"`
}

// Settled returns a child flow's grant: what it really spent.
type Settled struct {
	Request string `json:"request"`
	Spent   Amount `json:"spent"`
}

// A ToolCall is one call a model made. ID is unique in its turn.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is the arguments as the model wrote them. It may be invalid JSON;
	// then it is a JSON string of what was written.
	Input json.RawMessage `json:"input,omitempty"`
}

// Called records a finished model call, and with it the intent to carry out
// Tools: a call in it that has no ToolReturned when the turn is cut has an
// unknown outcome.
type Called struct {
	Turn
	Call     int        `json:"call"` // from 1 in each take
	Model    string     `json:"model,omitempty"`
	Text     Content    `json:"text,omitzero"`
	Thinking Content    `json:"thinking,omitzero"`
	Tools    []ToolCall `json:"tools,omitempty"`
	Usage    Usage      `json:"usage,omitzero"`
	// Request is the reservation this call settles, if one was needed.
	Request string `json:"request,omitempty"`
	// Native is the provider's own form of the reply, kept so that a history
	// can be rebuilt exactly; Backend, in a session, is whose form it is.
	Native  Content `json:"native,omitzero"`
	Backend string  `json:"backend,omitempty"`
	// Did is what the provider itself did on the way to the reply.
	Did []Step `json:"did,omitempty"`
	// Window is how many tokens the model can hold; zero if nobody knows.
	Window int `json:"window,omitempty"`
	// Unpriced: nobody knows what the call cost; the cost in Usage is none.
	Unpriced bool `json:"unpriced,omitempty"`
	// Sent, in a session or a job, is what of the request is not in the log
	// anyway.
	Sent *Sent `json:"sent,omitempty"`
}

// Sent is the system prompt and the tools of a model call, as JSON; the messages
// are the facts before it. The same ones are one blob.
type Sent struct {
	System Content `json:"system,omitzero"`
	Tools  Content `json:"tools,omitzero"`
}

// A Step is something a provider did by itself while it made a reply: a search
// of the web, a piece of code run in a sandbox of its own.
type Step struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Input  string `json:"input,omitempty"`
	Result string `json:"result,omitempty"`
	Error  bool   `json:"error,omitempty"`
}

// ToolCalled records the intent to carry out one tool call for a backend that
// runs its own loop and reports its model calls only afterwards.
type ToolCalled struct {
	Turn
	Tool ToolCall `json:"tool"`
}

// ToolReturned records what a tool call gave back. Error says that the model
// is told of a failure.
type ToolReturned struct {
	Turn
	Call   string  `json:"call"`
	Name   string  `json:"name"`
	Result Content `json:"result,omitzero"`
	Error  bool    `json:"error,omitempty"`
	Media  []Media `json:"media,omitempty"`
	// Job is the command in the background that the call was about.
	Job *Job `json:"job,omitempty"`
}

// A Job is a command that an agent has going in the background of a turn, as far
// as is known. It ends with the turn at the latest.
type Job struct {
	ID    string `json:"id"`              // as its agent knows it
	Ended string `json:"ended,omitempty"` // how, in words; empty while it runs
}

// Compacted records that an agent's conversation grew too long for its model
// and that its beginning was put into fewer words. The prompt, the task, the
// answers shown and what is pinned stay as they are.
type Compacted struct {
	Turn
	// Messages is how many messages Summary took the place of.
	Messages int     `json:"messages"`
	Before   int64   `json:"before"` // tokens, as near as can be told
	After    int64   `json:"after"`
	Summary  Content `json:"summary"`
	Usage    Usage   `json:"usage,omitzero"`
	// Request is the reservation the summary settles, if one was needed.
	Request string `json:"request,omitempty"`
	// Outline: the model was not asked, so this is no call of it.
	Outline bool `json:"outline,omitempty"`
	// Through is the last fact of a session that Summary covers. Wanted is what the
	// user has said of that in the turn which goes on: it is not summed up.
	Through string  `json:"through,omitempty"`
	Wanted  Content `json:"wanted,omitzero"`
}

// Written records what became of the user's files in a turn that could write
// context paths, counted from when the run first could.
type Written struct {
	Turn
	// Changes are the first of them, in order of their paths; Total counts all.
	Changes []Change `json:"changes,omitempty"`
	Total   int      `json:"total"`
	// List is the file that names every one, where there are more than a person
	// wants to read.
	List string `json:"list,omitempty"`
}

// A Change is what became of one file.
type Change struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // new, modified or deleted
}

// Kinds of changes.
const (
	ChangeNew      = "new"
	ChangeModified = "modified"
	ChangeDeleted  = "deleted"
)

// Noticed records something about an agent's equipment that its user should
// know, such as a server that does not start. The run goes on without it.
type Noticed struct {
	Turn
	Text string `json:"text"`
}

// Wished asks a person whether an agent may carry out a tool call. Action is
// exactly what would be done, for a person to read; Hash is of all of it.
type Wished struct {
	Turn
	Call   string  `json:"call"`
	Tool   string  `json:"tool"`
	Action Content `json:"action"`
	Hash   Hash    `json:"hash"`
	// Rule says why it has to be asked.
	Rule string `json:"rule,omitempty"`
}

// Told records that a note reached an agent in the middle of a turn. Seen is
// what it knows from then on.
type Told struct {
	Turn
	Note string `json:"note"` // "news", "wrap_up", "message" or "job"
	Seen Seen   `json:"seen,omitempty"`
	// Messages are the ids of those it has read with this. One that was taken
	// back before does not count, and the agent has not been shown it.
	Messages []string `json:"messages,omitempty"`
	// Job is what has become of a command that a person has ended.
	Job *Job `json:"job,omitempty"`
}

// Proposed is everything one reply of an agent put forward as the outcome of
// its round. Anything but exactly one outcome is refused.
type Proposed struct {
	Turn
	Outcomes []Outcome `json:"outcomes,omitempty"`
	// Follows: the call it was made in goes on, and a Called with what that has cost
	// comes after it.
	Follows bool `json:"follows,omitempty"`
}

// An Outcome is an answer or a vote; exactly one field is set.
type Outcome struct {
	Answer *Answer `json:"answer,omitempty"`
	Vote   *Vote   `json:"vote,omitempty"`
}

// An Answer is a proposed answer with what a decision needs to know of its text.
type Answer struct {
	Content Content `json:"content"`
	// Print is equal for texts that differ in white space only.
	Print Hash `json:"print,omitempty"`
	// Similarity is the highest likeness, 0 to 1, to any answer the author knows.
	Similarity float64 `json:"similarity,omitempty"`
	// Snapshot names the author's workspace as it was, immutable.
	Snapshot string `json:"snapshot,omitempty"`
}

// A Vote is a proposed vote, in the labels the voter knows.
type Vote struct {
	For     Label   `json:"for"`
	Reason  string  `json:"reason,omitempty"`
	Ranking []Label `json:"ranking,omitempty"` // best first
}

// Answered accepts a proposed answer as the agent's next revision.
type Answered struct {
	Turn
	Proposal string  `json:"proposal"`
	Revision int     `json:"revision"`
	Content  Content `json:"content"`
	Print    Hash    `json:"print,omitempty"`
	Seen     Seen    `json:"seen,omitempty"`
	Snapshot string  `json:"snapshot,omitempty"`
}

// Voted accepts a proposed vote. Whether it still counts is never stored: it
// does while Seen covers every answer, or if it was cast Closing.
type Voted struct {
	Turn
	Proposal string    `json:"proposal"`
	For      AgentID   `json:"for"`
	Reason   string    `json:"reason,omitempty"`
	Ranking  []AgentID `json:"ranking,omitempty"`
	Seen     Seen      `json:"seen,omitempty"`
	Closing  bool      `json:"closing,omitempty"`
}

// Refused turns down the proposal, request, reply or message named by Ref. Why
// is written for whoever made it; Over says that the turn it came from ends
// with it and need not try again.
type Refused struct {
	Ref  string `json:"ref"`
	Code string `json:"code"`
	Why  string `json:"why"`
	Over bool   `json:"over,omitempty"`
}

// RefusedWait is the code of a request that is refused for now: other calls
// hold what it asks for, and its turn is told when to ask again.
const RefusedWait = "wait"

// Admitted confirms that the flow took in what came by its inbox.
type Admitted struct {
	Ref string `json:"ref"`
}

// Interrupted ends a take that was cut off. Unknown are the tool calls whose
// effects may or may not have happened.
type Interrupted struct {
	Turn
	Why     string     `json:"why"`
	Unknown []ToolCall `json:"unknown,omitempty"`
}

// Failed ends a take without an outcome. Final says that trying again cannot
// help.
type Failed struct {
	Turn
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	Final   bool   `json:"final,omitempty"`
	// RetryAfter is how long the provider asked to be left alone.
	RetryAfter Duration `json:"retry_after,omitempty"`
	Usage      Usage    `json:"usage,omitzero"`
	Request    string   `json:"request,omitempty"`
	// Partial is what the agent had said until then. It is never voted on.
	Partial Content `json:"partial,omitzero"`
}

// Warned records that a soft deadline has passed: of the agent's turn, or, with
// no agent, of the whole run. A person who asks everybody to wrap up brings the
// latter about as well.
type Warned struct {
	Turn
}

// Lost records that an agent will not act again in this run. Its answers stay.
// With the code [LostStopped] a person has asked for it.
type Lost struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// LostStopped is the code of the loss of an agent that a person has stopped.
const LostStopped = "stopped"

// TimerFired records that time has passed and nothing else has happened.
type TimerFired struct{}

// CancelRequested asks a flow to end now with what it has.
type CancelRequested struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Ending records why a run stops before its votes have settled it.
type Ending struct {
	By  StoppedBy `json:"by"`
	Why string    `json:"why,omitempty"`
}

// Chosen names the winner and how it came about.
type Chosen struct {
	Winner AgentID         `json:"winner"`
	How    string          `json:"how"` // votes, rankings, draw, only, newest
	Tally  map[AgentID]int `json:"tally,omitempty"`
	Margin int             `json:"margin,omitempty"`
	// Order is every agent that has an answer, best first: who presents if the
	// winner cannot.
	Order []AgentID `json:"order"`
}

// Presenting sets an agent to write the final answer from Draft.
type Presenting struct {
	Turn
	Strategy Strategy `json:"strategy"`
	Draft    AgentID  `json:"draft"`
	Revision int      `json:"revision"`
	// Execute: all tools are bound and the winning plan is carried out.
	Execute bool `json:"execute,omitempty"`
	// Write: the writable context paths are writable now.
	Write bool `json:"write,omitempty"`
	// Messages are the ids of those in its prompt.
	Messages []string `json:"messages,omitempty"`
}

// Presented is the final answer as the presenter wrote it.
type Presented struct {
	Turn
	Content  Content `json:"content"`
	Snapshot string  `json:"snapshot,omitempty"`
}

// Finished closes a run. It is the last event of its log.
type Finished struct {
	Status    Status    `json:"status"`
	StoppedBy StoppedBy `json:"stopped_by"`
	Answer    Content   `json:"answer,omitzero"`
	Winner    AgentID   `json:"winner,omitempty"`
	Presenter AgentID   `json:"presenter,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// A Status is how a run ended.
type Status string

const (
	StatusSuccess   Status = "success"
	StatusTimeout   Status = "timeout"
	StatusError     Status = "error"
	StatusCancelled Status = "cancelled"
)

// StoppedBy is what ended the coordination.
type StoppedBy string

const (
	StoppedByVotes       StoppedBy = "votes"
	StoppedByAnswerLimit StoppedBy = "answer_limit"
	StoppedByBudget      StoppedBy = "budget"
	StoppedByDeadline    StoppedBy = "deadline"
	StoppedByUser        StoppedBy = "user"
	StoppedByFailure     StoppedBy = "failure"
)
