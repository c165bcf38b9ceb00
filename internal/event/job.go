package event

import (
	"encoding/json"
	"strconv"
)

// JobStarted opens a job: somebody wants something larger done, from documents
// and datasources, by a plan that a person looks at first. The description is
// what they want; instructions are binding besides.
type JobStarted struct {
	Title        string     `json:"title,omitempty"`
	Description  Content    `json:"description"`
	Instructions Content    `json:"instructions,omitzero"`
	Documents    []Document `json:"documents,omitempty"`
	Sources      []Source   `json:"sources,omitempty"`
	// Seat is the agent that plans and works.
	Seat  Seat     `json:"seat"`
	Rules JobRules `json:"rules"`
	// Dir is the job's workspace, a git repository of its own. The documents are
	// in it already.
	Dir string `json:"dir"`
	// Config is the file the agents come from, empty for the project's own.
	Config string `json:"config,omitempty"`
	// Companion is the session in which people talk about the job; Parent the
	// session the job was begun from.
	Companion FlowID `json:"companion,omitempty"`
	Parent    FlowID `json:"parent,omitempty"`
	// Asks: a person can be asked before a tool is used.
	Asks bool   `json:"asks,omitempty"`
	By   string `json:"by,omitempty"`
}

// A Document is a file that a job was given, copied to documents/ in its
// workspace.
type Document struct {
	Path string `json:"path"` // below documents/
	Size int64  `json:"size"`
	Hash Hash   `json:"hash"`
}

// A Source is a datasource that a job may look into.
type Source struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Where is a path or an address, without secrets; Secret is the variable of
	// the environment that holds the password.
	Where  string `json:"where,omitempty"`
	Secret string `json:"secret,omitempty"`
	// Write: the job may change what is there. It may only once its plan was
	// approved.
	Write bool `json:"write,omitempty"`
	// Server is an MCP server, as it was configured.
	Server json.RawMessage `json:"server,omitempty"`
}

// Kinds of datasources.
const (
	SourceDir      = "dir"
	SourceSQLite   = "sqlite"
	SourcePostgres = "postgres"
	SourceNeo4j    = "neo4j"
	SourceMCP      = "mcp"
)

// JobRulesVersion is the version of the rules a job is given.
const JobRulesVersion = 1

// JobRules are the settings of a job, already resolved.
type JobRules struct {
	Version int `json:"version"`
	// Review is when a person is asked; see the constants.
	Review string `json:"review"`
	// Execute is who carries out a tactical phase: the agent itself, or a run of
	// Agents who answer and vote.
	Execute string    `json:"execute"`
	Agents  []AgentID `json:"agents,omitempty"`
	// Limits: phases in all, todos in one phase, model calls and failures of one
	// turn, turns in a row that complete nothing, and from which round of review
	// on the person is offered other ways.
	MaxPhases   int `json:"max_phases"`
	MaxTodos    int `json:"max_todos"`
	MaxCalls    int `json:"max_calls"`
	MaxAttempts int `json:"max_attempts"`
	MaxIdle     int `json:"max_idle"`
	SoftRounds  int `json:"soft_rounds,omitempty"`
	// Budget is over everything the job does; Time over when it works: what waits
	// for a person costs none.
	Budget Budget   `json:"budget,omitzero"`
	Time   Duration `json:"time,omitempty"`
	// Permission says whether a person can be asked before a tool is used.
	Permission Override `json:"permission,omitzero"`
}

// When a job waits for a person to look at its plan.
const (
	// ReviewAuto: if there are documents, datasources, several phases or open
	// questions, after the first strategic phase.
	ReviewAuto  = "auto"
	ReviewNever = "never"
	ReviewFirst = "first" // after the first strategic phase
	ReviewPlans = "plans" // after every strategic phase
)

// Who carries out tactical phases.
const (
	ExecuteSingle = "single"
	ExecuteRun    = "run"
)

// Prepared records that the job's workspace is ready: a repository with the
// documents and a description of every tool in it.
type Prepared struct {
	Commit string     `json:"commit"`
	Tools  []string   `json:"tools,omitempty"`
	Files  []KeptFile `json:"files,omitempty"`
}

// A Todo is one thing to be done in a phase.
type Todo struct {
	ID   string `json:"id"` // "1", "2", …, unique in its phase
	Text string `json:"text"`
	// Skip: a person has unticked it, so it is not done.
	Skip bool   `json:"skip,omitempty"`
	Done bool   `json:"done,omitempty"`
	Note string `json:"note,omitempty"`
}

// Kinds of phases, and what strategic ones are for.
const (
	PhaseStrategic = "strategic"
	PhaseTactical  = "tactical"

	PurposeInitial    = "initial"    // look at everything, make the plan
	PurposeTransition = "transition" // look at what was done, plan what is next or complete the job
	PurposeRevise     = "revise"     // a person wants the plan changed
	PurposeCorrect    = "correct"    // a person wants something else of the result
	PurposeTactical   = "tactical"   // carry out the todos
)

// PhaseBegun begins a phase. Phases count from 1 in one job; a revision of a plan
// belongs to the phase it revises, as another Iteration of it, and goes on with
// its conversation; any other begins with a new one.
type PhaseBegun struct {
	Phase     int    `json:"phase"`
	Iteration int    `json:"iteration"` // from 1
	Kind      string `json:"kind"`
	Purpose   string `json:"purpose"`
	Name      string `json:"name,omitempty"`
	Todos     []Todo `json:"todos"`
	// Ref is what led to it: the id of a reply or of a Corrected; empty if the
	// phase before it did.
	Ref string `json:"ref,omitempty"`
}

// Key names an iteration of a phase in ids.
func (p PhaseBegun) Key() string {
	return "phase/" + strconv.Itoa(p.Phase) + "." + strconv.Itoa(p.Iteration)
}

// PhaseEnded ends an iteration of a phase. How is one of the constants.
type PhaseEnded struct {
	Phase     int    `json:"phase"`
	Iteration int    `json:"iteration"`
	How       string `json:"how"`
	Why       string `json:"why,omitempty"`
}

// How phases end.
const (
	EndedDone       = "done"       // everything in it was done
	EndedRewound    = "rewound"    // the agent gave its todos up
	EndedCompleting = "completing" // it was the last one
	EndedTrouble    = "trouble"    // it cannot go on; a person is asked
	EndedCancelled  = "cancelled"
)

// Briefed is what a job tells its agent at the beginning of a turn: the phase,
// the files it goes by, what a person said. Its agent hears it from the user.
type Briefed struct {
	Turn
	Text Content `json:"text"`
	// Messages are those that came to a member of a team in the middle of its turn
	// and stand in the text. If one was taken back before, this does not count, and
	// the member has not been shown it.
	Messages []string `json:"messages,omitempty"`
}

// What an agent puts forward with its tools. Each is answered in the same
// transaction with Admitted or with Refused, which says why. Call is its tool
// call.

// TodosStaged are the todos of the next tactical phase.
type TodosStaged struct {
	Turn
	Call  string `json:"call,omitempty"`
	Name  string `json:"name,omitempty"` // of the phase
	Todos []Todo `json:"todos"`
}

// TodosDone says that todos of the phase are done.
type TodosDone struct {
	Turn
	Call  string   `json:"call,omitempty"`
	Todos []string `json:"todos"`
	Note  string   `json:"note,omitempty"`
}

// TodosRewound gives up the todos of a tactical phase: the plan is wrong.
type TodosRewound struct {
	Turn
	Call  string `json:"call,omitempty"`
	Issue string `json:"issue"`
}

// Completing says that with this strategic phase the job is complete.
type Completing struct {
	Turn
	Call string `json:"call,omitempty"`
	JobOutcome
}

// A JobOutcome is what a job has come to.
type JobOutcome struct {
	Summary      string   `json:"summary"`
	Deliverables []string `json:"deliverables,omitempty"`
	Confidence   float64  `json:"confidence,omitempty"` // 0 to 1
	Notes        string   `json:"notes,omitempty"`
}

// Addressed says how the agent dealt with a comment of a person's: Changed, and
// where, or why not.
type Addressed struct {
	Turn
	Call    string `json:"call,omitempty"`
	Comment string `json:"comment"` // the id of its fact
	Changed bool   `json:"changed,omitempty"`
	Text    string `json:"text"`
}

// Kept records that the workspace was committed because of the fact named by Ref,
// and how the files stand that plan the job.
type Kept struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
	// Same: nothing had changed since the commit before. Idle: nothing but what the
	// commit itself has written.
	Same  bool       `json:"same,omitempty"`
	Idle  bool       `json:"idle,omitempty"`
	Tag   string     `json:"tag,omitempty"`
	Files []KeptFile `json:"files,omitempty"`
	Plan  PlanRead   `json:"plan,omitzero"`
}

// A KeptFile is a file that people may change while the job waits for them.
type KeptFile struct {
	Path  string `json:"path"`
	Hash  Hash   `json:"hash"`
	Size  int64  `json:"size"`
	Lines int    `json:"lines,omitempty"`
}

// A PlanRead is what the files of a job say of what comes next.
type PlanRead struct {
	// Name and Todos are those of todos.yaml; Problem is why it cannot be read.
	Name    string `json:"name,omitempty"`
	Todos   []Todo `json:"todos,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Phases is how many the plan speaks of, zero if that cannot be told;
	// Questions are those it asks.
	Phases    int        `json:"phases,omitempty"`
	Questions []Question `json:"questions,omitempty"`
}

// A Question is one that a plan asks. Unless a person says otherwise its default
// holds.
type Question struct {
	ID      string `json:"id"` // made of its text
	Text    string `json:"text"`
	Default string `json:"default,omitempty"`
}

// Gate kinds of jobs, and their choices.
const (
	// GateReview: a job waits for a person to look at its plan.
	GateReview = "review"
	// GateTrouble: a job cannot go on by itself.
	GateTrouble = "trouble"

	ReviewApprove = "approve" // this revision is carried out
	ReviewChange  = "change"  // the plan is revised, and asked about again
	ReviewSkip    = "skip"    // as approve, and no plan of the job is asked about again
	ReviewCancel  = "cancel"

	TroubleRetry  = "retry"  // go on, with as much again of what had run out
	TroubleChange = "change" // plan anew, with what is said
	TroubleCancel = "cancel"
)

// What people say to a job. Each comes by the inbox and is answered with Admitted
// or Refused.

// Edited is a file as a person has changed it. Base is what it was then: if it is
// something else by now, the edit is refused. Proposal is the tool call of the
// companion that proposed it.
type Edited struct {
	Path     string  `json:"path"`
	Base     Hash    `json:"base,omitempty"`
	Text     Content `json:"text"`
	Proposal string  `json:"proposal,omitempty"`
	By       string  `json:"by,omitempty"`
}

// Commented says something about lines of a file, or with Reply about another
// comment.
type Commented struct {
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"` // from 1; zero is the file as a whole
	End   int    `json:"end,omitempty"`
	Quote string `json:"quote,omitempty"` // what stood there
	Text  string `json:"text"`
	Reply string `json:"reply,omitempty"` // the id of the first comment of the thread
	By    string `json:"by,omitempty"`
}

// Resolved says that a comment needs nothing more, or does again.
type Resolved struct {
	Comment string `json:"comment"`
	On      bool   `json:"on,omitempty"`
	By      string `json:"by,omitempty"`
}

// Responded answers a question of the plan.
type Responded struct {
	Question string `json:"question"`
	Text     string `json:"text"`
	By       string `json:"by,omitempty"`
}

// Drafted is feedback that somebody is writing and has not given yet.
type Drafted struct {
	Text string `json:"text"`
	By   string `json:"by,omitempty"`
}

// Corrected asks for something else of a job that is over: it goes on with a
// strategic phase.
type Corrected struct {
	Text Content `json:"text"`
	By   string  `json:"by,omitempty"`
}

// JobEnded says that nothing goes on in a job any more: it is complete, failed or
// cancelled. A Corrected takes it up again.
type JobEnded struct {
	Status Status `json:"status"`
	Why    string `json:"why,omitempty"`
	JobOutcome
}

// Mutated records what a job changed in a graph.
type Mutated struct {
	Turn
	Source    string         `json:"source"`
	Statement string         `json:"statement"`
	Counters  map[string]int `json:"counters,omitempty"`
}

// Outlined is a job that somebody is about to begin, in the session of its
// companion. Both the companion and people say it.
type Outlined struct {
	Title        string  `json:"title,omitempty"`
	Description  Content `json:"description,omitzero"`
	Instructions Content `json:"instructions,omitzero"`
	By           string  `json:"by,omitempty"`
}

// Linked says which job a companion's session is about, from now on.
type Linked struct {
	Job FlowID `json:"job"`
	By  string `json:"by,omitempty"`
}

// Tiered says whether a companion has the tools of a tier: "on", "off", or "auto"
// as the state of its job calls for. It comes by the inbox.
type Tiered struct {
	Tier string `json:"tier"`
	Set  string `json:"set"`
	By   string `json:"by,omitempty"`
}

// The tiers.
const (
	TierBasic    = "basic"
	TierResearch = "research"
	TierHistory  = "history"
	TierDebug    = "debug"
	TierPropose  = "propose"
	TierOutline  = "outline"
)

// SessionCompanion is the kind of a session in which people talk about a job with
// an agent that can look into everything of it and change nothing.
const SessionCompanion = "companion"

// Tools with which the agent of a job goes through its phases.
const (
	ToolNextPhaseTodos = "next_phase_todos"
	ToolTodoComplete   = "todo_complete"
	ToolTodoList       = "todo_list"
	ToolTodoRewind     = "todo_rewind"
	ToolJobComplete    = "job_complete"
	ToolAddressComment = "address_comment"
)
