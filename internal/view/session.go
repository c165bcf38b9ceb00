package view

import (
	"time"

	"conclave/internal/event"
)

// SessionVersion is the version of a marshalled [Session].
const SessionVersion = 4

// A Session is a conversation: what was said, the runs that worked on it, and
// what came of them. It is a fold like the others.
type Session struct {
	Seq     uint64       `json:"seq"` // of the newest event
	ID      event.FlowID `json:"id"`
	Kind    string       `json:"kind"`
	Config  string       `json:"config,omitempty"`
	From    event.FlowID `json:"from,omitempty"` // the run it began with
	Asks    bool         `json:"asks,omitempty"`
	Started time.Time    `json:"started,omitzero"`
	// Last is when the newest event was taken in.
	Last time.Time `json:"last,omitzero"`
	// Name is the title a person gave it; Title is what to show.
	Name string `json:"name,omitempty"`

	Turns List[SessionTurn] `json:"turns,omitzero"` // oldest first
	// Running is the run that goes on, the newest if several do; empty if none
	// does.
	Running event.FlowID `json:"running,omitempty"`
	// Gates are what waits for a person, oldest first: a plan, or in a session
	// with an agent runs to be launched and tools to be used.
	Gates []Gate `json:"gates,omitempty"`
	// Modes are those of the newest thing said: what the next is worked on with,
	// unless the person switches. The zero value is the default: no plan first,
	// all agents, who refine.
	Modes event.Modes `json:"modes,omitzero"`
	// Refusals are the newest things that were said and not taken, oldest first.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Usage is what its runs have used, those that have returned.
	Usage event.Usage `json:"usage,omitzero"`

	Resumed int `json:"resumed,omitempty"` // times
	// Heard is what was said and has no verdict yet.
	Heard []Heard `json:"heard,omitempty"`
	// Talk is nil in a session of kind coordinate.
	Talk *Talk `json:"talk,omitempty"`
}

// A SessionTurn is something that was said, and what came of it.
type SessionTurn struct {
	ID     string              `json:"id"` // of the fact that said it
	At     time.Time           `json:"at"`
	Text   event.Content       `json:"text"`
	Paths  []event.ContextPath `json:"paths,omitempty"`
	Images []string            `json:"images,omitempty"`
	Modes  event.Modes         `json:"modes,omitzero"`
	By     string              `json:"by,omitempty"`
	Runs   []SessionRun        `json:"runs,omitempty"`
	Plan   *SessionPlan        `json:"plan,omitempty"`
	// Of a session with an agent: what it did, in order, whether that is over, and
	// why if it failed.
	Steps  List[SessionStep] `json:"steps,omitzero"`
	Over   bool              `json:"over,omitempty"`
	Failed string            `json:"failed,omitempty"`
}

// A SessionRun is a run of a session. Its log has everything else about it.
type SessionRun struct {
	ID      event.FlowID `json:"id"`
	Purpose string       `json:"purpose"`
	// Plan is the plan it makes, changes or carries out, Revision the one it
	// starts from, and Note what the person said about that.
	Plan     string      `json:"plan,omitempty"`
	Revision int         `json:"revision,omitempty"`
	Note     string      `json:"note,omitempty"`
	Modes    event.Modes `json:"modes,omitzero"`
	Began    time.Time   `json:"began"`
	// Over: it has returned. A run that could not begin is over without a status.
	Over      bool            `json:"over,omitempty"`
	Ended     time.Time       `json:"ended,omitzero"`
	Status    event.Status    `json:"status,omitempty"`
	StoppedBy event.StoppedBy `json:"stopped_by,omitempty"`
	Answer    event.Content   `json:"answer,omitzero"`
	Winner    event.AgentID   `json:"winner,omitempty"`
	Workspace string          `json:"workspace,omitempty"`
	Error     string          `json:"error,omitempty"`
	// Unread is what was said to it and reached nobody: the next run is told.
	Unread []event.Content `json:"unread,omitempty"`
	Usage  event.Usage     `json:"usage,omitzero"`
	// Of one that was wanted: by which fact, what was launched, what it may spend,
	// the project that was open, and its whole result.
	Want    string        `json:"want,omitempty"`
	Launch  *event.Launch `json:"launch,omitempty"`
	Grant   event.Budget  `json:"grant,omitzero"`
	Project string        `json:"project,omitempty"`
	Result  event.Content `json:"result,omitzero"`
}

// Unbegun reports whether a run could not begin.
func (r SessionRun) Unbegun() bool { return r.Over && r.Status == "" }

// A SessionPlan is a plan, as far as it has come.
type SessionPlan struct {
	ID        string          `json:"id"`
	Dir       string          `json:"dir"`
	Revisions []event.Planned `json:"revisions"` // oldest first
	// Choice is what the person decided last, and Note what they said with it;
	// empty while they have not.
	Choice string `json:"choice,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Newest is the plan's newest revision.
func (p SessionPlan) Newest() event.Planned {
	if n := len(p.Revisions); n > 0 {
		return p.Revisions[n-1]
	}
	return event.Planned{}
}

// A Refusal is something that was said and not taken, and why.
type Refusal struct {
	Ref  string        `json:"ref"` // the id of what was said
	Text event.Content `json:"text,omitzero"`
	Code string        `json:"code"`
	Why  string        `json:"why"`
	At   time.Time     `json:"at"`
}

// Heard is a fact that has no verdict yet: one of its fields but the first two.
type Heard struct {
	ID      string         `json:"id"`
	At      time.Time      `json:"at"`
	Said    *event.Said    `json:"said,omitempty"`
	Revised *event.Revised `json:"revised,omitempty"`
	Renamed *event.Renamed `json:"renamed,omitempty"`
	// Of a session with an agent or a client.
	Withdrawn *event.Withdrawn `json:"withdrawn,omitempty"`
	Amended   *event.Amended   `json:"amended,omitempty"`
	Waived    *event.Waived    `json:"waived,omitempty"`
	Pinned    *event.Pinned    `json:"pinned,omitempty"`
	Archived  *event.Archived  `json:"archived,omitempty"`
	Opened    *event.Opened    `json:"opened,omitempty"`
	Published *event.Published `json:"published,omitempty"`
	// Cancel asks that what goes on ends; Held says that somebody reads a question.
	Cancel *event.CancelRequested `json:"cancel,omitempty"`
	Held   *event.Held            `json:"held,omitempty"`
	// Of a companion's session.
	Outlined *event.Outlined `json:"outlined,omitempty"`
	Linked   *event.Linked   `json:"linked,omitempty"`
	Tiered   *event.Tiered   `json:"tiered,omitempty"`
}

// A SessionState is what a session does.
type SessionState string

const (
	SessionIdle      SessionState = "idle"      // it waits for the person to say something
	SessionRunning   SessionState = "running"   // see Running
	SessionKeeping   SessionState = "keeping"   // between two of the others
	SessionReviewing SessionState = "reviewing" // see Gates
)

// State is what the session does now.
func (s Session) State() SessionState {
	if s.Talk != nil {
		return s.talkState()
	}
	t, ok := s.Turns.Last()
	switch {
	case s.Running != "":
		return SessionRunning
	case len(s.Gates) > 0:
		return SessionReviewing
	case !ok:
		return SessionIdle
	case len(t.Runs) == 0:
		return SessionKeeping // about to be launched
	}
	r := t.Runs[len(t.Runs)-1]
	if r.Purpose != event.PurposePlan {
		return SessionIdle
	}
	switch {
	case t.Plan != nil && t.Plan.Choice != event.PlanDrop, t.Plan == nil && !r.Answer.Empty() && r.Status != event.StatusCancelled:
		return SessionKeeping // about to be asked about
	}
	return SessionIdle
}

// Title is the name of the session, or else what was said first in it.
func (s Session) Title() event.Content {
	switch {
	case s.Name != "":
		return event.Inline(s.Name)
	case s.Talk != nil && s.Talk.Outline != nil && s.Talk.Outline.Title != "":
		return event.Inline(s.Talk.Outline.Title)
	case s.Turns.Len() > 0:
		return s.Turns.At(0).Text
	case s.Talk != nil && len(s.Talk.Held) > 0:
		return s.Talk.Held[0].Text
	}
	return event.Content{}
}
