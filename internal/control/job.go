package control

import (
	"context"
	"io"
	"time"

	"conclave/internal/event"
	"conclave/internal/jobdir"
	"conclave/internal/view"
)

// Jobs is what surfaces can do with jobs. A job is a flow: it is followed, opened
// (view.Snapshot.Job), resumed and spoken to like any other. Event.Replied,
// Edited, Commented, Resolved, Responded, Drafted, Corrected, Renamed and
// CancelRequested go by Send; then Wake has somebody act on it.
type Jobs interface {
	// NewJob copies the documents and records the job, with its companion, which
	// nobody drives yet: Wake does.
	NewJob(ctx context.Context, r JobRequest) (event.FlowID, error)
	// WouldReview tells whether a job as requested stops for review, and why.
	WouldReview(ctx context.Context, r JobRequest) (bool, string, error)
	// Wake has a process of its own drive a job or a session that has something
	// to do and that nobody drives. It does nothing otherwise.
	Wake(ctx context.Context, id event.FlowID) error
	// LastWords are what the process that drove a flow last said when it failed;
	// empty if it did not, or if nobody knows.
	LastWords(id event.FlowID) string
	// Adopt wakes every job that is in the middle of something and that nobody
	// drives, and the sessions of companions likewise.
	Adopt(ctx context.Context) error
	// Outline begins a companion's session for a job that is not there yet.
	Outline(ctx context.Context, config string) (event.FlowID, error)

	// JobFiles lists the workspace of a job as it was at a commit, or a tag;
	// empty is the newest commit.
	JobFiles(ctx context.Context, id event.FlowID, at string) ([]JobFile, error)
	// JobFile is a file of it. One that is not there is a *NotFound.
	JobFile(ctx context.Context, id event.FlowID, path, at string) (JobFile, []byte, error)
	// JobDiff is what changed between two commits, in one file or in all.
	JobDiff(ctx context.Context, id event.FlowID, from, to, path string) ([]FileDiff, error)
	// JobPatch is the same, all of it, as git apply takes it.
	JobPatch(ctx context.Context, id event.FlowID, from, to, path string) ([]byte, error)
	// JobLog are the newest commits.
	JobLog(ctx context.Context, id event.FlowID, limit int) ([]Commit, error)
	// Search looks through the workspace and the documents of a job.
	Search(ctx context.Context, id event.FlowID, q SearchQuery) (SearchResult, error)
	// Abilities are the tools the companion of a job has now, by tier; a tier can
	// be forced on or off (event.Tiered by Send to its session).
	Abilities(ctx context.Context, session event.FlowID) ([]Tier, error)

	// Audit is a page of the events of a flow.
	Audit(ctx context.Context, id event.FlowID, q AuditQuery) (AuditPage, error)
	// AuditRow is one event in full, with texts of any length bounded to limit.
	AuditRow(ctx context.Context, id event.FlowID, seq uint64, limit int) (AuditDetail, error)
	// LLMRequest is a model call in full: what was sent and what came back.
	LLMRequest(ctx context.Context, id event.FlowID, seq uint64) (LLMRequest, error)
	// Spend is what a flow and the runs it launched have used, by phase, agent,
	// model, tool and run.
	Spend(ctx context.Context, id event.FlowID) (view.Spend, error)
}

// A JobRequest is a job somebody wants.
type JobRequest struct {
	Title        string
	Description  string
	Instructions string
	// Paths are files and folders of the user's to copy; Uploads what came
	// another way.
	Paths   []string
	Uploads []Upload
	// Sources are datasources as a person writes them: sqlite:costs.db.
	Sources []string
	Config  string
	// Review is planning.interactive for this job: "", auto, true or false.
	Review  string
	Execute string // "", single or run
	// MaxCost and Time are ceilings; nil and zero are the configured ones.
	MaxCost *event.Money
	Time    time.Duration
	// Companion is the session in which the job was outlined; Parent the session
	// it was begun from.
	Companion, Parent event.FlowID
	Asks              bool
	By                string
}

// An Upload is a file that comes with a request.
type Upload struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// What there is in the workspace of a job, and how it changed.
type (
	JobFile  = jobdir.File
	Commit   = jobdir.Commit
	FileDiff = jobdir.FileDiff
	Hunk     = jobdir.Hunk
	DiffLine = jobdir.DiffLine
	// TooLong is the error of a file that is not shown for its length.
	TooLong = jobdir.TooLong
)

// A SearchQuery is what is looked for: words, or several ways to say it.
type SearchQuery struct {
	Queries []string `json:"queries"`
	Limit   int      `json:"limit,omitempty"`
	// Mode is words, meaning or both; empty is both.
	Mode string `json:"mode,omitempty"`
	// Under limits it to paths that begin so.
	Under string `json:"under,omitempty"`
}

// A SearchResult is what was found.
type SearchResult struct {
	Hits []SearchHit `json:"hits"`
	// Mode is how it was looked for; Covered how much of the text the search by
	// meaning knows, from 0 to 1. Note says what to mind.
	Mode    string  `json:"mode"`
	Covered float64 `json:"covered"`
	Note    string  `json:"note,omitempty"`
}

// A SearchHit is a passage, and why it was found.
type SearchHit struct {
	Path   string  `json:"path"`
	First  int     `json:"first"` // line
	Last   int     `json:"last"`
	Commit string  `json:"commit,omitempty"`
	Text   string  `json:"text"`
	Score  float64 `json:"score"`
	Why    string  `json:"why"`
}

// A Tier is a set of a companion's tools.
type Tier struct {
	Name  string   `json:"name"` // basic, research, history, debug, propose
	On    bool     `json:"on"`
	Why   string   `json:"why"`
	Tools []string `json:"tools"`
	// Forced: somebody has said so.
	Forced bool `json:"forced,omitempty"`
}

// An AuditQuery says which page of the audit is wanted, newest first: before an
// event, of some groups, that holds words.
type AuditQuery struct {
	// Before and After are numbers of events; with Runs places in the whole log
	// (view.AuditRow.Pos).
	Before uint64 `json:"before,omitempty"`
	After  uint64 `json:"after,omitempty"`
	// Runs: the events of the runs that the flow launched are listed with its own.
	Runs   bool              `json:"runs,omitempty"`
	Limit  int               `json:"limit,omitempty"` // at most 200
	Groups []view.AuditGroup `json:"groups,omitempty"`
	Text   string            `json:"text,omitempty"`
}

// An AuditPage is a page of the audit.
type AuditPage struct {
	Rows  []view.AuditRow `json:"rows"`
	Total uint64          `json:"total"` // events of the flow
	// Next is the Before of the page after this one; zero if there is none. A page
	// may have fewer rows than were asked for, or none, and a next one all the
	// same: only so many events are looked at for one.
	Next uint64 `json:"next,omitempty"`
}

// An AuditDetail is one event in full.
type AuditDetail struct {
	view.AuditRow
	ID   string `json:"id"`
	Body any    `json:"body"` // as it is in the log, blobs resolved
	// Cut: a text in it was longer than was asked for.
	Cut bool `json:"cut,omitempty"`
}

// An LLMRequest is a model call in full.
type LLMRequest struct {
	Flow     event.FlowID  `json:"flow"`
	Seq      uint64        `json:"seq"`
	At       time.Time     `json:"at"`
	Agent    event.AgentID `json:"agent"`
	Model    string        `json:"model"`
	System   string        `json:"system"`
	Tools    any           `json:"tools,omitempty"`
	Messages []LLMMessage  `json:"messages"`
	Reply    LLMMessage    `json:"reply"`
	Usage    event.Usage   `json:"usage"`
	// Cut: it was longer than is shown.
	Cut bool `json:"cut,omitempty"`
}

// An LLMMessage is a message of a conversation with a model.
type LLMMessage struct {
	From    string           `json:"from"` // user, assistant, tool
	Text    string           `json:"text,omitempty"`
	Tool    string           `json:"tool,omitempty"`
	Call    string           `json:"call,omitempty"`
	Calls   []event.ToolCall `json:"calls,omitempty"`
	Error   bool             `json:"error,omitempty"`
	Seq     uint64           `json:"seq,omitempty"` // the event it is
	Summary bool             `json:"summary,omitempty"`
}

// FormatTodos writes todos.yaml, for who changes the todos of a job and not its
// text.
func FormatTodos(name string, todos []event.Todo) ([]byte, error) {
	return jobdir.FormatTodos(name, todos)
}

// jobState is how a job stands. One that is frozen needs nobody to drive it.
func (f Flow) jobState() string {
	switch {
	case f.Waiting && f.Answered:
		return Answered
	case f.Job.Frozen():
		return "waiting for you"
	case f.Job.Over():
		return string(f.Job)
	case f.Driver != nil && f.Waiting: // a permission
		return "waiting for you"
	case f.Driver != nil:
		return string(f.Job)
	}
	return "unfinished"
}
