package event

// Kinds of sessions.
const (
	// SessionCoordinate: each thing said launches a run, with all that was said
	// before as its context.
	SessionCoordinate = "coordinate"
)

// SessionStarted opens a session: a conversation that launches runs.
type SessionStarted struct {
	Kind string `json:"kind"`
	// Config is the file its agents come from; empty is the project's own.
	Config string `json:"config,omitempty"`
	// From is a run that was there before the session, with which the
	// conversation begins.
	From FlowID `json:"from,omitempty"`
	// Asks: somebody can be asked: for permissions, and before the winner of a
	// vote presents.
	Asks bool   `json:"asks,omitempty"`
	By   string `json:"by,omitempty"`
	// Fork is the session whose log, up to its event Through, this one begins
	// with; Origin is the first of such a line, from whose id the names of its
	// runs were drawn.
	Fork    FlowID `json:"fork,omitempty"`
	Through uint64 `json:"through,omitempty"`
	Origin  FlowID `json:"origin,omitempty"`
	// Client names the program that launches runs, in a session of one.
	Client string `json:"client,omitempty"`
	// Job is what a companion's session is about; empty if that is not begun yet.
	Job FlowID `json:"job,omitempty"`
}

// Modes are how something said is to be worked on. The zero value is the full
// thing: all agents, who refine and vote.
type Modes struct {
	Plan   bool    `json:"plan,omitempty"`   // a plan first, for a person to approve
	Single bool    `json:"single,omitempty"` // one agent: Agent, or the first
	Agent  AgentID `json:"agent,omitempty"`
	Quick  bool    `json:"quick,omitempty"` // refinement off
}

// Said is what the person says in a session. It comes by the inbox and is
// answered with Admitted or Refused.
type Said struct {
	Text Content `json:"text"`
	// Paths and Images come with it, besides what the text itself names.
	Paths  []ContextPath `json:"paths,omitempty"`
	Images []string      `json:"images,omitempty"` // files
	// Media are the images as they were when it was said; without them the files
	// are read when they are shown.
	Media []Media `json:"media,omitempty"`
	Modes Modes   `json:"modes,omitzero"`
	By    string  `json:"by,omitempty"`
}

// Purposes of a run in a session.
const (
	PurposeAnswer  = "answer"
	PurposePlan    = "plan"
	PurposeExecute = "execute"
	// PurposeTask: somebody wanted it with launch_run.
	PurposeTask = "task"
)

// Launched records that a session launches a run. The run has a log of its own.
type Launched struct {
	Run     FlowID `json:"run"`
	Purpose string `json:"purpose"`
	Said    string `json:"said"` // the id of what was said
	// Plan is the plan to be made, changed or carried out; Note is what the
	// person said about it: what to change, or what to mind besides.
	Plan     string `json:"plan,omitempty"`
	Revision int    `json:"revision,omitempty"` // of the plan it starts from
	Note     string `json:"note,omitempty"`
	Modes    Modes  `json:"modes,omitzero"`
	// Want is the id of the fact that wanted it, Launch what is launched, as it
	// was approved, and Grant what of the session's budget it may spend. Revision
	// is then that of the wanted run. Project is the one that was open.
	Want    string  `json:"want,omitempty"`
	Launch  *Launch `json:"launch,omitempty"`
	Grant   Budget  `json:"grant,omitzero"`
	Project string  `json:"project,omitempty"`
}

// Returned is what a run of a session has come to. A run that could not begin
// has an Error and no Status.
type Returned struct {
	Run       FlowID    `json:"run"`
	Status    Status    `json:"status,omitempty"`
	StoppedBy StoppedBy `json:"stopped_by,omitempty"`
	Answer    Content   `json:"answer,omitzero"`
	Winner    AgentID   `json:"winner,omitempty"`
	Workspace string    `json:"workspace,omitempty"`
	Error     string    `json:"error,omitempty"`
	// Others are the newest answers of the other agents, where the run ended
	// before anybody had chosen between them.
	Others []Content `json:"others,omitempty"`
	// Unread is what was said to the run and reached nobody: the next one is
	// told.
	Unread []Content `json:"unread,omitempty"`
	Usage  Usage     `json:"usage,omitzero"`
	// Result is the whole RunResult as JSON, as whoever wanted the run reads it.
	Result Content `json:"result,omitzero"`
}

// Planned records a revision of a plan once it is kept in its directory.
type Planned struct {
	Plan     string  `json:"plan"`
	Revision int     `json:"revision"`
	Dir      string  `json:"dir"`
	Text     Content `json:"text"`
	Tasks    []Task  `json:"tasks,omitempty"`
	// Run is the run that wrote it; empty if a person did.
	Run FlowID `json:"run,omitempty"`
	By  string `json:"by,omitempty"`
}

// A Task is one thing a plan says is to be done.
type Task struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Revised is a plan as a person has changed it. It comes by the inbox; Revision
// is the one that was changed.
type Revised struct {
	Plan     string  `json:"plan"`
	Revision int     `json:"revision"`
	Text     Content `json:"text"`
	By       string  `json:"by,omitempty"`
}

// Renamed gives a session a title. It comes by the inbox.
type Renamed struct {
	Title string `json:"title"`
	By    string `json:"by,omitempty"`
}
