package event

import "encoding/json"

// Kinds of sessions besides SessionCoordinate.
const (
	// SessionInteractive: a person talks to one agent, which launches runs.
	SessionInteractive = "interactive"
	// SessionClient: a program outside launches runs; it has no agent of ours.
	SessionClient = "client"
)

// Staffed says who talks in a session and by which rules, from now on. The driver
// records it first, and again when the configuration has changed meanwhile.
type Staffed struct {
	// Seat is the agent people talk to; in a session of a client it has none.
	Seat Seat `json:"seat,omitzero"`
	// Team are the agents that runs can be launched with, in order.
	Team  []Teammate   `json:"team,omitempty"`
	Rules SessionRules `json:"rules"`
	// ContextPaths are those of the configuration, which every run inherits.
	ContextPaths []ContextPath `json:"context_paths,omitempty"`
	// Dir is the session's workspace, with projects and scratch in it.
	Dir string `json:"dir,omitempty"`
}

// A Teammate is an agent that can be set to work in a run.
type Teammate struct {
	Agent   AgentID `json:"agent"`
	Backend string  `json:"backend"`
	Model   string  `json:"model,omitempty"`
	// About is what it can do, in words for a model.
	About string `json:"about,omitempty"`
}

// SessionRulesVersion is the version of the rules a session is given. Since version
// 2 a run is not granted what its agent needs to say what came of it; since version
// 3 who cancels what is being cancelled already is told so.
const SessionRulesVersion = 3

// SessionRules are the settings of a session, already resolved.
type SessionRules struct {
	Version int `json:"version"`
	// Approve: a person is asked before a run is launched.
	Approve bool `json:"approve,omitempty"`
	// Disabled: what is said while a run goes on is refused, not held.
	Disabled bool `json:"disabled,omitempty"`
	// MaxCalls bounds the model calls of one turn, MaxAttempts how often a turn
	// that fails is taken, MaxRuns how many runs go on at once.
	MaxCalls    int `json:"max_calls"`
	MaxAttempts int `json:"max_attempts"`
	MaxRuns     int `json:"max_runs"`
	// Budget is over the conversation and all its runs together; RunBudget is the
	// most that one run is granted of it.
	Budget    Budget `json:"budget,omitzero"`
	RunBudget Budget `json:"run_budget,omitzero"`
	// Permission says whether a person can be asked before a tool is used.
	Permission Override `json:"permission,omitzero"`
}

// A Launch is a run that somebody wants: what launch_run takes, with its defaults
// filled in.
type Launch struct {
	Task    Content `json:"task"`
	Context Content `json:"context,omitzero"`
	Single  bool    `json:"single,omitempty"`
	// Agents are who works on it; never empty.
	Agents []AgentID `json:"agents"`
	// Quick is refinement off.
	Quick bool `json:"quick,omitempty"`
	Plan  bool `json:"plan,omitempty"`
	// Execute: the winner of a planning run carries out its plan.
	Execute bool `json:"execute,omitempty"`
	// Paths are besides the inherited ones; for the same path these hold.
	Paths []ContextPath `json:"paths,omitempty"`
	// Prompts are appended to the system prompts of agents in this run.
	Prompts map[AgentID]string `json:"prompts,omitempty"`
	// Overrides is a JSON object of documented coordination settings.
	Overrides json.RawMessage `json:"overrides,omitempty"`
	// Approve: whoever wants it wants a person to be asked, whatever the rules.
	Approve bool `json:"approve,omitempty"`
}

// An Estimate is what a run may come to, and what that is guessed from.
type Estimate struct {
	Tokens int64  `json:"tokens,omitempty"`
	Cost   Money  `json:"cost,omitempty"`
	Basis  string `json:"basis,omitempty"`
}

// Wanted asks for a run: the agent of a session, or a client by the inbox. It is
// answered with Refused, with Launched, or with Asked if a person decides. What
// the run has come to is Returned.
type Wanted struct {
	Turn
	// Call is the agent's tool call; empty if a client wants it.
	Call     string    `json:"call,omitempty"`
	Launch   Launch    `json:"launch"`
	Estimate *Estimate `json:"estimate,omitempty"`
	By       string    `json:"by,omitempty"`
}

// Amended is a wanted run as a person has changed it before deciding. It comes by
// the inbox; Revision is the one that was changed. The next one is asked about.
type Amended struct {
	Want     string    `json:"want"` // the id of its fact
	Revision int       `json:"revision"`
	Launch   Launch    `json:"launch"`
	Estimate *Estimate `json:"estimate,omitempty"`
	By       string    `json:"by,omitempty"`
}

// Concluded ends a turn of the session's agent: it has said what it had to say.
type Concluded struct {
	Turn
}

// Waived says that from now on nobody is asked before a run is launched, or that
// it is so no longer. Only a person can say it.
type Waived struct {
	On bool   `json:"on,omitempty"`
	By string `json:"by,omitempty"`
}

// Pinned says that something said in the session stays word for word however long
// the conversation gets, or need not any more. Message is the id of its fact: of
// a Said, of a Called with the agent's words, or of a Returned.
type Pinned struct {
	Message string `json:"message"`
	On      bool   `json:"on,omitempty"`
	By      string `json:"by,omitempty"`
}

// Archived puts a session away, out of lists, or takes it out again.
type Archived struct {
	On bool   `json:"on,omitempty"`
	By string `json:"by,omitempty"`
}

// Opened says on which project the session works from now on; empty is none. Both
// the agent and people say it.
type Opened struct {
	Project string `json:"project"`
	By      string `json:"by,omitempty"`
}

// Published records that a version of a deliverable was put into a project.
type Published struct {
	Project string `json:"project"`
	Path    string `json:"path"` // in the project's deliverables
	Version int    `json:"version"`
	Hash    Hash   `json:"hash"`
	Size    int64  `json:"size"`
	// Run is the run it came from; empty if the agent or a person made it.
	Run  FlowID `json:"run,omitempty"`
	Note string `json:"note,omitempty"`
	By   string `json:"by,omitempty"`
}

// ToolLaunchRun is the tool with which a run is launched.
const ToolLaunchRun = "launch_run"
