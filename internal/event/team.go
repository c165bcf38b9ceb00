package event

// TeamStarted opens a team: a leader sets members to work, who report back to it
// and write to one another, over many turns, until it finishes.
type TeamStarted struct {
	Name  string  `json:"name"` // of the team's description
	Title string  `json:"title,omitempty"`
	Task  Content `json:"task"`
	// Leader leads; Roles are what members can be, in order.
	Leader TeamRole    `json:"leader"`
	Roles  []TeamRole  `json:"roles"`
	Phases []TeamPhase `json:"phases,omitempty"`
	Rules  TeamRules   `json:"rules"`
	// Dir is the team's directory: the shared tree is tree/ in it, that of a member
	// members/<name>/. Source is the folder of the user's that the shared tree began
	// as a copy of; empty is an empty one.
	Dir    string `json:"dir"`
	Source string `json:"source,omitempty"`
	// ContextPaths may be read by everybody, and are written by nobody.
	ContextPaths []ContextPath `json:"context_paths,omitempty"`
	// File is the description of the team, Config that of the agents; either may be
	// empty.
	File   string `json:"file,omitempty"`
	Config string `json:"config,omitempty"`
	// Asks: a person can be asked before a tool is used, and when there is trouble.
	Asks bool   `json:"asks,omitempty"`
	By   string `json:"by,omitempty"`
}

// A TeamRole is what a member of a team can be.
type TeamRole struct {
	Name  string `json:"name"` // as members are called: pm, front-end
	Title string `json:"title,omitempty"`
	// Avatar is a character or two that people know it by.
	Avatar string `json:"avatar,omitempty"`
	// About tells the leader what it is for; Prompt is what a member is told.
	About  string `json:"about,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Seat   Seat   `json:"seat"`
	// Most is how many members of the role there may be at once; zero is one.
	Most int `json:"most,omitempty"`
}

// A TeamPhase is a stage of the team's work, for people to follow it by: it is
// over when everything is that its roles were set to do. What phases there are
// does not bind the leader.
type TeamPhase struct {
	Name  string   `json:"name"`
	Roles []string `json:"roles"`
}

// TeamRulesVersion is the version of the rules a team is given. Since version 2 the
// leader cannot be stopped alone, who takes back what was read is told by whom, a
// member whose task is given to somebody else is told, and a leader is not told that a
// member was stopped by "you".
const TeamRulesVersion = 2

// TeamRules are the settings of a team, already resolved.
type TeamRules struct {
	Version int `json:"version"`
	// MaxMembers bounds the members that are not lost, MaxTurns all turns of the
	// team. MaxCalls bounds the model calls of a turn, MaxAttempts how often a turn
	// that fails or hangs is taken, MaxIdle how often in a row somebody is reminded
	// of what it has left undone.
	MaxMembers  int `json:"max_members"`
	MaxTurns    int `json:"max_turns"`
	MaxCalls    int `json:"max_calls"`
	MaxAttempts int `json:"max_attempts"`
	MaxIdle     int `json:"max_idle"`
	// Turn bounds one turn, Time the whole session; Grace before either there is a
	// warning. Time that somebody is asked does not count for whom it is about.
	Turn  Duration `json:"turn,omitempty"`
	Time  Duration `json:"time,omitempty"`
	Grace Duration `json:"grace,omitempty"`
	// Budget is over everybody together.
	Budget Budget `json:"budget,omitzero"`
	// Permission says whether a person can be asked before a tool is used.
	Permission Override `json:"permission,omitzero"`
}

// What members put forward with their tools. Each is answered in the same
// transaction with Admitted or with Refused, which says why. Call is its tool call.

// Spawned brings a member into the team, by its leader.
type Spawned struct {
	Turn
	Call   string  `json:"call,omitempty"`
	Member AgentID `json:"member"`
	Role   string  `json:"role"`
}

// Tasked puts a task into the ledger and into the mailbox of its owner, by the
// leader. A task of that name that is not open is set again; one that is open
// changes hands if its owner is another.
type Tasked struct {
	Turn
	Call   string  `json:"call,omitempty"`
	Task   string  `json:"task"` // a short name, unique in the team
	Owner  AgentID `json:"owner"`
	Title  string  `json:"title"`
	Detail Content `json:"detail,omitzero"`
}

// Mailed is a message of one member to others: each gets it once, in the order in
// which they were recorded. A question makes its sender wait for the answer.
type Mailed struct {
	Turn
	Call string    `json:"call,omitempty"`
	To   []AgentID `json:"to"`
	Text Content   `json:"text"`
	// Question: its sender asks the leader and waits.
	Question bool `json:"question,omitempty"`
}

// Reported says how a task stands, by its owner, to the leader.
type Reported struct {
	Turn
	Call    string    `json:"call,omitempty"`
	Task    string    `json:"task"`
	State   TaskState `json:"state"` // done, blocked or failed
	Summary Content   `json:"summary"`
	Files   []string  `json:"files,omitempty"`
}

// A TaskState is how a task stands.
type TaskState string

const (
	TaskOpen    TaskState = "open"
	TaskDone    TaskState = "done"
	TaskBlocked TaskState = "blocked" // its owner cannot go on without the leader
	TaskFailed  TaskState = "failed"
)

// Awaited says for whom somebody waits, and ends its turn: it is set to work again
// when any of them, or all, have reported, asked or are lost, when a person speaks to
// it, or when the time is over.
type Awaited struct {
	Turn
	Call    string    `json:"call,omitempty"`
	Members []AgentID `json:"members,omitempty"` // empty is anybody
	All     bool      `json:"all,omitempty"`
	For     Duration  `json:"for,omitempty"`
}

// Finishing ends the team's work, by its leader. With Abandon it says why what is
// open or not merged is left so.
type Finishing struct {
	Turn
	Call    string `json:"call,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	Abandon string `json:"abandon,omitempty"`
	TeamOutcome
}

// A TeamOutcome is what a team has come to. Deliverables are paths in the shared
// tree.
type TeamOutcome struct {
	Summary      Content  `json:"summary,omitzero"`
	Deliverables []string `json:"deliverables,omitempty"`
}

// What is recorded of the trees.

// Rooted records that a member has a tree to work in, begun from the shared one.
type Rooted struct {
	Dir    string `json:"dir"`
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit"`
}

// Committed records the state of a member's tree at the end of a turn, or of the
// shared one.
type Committed struct {
	Turn
	Commit string `json:"commit"`
	// Same: nothing had changed.
	Same    bool     `json:"same,omitempty"`
	Changes []Change `json:"changes,omitempty"` // the first of them
	Total   int      `json:"total,omitempty"`
}

// Merged records that the leader brought the work of a member into the shared
// tree, or that it could not: then nothing has changed and Conflicts are the files
// both have changed.
type Merged struct {
	Turn
	Call   string  `json:"call,omitempty"`
	Member AgentID `json:"member"`
	// From is the member's commit, Commit that of the shared tree afterwards.
	From      string   `json:"from"`
	Commit    string   `json:"commit,omitempty"`
	Changes   []Change `json:"changes,omitempty"`
	Total     int      `json:"total,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
	// Prefer is whose side was taken in conflicts: "theirs" is the member's.
	Prefer string `json:"prefer,omitempty"`
}

// Synced records that the shared tree was brought into a member's, before a turn of
// its. Conflicts are files in which it finds both sides marked.
type Synced struct {
	Commit    string   `json:"commit"`
	From      string   `json:"from"` // of the shared tree
	Conflicts []string `json:"conflicts,omitempty"`
}

// What a team decides besides.

// Notified is a message of the program itself to a member.
type Notified struct {
	To    AgentID `json:"to"`
	Code  string  `json:"code"`            // see the constants
	About AgentID `json:"about,omitempty"` // another member
	Text  string  `json:"text"`
}

// Codes of notices.
const (
	NoticePending    = "pending"    // it stopped with tasks of its own open
	NoticeIdle       = "idle"       // nobody works and nothing waits; for the leader
	NoticeStalled    = "stalled"    // a member does not go on with its tasks; for the leader
	NoticeLost       = "lost"       // a member is lost; for the leader
	NoticeRestart    = "restart"    // a member hung or failed and is begun again; for the leader
	NoticeWaited     = "waited"     // the time to wait is over
	NoticeTime       = "time"       // the session is nearly over; for the leader
	NoticeWrapUp     = "wrap_up"    // a person wants the team to come to its end; for the leader
	NoticeBudget     = "budget"     // the money is nearly spent; for the leader
	NoticeMended     = "mended"     // a person has had the team go on after trouble; for the leader
	NoticeUnsolved   = "unsolved"   // a question was left without an answer by a leader that ended its turn
	NoticeReassigned = "reassigned" // a task of its own was given to somebody else
)

// TeamEnded is the last event of a team.
type TeamEnded struct {
	Status    Status    `json:"status"`
	StoppedBy StoppedBy `json:"stopped_by,omitempty"`
	Why       string    `json:"why,omitempty"`
	TeamOutcome
}

// Tools of a team.
const (
	ToolSpawnMember = "spawn_member"
	ToolSendMessage = "send_message"
	ToolWaitFor     = "wait_for"
	ToolListMembers = "list_members"
	ToolAssign      = "assign"
	ToolMerge       = "merge"
	ToolFinish      = "finish"
	ToolReport      = "report"
	ToolAskLeader   = "ask_leader"
)

// LeaderName is what the leader of a team is called unless its description says
// otherwise.
const LeaderName = "leader"
